"""The first installation of the default profile with every cache cold, against uv alone from the same index."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from uv import find_uv_bin

from tests.benchmarks.frame import Judged, Limit, Row, pairs, timed
from tests.support.real_wheels import REQUIREMENTS, amlwizard, clean_environment, loopback_index, run_tool, step_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "first-install"


def run() -> Iterator[Row]:
    """Yield the ratio of resolve, fetch and build to ``uv venv`` and ``uv pip install``."""
    with loopback_index() as index:
        yield pairs(lambda: _ours(index), lambda: _uv(index)).row("default profile, cold", "s", Limit(Judged.RATIO, 1.0))


def _ours(index: str) -> float:
    with tempfile.TemporaryDirectory() as root:
        events = amlwizard(
            "install", "--root", root, "--python", sys.executable, "--index-url", index, env=clean_environment()
        )
        return step_seconds(events, "resolve", "fetch", "build")


def _uv(index: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        venv = str(Path(folder) / "venv")
        env = clean_environment(UV_CACHE_DIR=str(Path(folder) / "cache"), VIRTUAL_ENV=venv)
        uv = find_uv_bin()

        def install() -> None:
            run_tool(uv, "venv", "--python", sys.executable, venv, env=env)
            run_tool(uv, "pip", "install", "--index-url", index, "-r", str(REQUIREMENTS), env=env)

        return timed(install)
