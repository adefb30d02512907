"""A command of the loaded program is one as any other."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.loaded_program import REPOSITORY, can_run, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.linux

USUAL = {"PYTHONPATH": str(REPOSITORY), "LANG": "C.UTF-8"}


def test_it_says_and_does_what_one_from_nothing_does(tmp_path: Path) -> None:
    variables = {**USUAL, "PATH": os.environ["PATH"], "HOME": str(tmp_path), "AML_ROOT": str(tmp_path / "né")}
    codes = []
    of_commands = [
        *(["verify"], ["rebuild"], ["repair"], ["undo"], ["uninstall"], ["store"], ["add", "tinya"], ["remove", "tinya"]),
        *(["run", "--print-env"], ["bundle", "inspect", "/nowhere.amlbundle"], ["diagnose", "--out", "/nowhere/x.zip"]),
    ]
    for arguments in (*of_commands, ["detect", "--help"], ["install", "--no-such-option"]):
        loaded = run("amlwizard", arguments, variables, seconds=60)
        command = [sys.executable, "-m", "amlwizard", *arguments]
        fresh = subprocess.run(command, cwd=REPOSITORY, env=variables, capture_output=True, text=True, check=False)
        assert (loaded.returncode, loaded.stdout, loaded.stderr) == (fresh.returncode, fresh.stdout, fresh.stderr)
        codes.append(loaded.returncode)
    assert codes == [3, *[2] * 7, 125, 2, 2, 0, 2]


@pytest.mark.parametrize(
    ("program", "arguments", "code"),
    [("this", [], 0), ("quopri", ["-td"], 2), ("zipapp", ["--info", "/nowhere"], 1), ("zipapp", ["/nowhere"], 1)],
)
def test_it_ends_as_one_from_nothing_does(program: str, arguments: list[str], code: int) -> None:
    """One comes to its end, and others leave with a code, with a sentence and with an error."""
    loaded = run(program, arguments, USUAL, seconds=60)
    command = [sys.executable, "-m", program, *arguments]
    fresh = subprocess.run(command, cwd=REPOSITORY, env=USUAL, capture_output=True, text=True, check=False)
    assert (loaded.returncode, loaded.stdout) == (fresh.returncode, fresh.stdout)
    assert loaded.stderr.splitlines()[-1:] == fresh.stderr.splitlines()[-1:]
    assert loaded.returncode == code


def test_one_that_does_not_end_is_killed() -> None:
    with pytest.raises(TimeoutError):
        run("http.server", ["--bind", "127.0.0.1", "0"], USUAL, seconds=0.1)
    assert run("amlwizard", ["--version"], USUAL, seconds=60).returncode == 0


def test_what_an_interpreter_reads_when_it_starts_has_to_be_as_usual() -> None:
    assert can_run({**USUAL, "AML_ROOT": "/anywhere"})
    for other in ({"PYTHONUTF8": "0"}, {"LC_ALL": "C"}, {"LANG": "zh_CN.UTF-8"}, {"PYTHONPATH": "/elsewhere"}):
        assert not can_run(USUAL | other)
