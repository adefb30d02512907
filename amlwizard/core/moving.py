"""Bytes on their way: work on the disk in a thread that counts what it moved and that a cancel stops."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Final, TypeVar

from amlwizard.core.environment.threads import forget_cancel, outlast

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK: Final = 1024 * 1024
"""How many bytes are in memory at a time."""

T = TypeVar("T")


class StoppedError(Exception):
    """The work was told to stop; it is never seen outside of ``in_thread``."""


@dataclass
class Moving:
    """What one piece of work has moved; ``total`` is in bytes."""

    total: int = 0
    done: int = 0
    subject: str = ""
    """The name of the file that is moving now."""
    started: float = field(default_factory=time.monotonic)
    _stop: Event = field(default_factory=Event)

    def advance(self, count: int) -> None:
        """Count bytes that were moved.

        Raises:
            StoppedError: the work was cancelled meanwhile.
        """
        self.done += count
        if self._stop.is_set():
            raise StoppedError

    def stop(self) -> None:
        """Let the next ``advance`` raise."""
        self._stop.set()

    @property
    def rate(self) -> float:
        """Bytes a second since the beginning."""
        return self.done / max(time.monotonic() - self.started, 0.001)


async def in_thread(
    work: Callable[[Moving], T], moving: Moving, on_tick: Callable[[Moving], None], *, final: bool = False
) -> T:
    """Run work in a thread and tell every moment how far it is; a cancel stops it and waits until it has stopped.

    A cancel that the work no longer heard, as it had come to its end, takes effect after that, unless ``final`` tells that
    there is nothing more to be stopped.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work, moving))
    told = -1

    def tick() -> None:
        nonlocal told
        if moving.done != told:
            told = moving.done
            on_tick(moving)

    cancelled = await outlast(task, moving.stop, tick)
    try:
        result = task.result()
    except StoppedError:
        assert cancelled is not None  # noqa: S101 - nothing else stops the work
        raise cancelled from None
    if cancelled is not None and not final:
        raise cancelled
    if cancelled is not None:
        forget_cancel()
    return result
