"""Twenty chaos runs with fixed seeds, in two worlds side by side; ``dev.py chaos`` does as many as one likes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.chaos.__main__ import can_unshare
from tests.chaos.blows import KINDS

if TYPE_CHECKING:
    from tests.support.namespaces import Circumstances

pytestmark = [pytest.mark.e2e, pytest.mark.linux]

REPOSITORY = Path(__file__).resolve().parents[2]
SEEDS = (116, 197)
"""Ten runs of each meet every kind of interruption and every action, and one of them builds without uv."""


@pytest.fixture(scope="module")
def outputs() -> list[tuple[int, str]]:
    """The status and the output of each of the two."""
    command = [sys.executable, "-m", "tests.chaos", "--made", "--runs", "10", "--seed"]
    worlds = [
        subprocess.Popen([*command, str(seed)], cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for seed in SEEDS
    ]
    said = [world.communicate()[0] for world in worlds]
    return [(world.returncode, text) for world, text in zip(worlds, said, strict=True)]


def test_nothing_is_lost_left_or_in_need_of_help(outputs: list[tuple[int, str]]) -> None:
    for status, text in outputs:
        assert status == 0, text
        assert text.count("\nok ") + text.startswith("ok ") == 10, text


def test_every_kind_was_among_them(outputs: list[tuple[int, str]], circumstances: type[Circumstances]) -> None:
    """Where this user gets no namespaces, the disk was not filled, nor anything made read-only; the skip says so."""
    assert can_unshare()
    for _, text in outputs:
        assert not [kind.name for kind in KINDS if f" {kind.name}, " not in text]
