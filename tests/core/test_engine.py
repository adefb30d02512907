"""Two callers of one engine."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.app import environment_state
from amlwizard.core import uv_cli
from amlwizard.core.choices import Choices
from amlwizard.core.crash import crash_error
from amlwizard.core.engine import Engine
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import Event, FinishedEvent, RunState, StepEvent, StepState
from amlwizard.core.organisation import Organisation
from amlwizard.process import runner
from tests.support.hurried import make_hurried
from tests.support.recording_runner import RecordingRunner

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from amlwizard.core.events import Emit
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.running import Command, NotStarted


@pytest.fixture(autouse=True)
def nobody_is_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uv_cli, "HTTP_RETRIES", 0)


def _engine() -> Engine:
    return Engine(RecordingRunner, make_hurried)


def _choices(tmp_path: Path) -> Choices:
    # the index refuses every connection, so that a run ends by itself and quickly
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tinya\n")
    return Choices(tmp_path / "aml", requirements=requirements, index_url="http://127.0.0.1:9/simple")


async def test_the_same_wish_shares_one_run(tmp_path: Path) -> None:
    engine, choices = _engine(), _choices(tmp_path)
    first: list[Event] = []
    second: list[Event] = []
    ends = await asyncio.gather(engine.install(choices, first.append), engine.install(replace(choices), second.append))
    assert ends[0] is ends[1]
    assert ends[0].code == "AML_INDEX_REFUSED"
    assert [event for event in first if isinstance(event, FinishedEvent)] == [ends[0]]
    assert first[-1] is second[-1]
    assert len(list((tmp_path / "aml" / "runtime" / "logs").iterdir())) == 1


async def test_another_wish_meanwhile_is_refused_as_busy(tmp_path: Path) -> None:
    engine, choices = _engine(), _choices(tmp_path)
    running = asyncio.create_task(engine.install(choices, lambda _event: None))
    await asyncio.sleep(0)
    heard: list[Event] = []
    other = await engine.install(replace(choices, profile="minimal", requirements=None), heard.append)
    assert other.state is RunState.BUSY
    assert heard == [other]
    assert (await running).code == "AML_INDEX_REFUSED"


async def test_certificates_are_read_and_programs_looked_at_outside_the_thread_of_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    look = runner._why_not_startable

    def noted_look(command: Command) -> NotStarted | None:
        seen.append(threading.get_ident())
        return look(command)

    def noted_fetcher(choices: Choices) -> Fetcher:
        seen.append(threading.get_ident())
        return make_hurried(choices)

    monkeypatch.setattr(runner, "_why_not_startable", noted_look)
    await Engine(RecordingRunner, noted_fetcher).detect(_choices(tmp_path), lambda _event: None)
    assert len(seen) > 1
    assert threading.get_ident() not in seen


async def test_what_the_session_cannot_use_is_refused_by_an_event(tmp_path: Path) -> None:
    choices = replace(_choices(tmp_path), ca_file=tmp_path / "gone.pem")
    heard: list[Event] = []
    finished = await _engine().install(choices, heard.append)
    assert finished.state is RunState.REFUSED
    assert str(tmp_path / "gone.pem") in finished.message
    assert heard == [finished]
    assert not (tmp_path / "aml").exists()


@pytest.mark.posix
async def test_a_folder_that_nobody_can_look_into_is_refused_by_each_command(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    circle = replace(_choices(tmp_path), root=tmp_path / "one")
    assert await _codes_of_each(circle) == {"AML_ROOT_DANGLING_LINK"}
    user, closed = os.geteuid(), Path(tempfile.mkdtemp())
    closed.chmod(0o000)
    if user == 0:  # whom nothing is closed to
        os.seteuid(65534)
    try:
        for root in (closed, closed / "aml"):
            assert await _codes_of_each(replace(circle, root=root)) == {"AML_ROOT_NOT_WRITABLE"}
            Path(str(crash_error(OSError(), root).arguments["path"])).unlink()
    finally:
        os.seteuid(user)
        closed.rmdir()


async def _codes_of_each(choices: Choices) -> set[str]:
    engine = _engine()
    codes = set()
    for run in (engine.install, engine.rebuild, engine.verify, engine.repair, engine.undo, engine.store, engine.uninstall):
        finished = await run(choices, lambda _event: None)
        assert finished.state is RunState.REFUSED
        codes.add(finished.code)
    for command in (engine.detect, engine.plan):
        with pytest.raises(RefusedError) as caught:
            await command(choices, lambda _event: None)
        codes.add(caught.value.code)
    return codes


@pytest.mark.parametrize(
    "name", ["x" * 260, pytest.param("x" * 200 + "/x" * 2000, marks=pytest.mark.posix)], ids=["name", "path"]
)
async def test_a_folder_whose_name_no_system_can_have_is_refused_by_each_command(tmp_path: Path, name: str) -> None:
    engine, choices = _engine(), replace(_choices(tmp_path), root=tmp_path / name)
    for command in (engine.detect, engine.plan):
        with pytest.raises(RefusedError) as caught:
            await command(choices, lambda _event: None)
        assert caught.value.code == "AML_ROOT_TOO_LONG"
    for run in (engine.install, engine.rebuild, engine.verify, engine.repair, engine.undo, engine.store, engine.uninstall):
        finished = await run(choices, lambda _event: None)
        assert (finished.state, finished.code) == (RunState.REFUSED, "AML_ROOT_TOO_LONG")
    with pytest.raises(RefusedError):
        environment_state(choices)


async def test_a_cancelled_run_ends_with_an_event_and_frees_the_engine(tmp_path: Path) -> None:
    engine, choices = _engine(), _choices(tmp_path)
    begun = asyncio.Event()
    task = asyncio.create_task(engine.install(choices, lambda _event: begun.set()))
    await begun.wait()
    task.cancel()
    task.cancel()
    finished = await task
    assert finished.state is RunState.CANCELLED
    assert (await engine.install(choices, lambda _event: None)).code == "AML_INDEX_REFUSED"
    assert not (tmp_path / "aml" / ".venv").exists()


@pytest.mark.parametrize("moment", ["step failed", "finished"])
async def test_a_cancel_at_the_very_end_of_a_run_leaves_nobody_waiting(tmp_path: Path, moment: str) -> None:
    engine, choices = _engine(), _choices(tmp_path)
    heard: list[Event] = []

    def on_event(event: Event) -> None:
        heard.append(event)
        failed = isinstance(event, StepEvent) and event.state is StepState.FAILED
        if isinstance(event, FinishedEvent) if moment == "finished" else failed:
            task.cancel()

    task = asyncio.create_task(engine.install(choices, on_event))
    finished = await asyncio.wait_for(task, 60)
    assert [event for event in heard if isinstance(event, FinishedEvent)] == [finished]
    if moment == "finished":
        assert finished.code == "AML_INDEX_REFUSED"
    assert list((tmp_path / "aml" / "runtime" / "runs").iterdir()) == []
    assert (await engine.install(choices, lambda _event: None)).code == "AML_INDEX_REFUSED"


@pytest.mark.parametrize("look", [Engine.detect, Engine.plan])
async def test_what_keeps_a_look_from_beginning_knows_what_the_organisation_has_fixed(
    tmp_path: Path, look: Callable[[Engine, Choices, Emit], Awaitable[object]]
) -> None:
    fixed = Organisation(tmp_path / "settings.json", frozenset({"caFile"}))
    choices = replace(_choices(tmp_path), ca_file=tmp_path / "none.pem", organisation=fixed)
    with pytest.raises(RefusedError) as caught:
        await look(_engine(), choices, lambda _event: None)
    assert (caught.value.code, caught.value.arguments["locked"]) == ("AML_NET_CA_FILE", ("caFile",))
