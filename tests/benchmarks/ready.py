"""What follows an installation: the start of a job, ``install`` where nothing is to be done, and ``rebuild``."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from uv import find_uv_bin

from tests.benchmarks.frame import Judged, Limit, Row, median_of, pairs, settle, timed
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
    from pathlib import Path

NAME = "ready-workspace"
IMPORTS = "import numpy, pandas, scipy.stats, sklearn.ensemble, matplotlib.pyplot"


def run(scratch: Path) -> Iterator[Row]:
    """Yield a job's start, a ready workspace's ``install``, and ``rebuild`` against uv and against pip."""
    root = scratch / "root"
    with loopback_index() as index:
        given = ("--root", str(root), "--python", sys.executable, "--index-url", index)
        amlwizard("install", *given, env=clean_environment())
        yield _job_start(root, scratch / "compiled")
        ready = median_of(lambda: timed(lambda: amlwizard("install", *given, env=clean_environment())))
        yield Row("install, ready", ready, None, "s", Limit(Judged.MEASURED, 0.5))
        numbers = itertools.count()
        against_uv = pairs(lambda: _rebuild(root, index), lambda: _uv(root, scratch / f"uv-{next(numbers)}"))
        yield against_uv.row("rebuild against uv", "s", Limit(Judged.EXCESS, 0.6))
        against_pip = pairs(lambda: _rebuild(root, index), lambda: _pip(scratch / f"pip-{next(numbers)}"))
        yield against_pip.row("rebuild against pip", "s", Limit(Judged.SPEED_UP, 20))


def _job_start(root: Path, compiled: Path) -> Row:
    """Compare the environment as it was installed with a copy of it whose every module is byte-compiled."""
    shutil.copytree(root / ".venv", compiled, symlinks=True)
    python = str(compiled / "bin/python")
    run_tool(python, "-m", "compileall", "-q", "-j", "0", str(compiled / "lib"), env=clean_environment(), may_fail=True)
    printed = amlwizard("run", "--root", str(root), "--print-env", env=clean_environment())
    variables: dict[str, str] = printed[-1]

    def start(environment: Path) -> float:
        return timed(lambda: run_tool(str(environment / "bin/python"), "-c", IMPORTS, env=variables))

    for environment in (root / ".venv", compiled):
        start(environment)  # the fonts of matplotlib are looked for once
    return pairs(lambda: start(root / ".venv"), lambda: start(compiled)).row("job start", "s", Limit(Judged.RATIO, 1.3))


def _rebuild(root: Path, index: str) -> float:
    """Return the seconds from the start of the process until the new environment is in place, without the proof."""
    settle()
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


def _uv(root: Path, venv: Path) -> float:
    env = clean_environment(UV_CACHE_DIR=str(root / "cache"), VIRTUAL_ENV=str(venv))
    uv = find_uv_bin()

    def build() -> None:
        run_tool(uv, "venv", "--python", sys.executable, str(venv), env=env)
        run_tool(uv, "pip", "sync", "--offline", str(root / "runtime/pylock.local.toml"), env=env)

    return timed(build)


def _pip(venv: Path) -> float:
    env = clean_environment()
    python = str(venv / "bin/python")
    from_store = ("--no-index", "--find-links", str(wheels()), "-r", str(REQUIREMENTS))

    def build() -> None:
        run_tool(sys.executable, "-m", "venv", str(venv), env=env)
        run_tool(python, "-m", "pip", "install", *from_store, env=env)

    return timed(build)
