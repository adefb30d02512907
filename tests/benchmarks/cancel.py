"""Cancel of a hundred processes of every kind, and the look for dead runs where there are none."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.births import birth_of
from amlwizard.core.dead_runs import clear_dead_runs
from amlwizard.core.paths import Workspace
from amlwizard.core.running import Command
from amlwizard.process.asyncio_runner import AsyncioRunner
from tests.benchmarks.frame import Judged, Limit, Row, median_of

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "cancel"
RUNS = 50
PROCESSES = 100
CHILDREN = Path(__file__).parent.parent / "support" / "children.py"
KINDS = ("stay", "session", "daemon", "orphan", "forgetful", "stubborn", "respawn")


def run(folder: Path) -> Iterator[Row]:
    """Yield the 95th percentile of the time to cancel, and the time of a start that has nothing to recover."""
    seconds = [asyncio.run(_cancel(folder)) for _ in range(RUNS)]
    yield Row(
        f"cancel of {PROCESSES} processes, 95th percentile",
        statistics.quantiles(seconds, n=20)[-1],
        None,
        "s",
        Limit(Judged.MEASURED, 1.5),
    )
    yield Row(
        "recovery at start, nothing to do",
        median_of(lambda: _recovery(folder), RUNS),
        None,
        "ms",
        Limit(Judged.MEASURED, 20),
    )


async def _cancel(place: Path) -> float:
    """Return the seconds from the cancel until the last of the processes is gone."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        kinds = _kinds()
        command = Command(
            (sys.executable, "-S", str(CHILDREN), "tree", folder, *kinds), {"PATH": os.environ["PATH"]}, Path(folder)
        )
        task = asyncio.ensure_future(AsyncioRunner(f"bench-{os.getpid()}").run(command, lambda _line: None))
        await asyncio.to_thread(_until_all_are_there, Path(folder))
        began = time.perf_counter()
        task.cancel()
        await asyncio.wait([task])
        seconds = time.perf_counter() - began
        left = [path.name for path in Path(folder).glob("[0-9]*") if birth_of(int(path.name)) is not None]
        if left:
            raise RuntimeError(f"still alive after the cancel: {', '.join(left)}")
        return seconds


def _until_all_are_there(folder: Path) -> None:
    while len(list(folder.glob("[0-9]*"))) < PROCESSES:
        time.sleep(0.05)


def _kinds() -> list[str]:
    """Return so many kinds in turn that with the root, and what ``respawn`` starts, there are as many as wanted."""
    kinds: list[str] = []
    while 1 + len(kinds) + kinds.count("respawn") < PROCESSES:
        kinds.append(KINDS[len(kinds) % len(KINDS)])
    return kinds


def _recovery(place: Path) -> float:
    with tempfile.TemporaryDirectory(dir=place) as folder:
        workspace = Workspace(Path(folder))
        for made in (workspace.runs, workspace.tmp):
            made.mkdir(parents=True)
        runner = AsyncioRunner(f"bench-{os.getpid()}")

        async def look() -> float:
            began = time.perf_counter()
            await clear_dead_runs(workspace, runner)
            return (time.perf_counter() - began) * 1000

        return asyncio.run(look())
