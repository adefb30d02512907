"""The engine and the runner of everything that works without a window: the command line and programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amlwizard.core.engine import Engine
    from amlwizard.core.running import Runner


def build_engine(language: str) -> Engine:
    """Wire the engine with the parts of the text mode."""
    from amlwizard.wiring import make_engine

    return make_engine(make_runner, language)


def make_runner() -> Runner:
    """Return a runner with a run tag of its own, by which what it left behind would be found."""
    from amlwizard.process.asyncio_runner import AsyncioRunner

    return AsyncioRunner(f"{os.getpid()}-{os.urandom(8).hex()}")
