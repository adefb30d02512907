"""The window with the real engine beside real programs, jobs and runs that use the same folder."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.app import run_holder, window_services
from amlwizard.core.environment import users
from amlwizard.core.facts import Holder
from amlwizard.core.paths import Workspace
from amlwizard.core.settings import load_settings, resolve_choices
from amlwizard.core.workspace_lock import hold_run
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from tests.support.played_window import Scene, at_maintenance, click, part, play_scene
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amlwizard.ui.wizard import SetupWizard
    from tests.e2e.conftest import Computer

    Play = Callable[[Scene], None]

pytestmark = [pytest.mark.e2e, pytest.mark.posix]
BUSY_SECONDS = 120.0
"""How long the real engine may take, which looks at every Python of a busy computer."""
WAITS = "print('up', flush=True); input()"


@pytest.fixture
def play(qapp: Any, installed: Computer, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Open the window of a workspace that is ready, and play a scene with it."""
    for name in [name for name in os.environ if name.startswith(("AML_", "UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    for name, value in installed.environ.items():
        monkeypatch.setenv(name, value)
    choices = resolve_choices(
        load_settings(os.environ), os.environ, Path.cwd(), requirements=str(installed.folder / "requirements.txt")
    )
    defaults = Defaults(choices)
    return lambda scene: play_scene(qapp, window_services("en", defaults, lambda: defaults), scene, 2 * BUSY_SECONDS)


@contextmanager
def program(*command: str | Path, **variables: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a program that says when it is up and ends when it is told to."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **variables) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == "up\n"
            yield started
        finally:
            started.kill()


async def ended(wizard: SetupWizard) -> list[str]:
    """Wait for the end of a run; return what stands on its page."""
    await until(lambda: not wizard.controller.running, BUSY_SECONDS)
    return [line.strip() for line in part(wizard, "messageLabel").text().splitlines()]


def test_b69_where_files_in_use_block_the_rename_the_programs_are_listed_and_retry_goes_on(
    play: Play, installed: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(users, "BLOCK_RENAME", True)  # simulated: Windows' own rule, on a real program
    python = installed.root / ".venv" / "bin" / "python"
    before = (installed.root / ".venv").stat().st_ino

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard, BUSY_SECONDS)
        with program(python, "-c", WAITS) as kernel:
            click(wizard, "rebuildButton")
            lines = await ended(wizard)
            assert lines[1:-1] == [f"python (process {kernel.pid})"]
            assert (installed.root / ".venv").stat().st_ino == before
            assert not (installed.root / ".venv.staged").exists()
        click(wizard, "retryButton")
        await ended(wizard)
        assert wizard.currentId() == PageId.FINISH
        assert (installed.root / ".venv").stat().st_ino != before

    play(scene)


def test_a_running_job_is_listed_and_retry_goes_on_when_it_has_ended(play: Play, installed: Computer) -> None:
    script = installed.folder / "train.py"
    script.write_text("import os, sys\nprint('up', flush=True)\nopen(os.environ['FIFO']).read()\n")
    fifo = installed.folder / "fifo"
    os.mkfifo(fifo)
    job = [installed.python, "-m", "amlwizard", "run", "--env", "FIFO", "--", script]
    variables = {**installed.environ, "FIFO": str(fifo), "PYTHONPATH": str(Path.cwd())}

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard, BUSY_SECONDS)
        with program(*job, cwd=installed.folder, env=variables) as running:
            click(wizard, "rebuildButton")
            lines = await ended(wizard)
            assert lines[0].startswith("These jobs use the environment")
            assert lines[1:-1] == [f"run train.py (process {running.pid})"]
            assert part(wizard, "retryButton").isEnabled()
            fifo.write_text("")
            running.wait(timeout=60)
        click(wizard, "retryButton")
        await ended(wizard)
        assert wizard.currentId() == PageId.FINISH

    play(scene)


HOLDER = """
import sys
from pathlib import Path
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_run

with hold_run(Workspace(Path(sys.argv[1])), "rebuild"):
    print("up", flush=True)
    input()
"""


def test_a_run_of_the_command_line_is_watched_and_then_the_window_goes_on(play: Play, installed: Computer) -> None:
    async def scene(wizard: SetupWizard) -> None:
        with program(sys.executable, "-c", HOLDER, installed.root) as other:
            wizard.survey()
            await until(lambda: bool(part(wizard, "maintenanceBusyLabel").isVisible()), BUSY_SECONDS)
            assert f"rebuild (process {other.pid})" in part(wizard, "maintenanceBusyLabel").text()
            assert not part(wizard, "rebuildButton").isEnabled()
            other.kill()  # the kernel frees its lock
            other.wait()
            await until(lambda: bool(part(wizard, "rebuildButton").isEnabled()), BUSY_SECONDS)
        await until(lambda: not wizard.controller.surveying, BUSY_SECONDS)
        with program(sys.executable, "-c", HOLDER, installed.root) as other:
            click(wizard, "rebuildButton")
            lines = await ended(wizard)
            assert f"rebuild (process {other.pid})" in lines[0]
            assert not part(wizard, "retryButton").isEnabled()
            other.communicate("\n", timeout=60)
            await until(lambda: bool(part(wizard, "retryButton").isEnabled()), BUSY_SECONDS)
        click(wizard, "retryButton")
        await ended(wizard)
        assert wizard.currentId() == PageId.FINISH

    play(scene)


def test_who_holds_a_folder_is_told_without_a_trace(installed: Computer) -> None:
    workspace = Workspace(installed.root)
    assert run_holder(installed.root) is None
    assert run_holder(installed.folder / "nothing") is None
    assert not (installed.folder / "nothing").exists()
    with hold_run(workspace, "install"):
        holder = run_holder(installed.root)
        assert holder is not None
        assert (holder.pid, holder.command) == (os.getpid(), "install")
        for note in workspace.holders.iterdir():
            note.unlink()
        holder = run_holder(installed.root)
        assert holder == Holder()
    assert run_holder(installed.root) is None


def test_everything_is_removed_from_the_window_with_its_progress_shown(play: Play, installed: Computer) -> None:
    (installed.root / "notebooks" / "a.ipynb").write_text("{}")
    shown: set[str] = set()

    async def scene(wizard: SetupWizard) -> None:
        wizard.controller.step_changed.connect(lambda event: shown.add(f"{event.state} {event.unit}"))
        await at_maintenance(wizard, BUSY_SECONDS)
        click(wizard, "uninstallButton")
        click(wizard, "removeButton")
        lines = await ended(wizard)
        assert str(installed.root / "notebooks") in lines[-1]
        assert [entry.name for entry in installed.root.iterdir()] == ["notebooks"]

    play(scene)
    assert "progress files" in shown
