"""From the start of the process to the first paint of the window, everything warm."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.benchmarks.frame import Judged, Limit, Row, median_of
from tests.support.real_wheels import PROJECT, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "window"


def run(scratch: Path) -> Iterator[Row]:
    """Yield the time until the first paint."""
    root = scratch / "root"
    _first_paint(root)  # warms the disk's cache, and Python's
    yield Row("first paint", median_of(lambda: _first_paint(root)), None, "s", Limit(Judged.MEASURED, 0.35))


def _first_paint(root: Path) -> float:
    env = clean_environment(QT_QPA_PLATFORM="offscreen", AML_ROOT=str(root))
    command = [sys.executable, "-m", "tests.benchmarks.drivers.first_paint"]
    began = time.perf_counter()
    with subprocess.Popen(command, cwd=PROJECT, env=env, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        line = child.stdout.readline()
        painted = time.perf_counter()
    if line != "painted\n" or child.returncode:
        raise RuntimeError(f"the window was not painted, or ended with {child.returncode}")
    return painted - began
