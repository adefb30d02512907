"""A cancel while a run writes down what the next environment is to be leaves nothing of it."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.paths import Workspace
from amlwizard.core.session import Session
from amlwizard.wiring import make_fetcher
from tests.support.recording_runner import RecordingRunner

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

update_runs = importlib.import_module("amlwizard.core.runs.update")  # the package has functions of these names
undo_runs = importlib.import_module("amlwizard.core.runs.undo")
LOCK = """lock-version = "1.0"
created-by = "amlwizard"
packages = []
[tool.amlwizard]
kind = "profile"
name = "default"
digest = "00"
python = "3.12.1"
"""


async def fake_look(session: Session) -> tuple[Any, Any]:
    """Find a newer Python."""
    return SimpleNamespace(facts=None), SimpleNamespace(before="3.12.1", after="3.12.2")


async def fake_refusal(_run: object) -> None:
    """Refuse nothing."""


@pytest.mark.parametrize(("runs", "writer"), [(update_runs, "note_python"), (undo_runs, "_begin")])
async def test_a_cancel_while_the_next_lock_is_written_leaves_none(
    runs: ModuleType, writer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path / "aml")
    workspace.runtime.mkdir(parents=True)
    for lock in (workspace.lock, workspace.previous_lock):
        lock.write_text(LOCK, encoding="utf-8")
    monkeypatch.setattr(update_runs, "_look_for_python", fake_look)
    monkeypatch.setattr(update_runs, "refuse_without_git", fake_refusal)
    written: list[bool] = []
    real = getattr(runs, writer)

    async def work() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def write(*arguments: Any) -> Any:
            result = real(*arguments)
            written.append(workspace.next_lock.is_file())
            loop.call_soon_threadsafe(task.cancel)
            return result

        monkeypatch.setattr(runs, writer, write)
        choices = Choices(workspace.root)
        async with Session(choices, RecordingRunner(), make_fetcher(choices), lambda _: None, "en") as session:
            await (undo_runs.undo(session) if runs is undo_runs else update_runs.update(session))

    with suppress(asyncio.CancelledError):
        await asyncio.create_task(work())
    assert written == [True]
    assert not workspace.next_lock.exists()
