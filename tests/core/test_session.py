"""The life of a run, whatever is done in it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from amlwizard.core.choices import Choices
from amlwizard.core.environment.commit import begin_stage
from amlwizard.core.events import FinishedEvent, LogEvent, RunState
from amlwizard.core.paths import Workspace
from amlwizard.core.run_record import RECORD, OwnRecord
from amlwizard.core.session import Session
from amlwizard.wiring import make_fetcher
from tests.support.recording_runner import RecordingRunner

if TYPE_CHECKING:
    import pytest

    from amlwizard.core.events import Event

PASSWORD = "correct-horse-battery"


async def _end_of(choices: Choices, *, holds: bool) -> list[Event]:
    """Let a session do something that fails as nobody expects; return what was told."""
    heard: list[Event] = []

    async def work(session: Session) -> NoReturn:
        if holds:
            await session.hold("rebuild")
        session.emit(LogEvent("build", "at work"))
        raise ValueError(f"the answer was {PASSWORD}")

    async with Session(choices, RecordingRunner(), make_fetcher(choices), heard.append, "en") as session:
        await session.perform(work)
    return heard


async def test_what_nobody_expects_is_a_sentence_and_a_file_without_the_passwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tmp_path / "system"
    system.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(system))
    workspace = Workspace(tmp_path / "aml")
    choices = Choices(workspace.root, credentials={"https://index.example.org": ("user", PASSWORD)})
    for holds, folder in ((False, system), (True, workspace.logs)):
        heard = await _end_of(choices, holds=holds)
        finished = heard[-1]
        assert isinstance(finished, FinishedEvent)
        assert (finished.state, finished.code) == (RunState.FAILED, "AML_INTERNAL")
        assert [event.line for event in heard if isinstance(event, LogEvent)] == ["at work"]
        file = Path(str(finished.arguments["path"]))
        assert file.parent == folder
        told = file.read_text(encoding="utf-8")
        assert "ValueError: the answer was" in told
        assert PASSWORD not in told
    assert list(workspace.runs.iterdir()) == []  # and nothing tells of a run any more


async def test_what_was_ended_of_a_dead_run_is_told_also_where_the_rest_of_the_mending_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    workspace = Workspace(tmp_path / "aml")
    workspace.runtime.mkdir(parents=True)
    dead = OwnRecord(workspace, "dead")
    dead.settle("rebuild")
    record = workspace.runs / "dead" / RECORD
    record.write_text(record.read_text().replace(f'"pid": {os.getpid()}', '"pid": 999999999'))
    begin_stage(workspace)
    workspace.staged.symlink_to(tmp_path)  # which nothing removes
    heard: list[Event] = []
    choices = Choices(workspace.root)
    async with Session(choices, RecordingRunner(), make_fetcher(choices), heard.append, "en") as session:
        await session.end_dead_runs("verify")
    lines = [event.line for event in heard if isinstance(event, LogEvent) and event.remark]
    assert len(lines) == 1
    assert "was interrupted" in lines[0]
    assert workspace.staged.is_symlink()
