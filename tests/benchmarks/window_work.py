"""The window at work: that it always answers, changes its pages and its language at once, and stays small."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.benchmarks.drivers.window_work import FILES
from tests.benchmarks.frame import Judged, Limit, Row, settle
from tests.support.real_wheels import PROJECT, clean_environment, loopback_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "window-work"
TRIALS = 3
_MB = 1_000_000
_JOBS = {
    "install": "a first installation of the minimal profile",
    "rebuild": f"a rebuild that removes {FILES:,} files",
    "uninstall": f"an uninstallation that removes {FILES:,} files",
}


def run(scratch: Path) -> Iterator[Row]:
    """Yield how late the event loop is at worst during each job, and how long what is clicked on takes."""
    with loopback_index() as index:
        trials = [_work(scratch / str(number), index) for number in range(TRIALS)]

    def row(name: str, figure: str, unit: str, limit: float, scale: float = 1.0) -> Row:
        measured = statistics.median(trial[figure] for trial in trials) * scale
        return Row(name, measured, None, unit, Limit(Judged.MEASURED, limit))

    for job, words in _JOBS.items():
        yield row(f"event loop late, at worst, during {words}", f"{job} late", "ms", 50, 1000)
        yield row("the same, the thread's own work alone", f"{job} work", "ms", 50, 1000)
    yield row("page change, the slowest of all from one to another", "page", "ms", 50, 1000)
    yield row("language change, the slowest of all pages", "language", "ms", 200, 1000)
    yield row("memory after the installation", "memory", "MB", 130, 1 / _MB)


def _work(folder: Path, index: str) -> dict[str, float]:
    settle()
    home = str(folder / "home")  # the window remembers things there
    env = clean_environment(
        QT_QPA_PLATFORM="offscreen",
        AML_ROOT=str(folder / "root"),
        AML_PYTHON_BIN=sys.executable,
        AML_INDEX_URL=index,
        HOME=home,
        XDG_CONFIG_HOME=home,
    )
    command = [sys.executable, "-m", "tests.benchmarks.drivers.window_work"]
    done = subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the window ended with {done.returncode}: {done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout)
    return figures
