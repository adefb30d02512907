"""The log pane while a child prints as fast as it can: that it keeps up, and that the window stays alive meanwhile."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.benchmarks.drivers.log_flood import LINES
from tests.benchmarks.frame import PAIRS, Judged, Limit, Row
from tests.support.real_wheels import PROJECT, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "log-pane"
_RATE = 200_000
_MIB = 1024 * 1024


def run(scratch: Path) -> Iterator[Row]:
    """Yield how long the pane takes for a million lines, and how the window does while a child prints as many."""
    trials = [_flood(scratch) for _ in range(PAIRS)]

    def row(name: str, figure: str, unit: str, limit: float, scale: float = 1.0) -> Row:
        measured = statistics.median(trial[figure] for trial in trials) * scale
        return Row(name, measured, None, unit, Limit(Judged.MEASURED, limit))

    yield row(f"{LINES:,} lines given to the pane", "given", "s", LINES / _RATE)
    yield row("event loop late, at worst, while a child prints as many", "late", "ms", 50, 1000)
    yield row("the same, the thread's own work alone", "work", "ms", 50, 1000)
    yield row("Cancel reacts meanwhile", "reacted", "ms", 200, 1000)
    yield row("memory grown by all these lines", "grown", "MiB", 16, 1 / _MIB)


def _flood(scratch: Path) -> dict[str, float]:
    env = clean_environment(QT_QPA_PLATFORM="offscreen")
    command = [sys.executable, "-m", "tests.benchmarks.drivers.log_flood"]
    done = subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the flood ended with {done.returncode}: {done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout)
    return figures
