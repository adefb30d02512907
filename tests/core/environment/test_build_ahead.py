"""What has come is installed into the staged environment while the rest is awaited: real uv, tiny wheels."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.detection.known import probe_python
from amlwizard.core.environment import build_ahead
from amlwizard.core.environment.build import build_staged
from amlwizard.core.environment.build_ahead import BuildAhead
from amlwizard.core.environment.layout import metadata_names, site_folders
from amlwizard.core.journal import read_journal
from amlwizard.core.lock import StoredWheel, local_lock
from amlwizard.core.pip_cli import PipSettings
from tests.core.environment.support import BASE_PYTHON, uv_for
from tests.support.run_contexts import new_run
from tests.support.waiting import until
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.context import RunContext

BOUND = 60.0


@pytest.fixture(autouse=True)
def no_head_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_ahead, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(build_ahead, "_PAUSE_SECONDS", 0.01)


@pytest.fixture
async def run(tmp_path: Path) -> RunContext:
    root = tmp_path / "工作 space"
    root.mkdir()
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tinya\n")
    made = new_run(Choices(root=root, requirements=requirements), tmp_path / "tmp")
    made.uv = uv_for(made.workspace).executable
    made.python = await probe_python(made.runner, BASE_PYTHON, made.child_environment(), made.facts.host)
    return made


def stored(run: RunContext, name: str) -> StoredWheel:
    wheel = make_wheel(run.workspace.downloads, name)
    return StoredWheel(name, "1.0", wheel, wheel.stat().st_size, sha256_of(wheel))


def installed(run: RunContext) -> set[str]:
    return {name.partition("-")[0] for site in site_folders(run.workspace.staged) for name in metadata_names(site)}


async def test_wheels_are_installed_as_they_come_and_build_does_the_rest(run: RunContext) -> None:
    wheels = [stored(run, "tinya")]
    async with BuildAhead(run, lambda: list(wheels)):
        await until(lambda: installed(run) == {"tinya"})
        wheels.append(stored(run, "tinyb"))
        await until(lambda: installed(run) == {"tinya", "tinyb"})
        first = (run.workspace.staged / "pyvenv.cfg").stat().st_ino
    assert run.journal is not None
    assert read_journal(run.workspace) == run.journal
    wheels.append(stored(run, "tinyc"))
    lock = run.workspace.next_local_lock
    lock.parent.mkdir(exist_ok=True)
    lock.write_text(local_lock(wheels, [], lock=lock))
    journal = await build_staged(
        run.uv_cli(),
        run.runner,
        run.child_environment(run.uv_variables()),
        python=BASE_PYTHON,
        lock=lock,
        expected={wheel.name: wheel.version for wheel in wheels},
        pip_settings=PipSettings(),
        begun=run.journal,
        on_line=lambda _line: None,
    )
    assert journal == run.journal
    assert (run.workspace.staged / "pyvenv.cfg").stat().st_ino == first
    assert installed(run) == {"tinya", "tinyb", "tinyc"}


async def test_what_cannot_be_installed_ahead_is_left_to_build(run: RunContext) -> None:
    lines: list[str] = []
    run.emit = lambda event: lines.append(str(event))
    wrong = replace(stored(run, "tinya"), sha256="0" * 64)
    async with BuildAhead(run, lambda: [wrong]):
        await until(lambda: any("tinya" in line and "Hash mismatch" in line for line in lines))
        await until(lambda: not run.workspace.staged.exists() and read_journal(run.workspace) is None)
    assert run.journal is None


async def test_what_nobody_foresaw_is_told_and_leaves_no_stage(run: RunContext) -> None:
    asked = threading.Event()

    def arrived() -> list[StoredWheel]:
        asked.set()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        async with BuildAhead(run, arrived):
            await until(asked.is_set)
    assert run.journal is None
    assert not run.workspace.staged.exists()


async def test_a_fetch_that_fails_leaves_no_stage(run: RunContext) -> None:
    wheels = [stored(run, "tinya")]

    async def fetch() -> None:
        async with BuildAhead(run, lambda: wheels):
            await until(lambda: installed(run) == {"tinya"})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fetch()
    assert (run.journal, read_journal(run.workspace)) == (None, None)
    assert not run.workspace.staged.exists()


@pytest.mark.posix
async def test_a_cancel_while_uv_is_at_work_leaves_no_stage(run: RunContext) -> None:
    script = run.tmp / "uv"
    script.write_text(f"#!/bin/sh\n: > begun\nexec sleep {BOUND}\n")
    script.chmod(0o755)
    begun, waiting = run.workspace.root / "begun", asyncio.Event()
    wheels: list[StoredWheel] = []

    async def fetch() -> None:
        async with BuildAhead(run, lambda: wheels):
            await until(lambda: run.journal is not None)
            run.uv = script
            wheels.append(stored(run, "tinya"))
            await until(begun.exists)
            waiting.set()

    task = asyncio.create_task(fetch())
    await asyncio.wait_for(waiting.wait(), BOUND)  # it waits for uv now, or is about to
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (run.journal, read_journal(run.workspace)) == (None, None)
    assert not run.workspace.staged.exists()
