"""Two rounds over all kinds of input, the same each time; ``dev.py fuzz`` makes as many as one likes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.kinds import KINDS
from tests.fuzz.planted import FAULTS

REPOSITORY = Path(__file__).resolve().parents[2]


def run(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a module of this package in a process of its own, as it listens to everything that the interpreter does."""
    command = [sys.executable, "-m", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_no_input_of_two_rounds_breaks_a_rule(tmp_path: Path) -> None:
    result = run(tmp_path, "tests.fuzz", "--rounds", "2")
    assert result.returncode == 0, result.stdout
    for kind in KINDS:
        counts = re.search(rf"^{kind.name} +(\d+) +(\d+) +0 ", result.stdout, re.MULTILINE)
        assert counts is not None, result.stdout
        tried, taken = map(int, counts.groups())
        assert tried >= 100, result.stdout
        assert 0 < taken <= tried, f"{kind.name} was never, or not once, right\n{result.stdout}"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a campaign says of readers that break the rules."""
    folder = tmp_path_factory.mktemp("planted")
    result = run(folder, "tests.fuzz.planted", folder)
    assert result.returncode == 0, result.stdout
    return result.stdout


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in {"sound", "refusing"}])
def test_a_reader_that_breaks_a_rule_is_found(planted: str, name: str) -> None:
    assert f"\n{name}: 1 of " in planted
    assert f"FINDING in {name}: " in planted
    assert f"repeat it with --seed 0 --kinds {name} --first 0 --rounds 1" in planted


def test_what_is_right_or_refused_is_no_finding(planted: str) -> None:
    assert re.search(r"^sound: 0 of (\d+), \1 accepted$", planted, re.MULTILINE), planted
    refused = re.search(r"^refusing: 0 of (\d+), (\d+) accepted$", planted, re.MULTILINE)
    assert refused is not None, planted
    assert 0 < int(refused[2]) < int(refused[1])


def test_each_finding_says_what_it_was(planted: str) -> None:
    for words in (
        "FINDING in failing: KeyError",
        "FINDING in deep: RecursionError",
        "FINDING in greedy: MemoryError",
        "FINDING in busy: no end after 0.5 s of work",
        "FINDING in waiting: no end after 1 s of waiting",
        "FINDING in wordless: AML_NO_SUCH_CODE has no words",
        "FINDING in writing: open of ",
        "FINDING in through a link: open of ",
        "FINDING in removing: os.remove of ",
        "FINDING in starting: subprocess.Popen with ",
    ):
        assert words in planted, planted
