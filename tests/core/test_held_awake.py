"""Sleep is held off by a program of the system for as long as a block lasts, and no longer than this program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.held_awake import held_awake

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.posix
STAND_IN = """#!/bin/sh
echo "$@" > "$0.asked"
while [ "$1" != cat ]; do shift; done
cat
echo over > "$0.ended"
"""
"""Runs the command at the end of its arguments, as the systems' programs do."""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of stand-ins for the systems' programs, found first; what ends one is in a named pipe."""
    for name in ("caffeinate", "systemd-inhibit"):
        program = tmp_path / name
        program.write_text(STAND_IN)
        program.chmod(0o755)
        os.mkfifo(tmp_path / f"{name}.ended")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize(
    ("platform", "program", "asked"),
    [("darwin", "caffeinate", "-i cat"), ("linux", "systemd-inhibit", "--what=sleep:idle")],
)
def test_the_program_runs_until_the_block_ends(platform: str, program: str, asked: str, stand_in: Path) -> None:
    with held_awake(platform):
        pass
    assert (stand_in / f"{program}.ended").read_text() == "over\n"
    assert (stand_in / f"{program}.asked").read_text().startswith(asked)


def test_it_ends_with_this_program_however_that_ends(stand_in: Path) -> None:
    script = """
import psutil, time
from amlwizard.core.held_awake import held_awake
with held_awake("linux"):
    while not psutil.Process().children():
        time.sleep(0.01)
    print(flush=True)
    input()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    assert (stand_in / "systemd-inhibit.ended").read_text() == "over\n"


@pytest.mark.parametrize("platform", ["darwin", "linux", "freebsd14"])
def test_without_such_a_program_the_block_goes_its_way(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    passed = False
    with held_awake(platform):
        passed = True
    assert passed
