"""Looks for interpreters on PATH and writes the path of each candidate as its row comes. Arguments: ROOT PROBE_SECONDS."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.child_env import tool_environment
from amlwizard.core.choices import Choices
from amlwizard.core.detection import detect
from amlwizard.core.paths import Workspace
from amlwizard.text_mode import make_runner

if TYPE_CHECKING:
    from amlwizard.core.facts import Candidate


def _told(row: Candidate) -> None:
    sys.stdout.write(f"{row.path}\n")
    sys.stdout.flush()


async def _look(root: Path, probe_seconds: float) -> None:
    runner = make_runner()
    try:
        await detect(
            Choices(root=root),
            Workspace(root),
            runner,
            os.environ,
            env=tool_environment(os.environ, tmp=root).variables,
            on_candidate=_told,
            probe_seconds=probe_seconds,
        )
    finally:
        await runner.sweep()


if __name__ == "__main__":
    asyncio.run(_look(Path(sys.argv[1]), float(sys.argv[2])))
