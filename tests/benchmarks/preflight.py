"""What an installation with a network looks at before its first step, from an index on loopback."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.benchmarks.frame import Judged, Limit, Row, pairs, settle
from tests.support.real_wheels import PROJECT, clean_environment, loopback_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "pre-flight"


def run(scratch: Path) -> Iterator[Row]:
    """Yield what all pre-flights together add: the time to the first step against that of detection alone.

    Both begin with the start of the process. In between lie the checks of the folder, of the requirements and of every
    host, and the plan.
    """
    roots = (scratch / str(number) for number in itertools.count())
    with loopback_index() as index:
        taken = pairs(
            lambda: _seconds_until("step", "install", next(roots), index),
            lambda: _seconds_until("detected", "detect", next(roots), index),
        )
    yield taken.row("all together, before the first step", "s", Limit(Judged.EXCESS, 0.5))


def _seconds_until(event: str, command: str, root: Path, index: str) -> float:
    """Return the seconds until the first event of a kind, and end what comes after it."""
    settle()
    env = clean_environment(AML_ROOT=str(root), AML_PYTHON_BIN=sys.executable, AML_INDEX_URL=index)
    argv = [sys.executable, "-m", "amlwizard", command, "--json"]
    began = time.perf_counter()
    with subprocess.Popen(
        argv, cwd=PROJECT, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if json.loads(line)["event"] == event:
                seconds = time.perf_counter() - began
                child.terminate()
                child.stdout.read()
                return seconds
    raise RuntimeError(f"{command} ended with {child.returncode} and told of no {event}")
