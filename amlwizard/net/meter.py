"""How far all downloads of one call are: counted by the threads, read by the event loop."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING

from amlwizard.core.fetching import FetchProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amlwizard.core.fetching import Download

_SMOOTHING_SECONDS = 2.0


class Meter:
    """Counts bytes by download; what it shows never goes backwards."""

    def __init__(self, downloads: Sequence[Download]) -> None:
        self._lock = threading.Lock()
        self._sizes = [each.told_size if each.size is None else each.size for each in downloads]
        self._told = [each.size is None for each in downloads]
        self._names = [each.target.name for each in downloads]
        self._done = [0] * len(downloads)
        self._active: list[int] = []
        self._finished = 0
        self._moved = 0
        self._shown = 0
        self._rate = 0.0
        self._last_byte: float | None = None
        self._last = (time.monotonic(), 0)

    def begin(self, number: int) -> None:
        """A download is being worked on."""
        with self._lock:
            self._active.append(number)

    def at(self, number: int, done: int, size: int | None) -> None:
        """So much of a download is there before the next byte arrives."""
        with self._lock:
            self._done[number] = done
            if self._told[number] and size is not None:
                self._sizes[number] = size

    def moved(self, number: int, count: int) -> None:
        """Bytes have arrived."""
        with self._lock:
            self._done[number] += count
            self._moved += count
            self._last_byte = time.monotonic()

    def moved_within(self, seconds: float) -> bool:
        """Tell whether a byte of any download has arrived so lately."""
        with self._lock:
            return self._last_byte is not None and time.monotonic() - self._last_byte < seconds

    def finish(self, number: int, size: int) -> None:
        """A download is complete."""
        with self._lock:
            self._done[number] = self._sizes[number] = size
            self._finished += 1
            if number in self._active:
                self._active.remove(number)

    def progress(self) -> FetchProgress:
        """Return the present state; call it on one thread only."""
        with self._lock:
            now = time.monotonic()
            before, moved = self._last
            if now > before:
                fresh = (self._moved - moved) / (now - before)
                weight = 1 - math.exp(-(now - before) / _SMOOTHING_SECONDS) if self._rate else 1.0
                self._rate += weight * (fresh - self._rate)
                self._last = (now, self._moved)
            sizes = [size for size in self._sizes if size is not None]
            total = sum(sizes) if len(sizes) == len(self._sizes) else None
            self._shown = max(self._shown, sum(self._done))
            if total is not None:
                total = max(total, self._shown)  # a server may change its mind about a size that nobody else knows
            current = self._names[self._active[0]] if self._active else ""
            return FetchProgress(self._shown, total, self._finished, self._rate, current)
