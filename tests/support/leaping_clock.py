"""A clock by which no test has to wait for the end of a limit, and no busy machine comes near one."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

from amlwizard.process import runner

if TYPE_CHECKING:
    import pytest

_T = TypeVar("_T")


class LeapingClock:
    """The clock by which runners keep the limits of their commands; ``leap`` puts it forward.

    A runner looks at it once a second.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0.0
        monkeypatch.setattr(runner, "time", self)

    def monotonic(self) -> float:
        """Take the place of ``time.monotonic``."""
        return time.monotonic() + self._ahead

    def leap(self, seconds: float) -> None:
        """Let so many seconds pass at once."""
        self._ahead += seconds

    async def run_out(self, task: asyncio.Future[_T], seconds: float) -> _T:
        """Let so many seconds pass, and again, until a task is done: what it waits for may only be about to begin."""
        self.leap(seconds)
        while not (await asyncio.wait([task], timeout=1.5))[0]:  # the runner has looked meanwhile
            self.leap(seconds)
        return task.result()
