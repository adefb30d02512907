"""The window is closed while a child of the real engine runs, wherever it was begun."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.births import birth_of
from amlwizard.core.errors import ExitCode
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_run
from tests.e2e.conftest import REPOSITORY
from tests.support.stub_uv import make_stub_uv
from tests.support.wheels import make_wheel
from tests.ui.test_app import remarks_of

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer

pytestmark = [pytest.mark.e2e, pytest.mark.posix]
HANGING = """
import os, subprocess, sys
if os.path.exists("hang"):
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    os.execvp("sleep", ["sleep", "600"])
print("[]")
"""


def close_at(computer: Computer, page: str) -> tuple[int, dict[str, object]]:
    """Close the window when what was begun on a page is at work; return the exit code and what was seen."""
    stub = make_stub_uv(computer.folder / "stub", HANGING)
    if page == "CHECK":
        python = computer.folder / "programs" / "python3.13"
        python.parent.mkdir()
        python.write_text("#!/bin/sh\nsleep 600\n")
        python.chmod(0o755)
        computer.extra["PATH"] = f"{python.parent}:{computer.environ['PATH']}"
    variables = {"STUB_FOLDER": str(stub.parent), "WANTED_FILE": str(computer.requirements("tinyb\n"))}
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-m", "tests.support.closed_window", page],
        cwd=REPOSITORY,
        env={**computer.environ, **variables, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert remarks_of(ended.stderr) == []
    return ended.returncode, json.loads(ended.stdout)


def assert_nothing_is_left(computer: Computer, seen: dict[str, object]) -> None:
    """Make sure that the processes are gone, and that the folder can be used at once."""
    alive = seen["alive"]
    assert isinstance(alive, list)
    assert [pid for pid in alive if birth_of(pid) is not None] == []
    workspace = Workspace(computer.root)
    assert not workspace.staged.exists()
    assert not workspace.journal.exists()
    assert not list(workspace.runs.glob("*"))
    with hold_run(workspace, "verify"):
        pass


@pytest.mark.parametrize("page", ["START", "PYTHON", "ENVIRONMENT"])
def test_b105_closing_while_a_step_runs_asks_once_and_leaves_nothing(computer: Computer, page: str) -> None:
    code, seen = close_at(computer, page)
    assert (code, seen["page"], seen["held_open"]) == (ExitCode.CANCELLED, "RUN", 2)
    assert_nothing_is_left(computer, seen)


def test_b105_closing_while_uv_is_installed_asks_once_and_leaves_nothing(computer: Computer) -> None:
    make_wheel(computer.wheels, "uv", "0.13.9")
    computer.index.fault("/packages/uv-*", "stall")
    code, seen = close_at(computer, "UV")
    assert (code, seen["page"], seen["held_open"]) == (ExitCode.CANCELLED, "RUN", 2)
    assert_nothing_is_left(computer, seen)


def test_b105_closing_while_the_environment_is_rebuilt_leaves_it_as_it_was(installed: Computer) -> None:
    before = (installed.root / ".venv").stat().st_ino
    code, seen = close_at(installed, "MAINTENANCE")
    assert (code, seen["page"], seen["held_open"]) == (ExitCode.CANCELLED, "RUN", 2)
    assert_nothing_is_left(installed, seen)
    assert (installed.root / ".venv").stat().st_ino == before
    assert installed.run("verify").code == 0


@pytest.mark.parametrize("page", ["CHECK", "NETWORK"])
def test_b105_closing_while_the_computer_or_the_network_is_looked_at_asks_nothing(computer: Computer, page: str) -> None:
    code, seen = close_at(computer, page)
    assert (code, seen["page"], seen["held_open"]) == (ExitCode.DONE, page, 0)
    assert not computer.root.exists()
    alive = seen["alive"]
    assert isinstance(alive, list)
    assert [pid for pid in alive if birth_of(pid) is not None] == []
