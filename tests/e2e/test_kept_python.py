"""Where no Python is chosen, the workspace stays on the minor version that it has."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.interpreters import found_interpreters, probe
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer
    from tests.support.interpreter_archives import InterpreterArchive

pytestmark = [pytest.mark.e2e, pytest.mark.posix]


@pytest.fixture
def another() -> Path:
    """A Python of another minor version than the running one."""
    found = (path for path in found_interpreters() if probe(path)[0].version[:2] != sys.version_info[:2])
    path = next((path for path in found if not probe(path)[0].free_threaded), None)
    if path is None:
        pytest.skip("all Pythons of this computer are of one minor version")
    return path


def minor(computer: Computer) -> str:
    """Return the minor version of the environment's Python."""
    return str(computer.run("detect").events[0]["environment"]["python"]).rpartition(".")[0]


def prefer(computer: Computer, *pythons: Path) -> None:
    """Let these come first wherever a Python is searched."""
    folders = (str(python.parent) for python in pythons)
    computer.extra["PATH"] = os.pathsep.join([*folders, os.environ["PATH"]])


def test_a_refresh_keeps_the_python_that_was_chosen_once(computer: Computer, another: Path) -> None:
    prefer(computer, another, computer.python)
    computer.install("tinya\n", "--python", computer.python)
    running = ".".join(map(str, sys.version_info[:2]))
    assert computer.run("plan", "--refresh").code == 0
    for command in (["rebuild", "--refresh"], ["rebuild", "--refresh", "--uv-method", "none"]):
        result = computer.run(*command)
        assert result.code == 0, result.finished
        assert minor(computer) == running
    result = computer.run("rebuild", "--refresh", "--python", another)
    assert result.code == 0, result.finished
    assert minor(computer) == probe(another)[0].minor
    assert any(event["event"] == "changes" and event["python"] for event in result.events)


@pytest.mark.linux
@pytest.mark.parametrize("command", [["add", "tinymore"], ["rebuild"], ["undo"]])
def test_where_its_own_python_is_gone_another_of_its_minor_version_serves(
    computer: Computer, another: Path, interpreter_archive: InterpreterArchive, tmp_path: Path, command: list[str]
) -> None:
    make_wheel(computer.wheels, "tinymore")
    base = interpreter_archive.unpack(tmp_path / "base")
    prefer(computer, another, computer.python)
    computer.install("tinya==1.0\n", "--python", base)
    computer.install("tinya\n", "--python", base)
    shutil.rmtree(tmp_path / "base")
    result = computer.run(*command)
    assert result.code == 0, result.finished
    assert minor(computer) == interpreter_archive.minor
