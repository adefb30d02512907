"""``install`` where everything is in place, ``rebuild`` of a warm workspace, and the start of a job."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from uv import find_uv_bin

from tests.benchmarks.frame import Judged, Limit, Row, median_of, pairs, timed
from tests.support.real_wheels import (
    PROJECT,
    REQUIREMENTS,
    amlwizard,
    clean_environment,
    loopback_index,
    run_tool,
    wheels,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "ready-workspace"
IMPORTS = "import numpy, pandas, scipy.stats, sklearn.ensemble, matplotlib.pyplot"


def run() -> Iterator[Row]:
    """Yield a job's start, a ready workspace's ``install``, and ``rebuild`` against uv and against pip."""
    with tempfile.TemporaryDirectory() as folder, loopback_index() as index:
        root = Path(folder) / "root"
        given = ("--root", str(root), "--python", sys.executable, "--index-url", index)
        amlwizard("install", *given, env=clean_environment())
        yield _job_start(root)
        ready = median_of(lambda: timed(lambda: amlwizard("install", *given, env=clean_environment())))
        yield Row("install, ready", ready, None, "s", Limit(Judged.MEASURED, 0.5))
        rebuilt = pairs(lambda: _rebuild(root, index), lambda: _sync(root, Path(folder) / "synced"))
        yield rebuilt.row("rebuild against uv", "s", Limit(Judged.EXCESS, 0.6))
        by_pip = timed(lambda: _pip(Path(folder) / "by-pip"))
        yield Row(
            "rebuild against pip",
            rebuilt.row("", "s", Limit(Judged.EXCESS, 0)).measured,
            by_pip,
            "s",
            Limit(Judged.SPEED_UP, 20),
        )


def _job_start(root: Path) -> Row:
    command = [sys.executable, "-m", "amlwizard", "run", "--root", str(root), "--", "python", "-c", IMPORTS]

    def start() -> float:
        return timed(lambda: subprocess.run(command, cwd=PROJECT, env=clean_environment(), capture_output=True, check=True))

    first = start()
    run_tool(str(root / ".venv/bin/python"), "-m", "compileall", "-q", str(root / ".venv/lib"), env=clean_environment())
    return Row("job start, first", first, median_of(start), "s", Limit(Judged.RATIO, 1.3))


def _rebuild(root: Path, index: str) -> float:
    """Return the seconds from the start of the process until the new environment is in place, without the proof."""
    command = [sys.executable, "-m", "amlwizard", "rebuild", "--root", str(root), "--index-url", index, "--json"]
    began, placed, proof = time.perf_counter(), 0.0, 0.0
    with subprocess.Popen(command, cwd=PROJECT, env=clean_environment(), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            event = json.loads(line)
            if event["event"] == "step" and event["state"] == "done":
                if event["id"] == "verify":
                    proof = event["seconds"]
                elif event["id"] == "commit":
                    placed = time.perf_counter()
    if child.returncode or not placed:
        raise RuntimeError(f"the rebuild ended with {child.returncode}")
    return placed - began - proof


def _sync(root: Path, venv: Path) -> float:
    env = clean_environment(UV_CACHE_DIR=str(root / "cache"), VIRTUAL_ENV=str(venv))
    uv = find_uv_bin()

    def build() -> None:
        run_tool(uv, "venv", "--clear", "--python", sys.executable, str(venv), env=env)
        run_tool(uv, "pip", "sync", "--offline", str(root / "runtime/pylock.local.toml"), env=env)

    return timed(build)


def _pip(venv: Path) -> float:
    env = clean_environment()

    def build() -> None:
        run_tool(sys.executable, "-m", "venv", str(venv), env=env)
        python = str(venv / "bin/python")
        run_tool(
            python, "-m", "pip", "install", "--no-index", "--find-links", str(wheels()), "-r", str(REQUIREMENTS), env=env
        )

    return timed(build)
