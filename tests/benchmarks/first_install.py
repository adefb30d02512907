"""The first installation of the default profile with every cache cold, against uv alone from the same index."""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING

from uv import find_uv_bin

from tests.benchmarks.frame import Judged, Limit, Row, pairs, settle, timed
from tests.support.real_wheels import REQUIREMENTS, amlwizard, clean_environment, loopback_index, run_tool, step_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "first-install"
LINE_RATE = 40_000_000
"""Bytes a second for all answers together."""


def run(scratch: Path) -> Iterator[Row]:
    """Yield the ratio of resolve, fetch and build to ``uv venv`` and ``uv pip install``.

    From loopback at its full speed, which is all processor and disk, and over a line of a bandwidth that people have.
    """
    folders = (scratch / str(number) for number in itertools.count())
    for rate, name in ((None, "default profile, cold"), (LINE_RATE, "the same over a line of 320 Mbit/s")):
        with loopback_index(rate) as index:
            _uv(next(folders), index)  # the index computes its hashes, and the disk's cache is warm for both
            taken = pairs(lambda: _ours(next(folders), index), lambda: _uv(next(folders), index))
        yield taken.row(name, "s", Limit(Judged.RATIO, 1.0))


def _ours(root: Path, index: str) -> float:
    settle()
    given = ("--root", str(root), "--python", sys.executable, "--index-url", index)
    return step_seconds(amlwizard("install", *given, env=clean_environment()), "resolve", "fetch", "build")


def _uv(folder: Path, index: str) -> float:
    venv = str(folder / "venv")
    env = clean_environment(UV_CACHE_DIR=str(folder / "cache"), VIRTUAL_ENV=venv)
    uv = find_uv_bin()

    def install() -> None:
        run_tool(uv, "venv", "--python", sys.executable, venv, env=env)
        run_tool(uv, "pip", "install", "--index-url", index, "-r", str(REQUIREMENTS), env=env)

    return timed(install)
