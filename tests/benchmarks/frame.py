"""How a benchmark measures and what it reports."""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS = 5


class Judged(Enum):
    """Which figure of a row its limit is about."""

    MEASURED = "measured <="
    RATIO = "measured / baseline <="
    EXCESS = "measured - baseline <="
    SPEED_UP = "baseline / measured >="


@dataclass(frozen=True)
class Limit:
    """A promise, such as ``Limit(Judged.RATIO, 1.0)``."""

    judged: Judged
    value: float


@dataclass(frozen=True)
class Row:
    """One figure of a benchmark; ``baseline`` is what it is compared with, in the same unit, or None."""

    name: str
    measured: float
    baseline: float | None
    unit: str
    limit: Limit

    @property
    def figure(self) -> float:
        """The number that the limit is about."""
        match self.limit.judged:
            case Judged.MEASURED:
                return self.measured
            case Judged.RATIO:
                return self.measured / self._baseline
            case Judged.EXCESS:
                return self.measured - self._baseline
            case Judged.SPEED_UP:
                return self._baseline / self.measured

    @property
    def kept(self) -> bool:
        """Tell whether the promise is kept."""
        if self.limit.judged is Judged.SPEED_UP:
            return self.figure >= self.limit.value
        return self.figure <= self.limit.value

    @property
    def _baseline(self) -> float:
        if self.baseline is None:
            raise ValueError(f"{self.name}: a limit of this kind needs a baseline")
        return self.baseline


@dataclass
class Pairs:
    """What two ways took, measured in turn so that a busy machine slows both alike."""

    measured: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)

    def row(self, name: str, unit: str, limit: Limit) -> Row:
        """Return the row of the medians."""
        return Row(name, statistics.median(self.measured), statistics.median(self.baseline), unit, limit)


def settle() -> None:
    """Let the disk take what was written before, so that this does not slow what is measured next."""
    if hasattr(os, "sync"):
        os.sync()


def pairs(measured: Callable[[], float], baseline: Callable[[], float], count: int = PAIRS) -> Pairs:
    """Call both ways ``count`` times, changing which comes first; each returns its own figure (see ``timed``)."""
    taken = Pairs()
    for number in range(count):
        if number % 2:
            taken.baseline.append(baseline())
            taken.measured.append(measured())
        else:
            taken.measured.append(measured())
            taken.baseline.append(baseline())
    return taken


def median_of(measured: Callable[[], float], count: int = PAIRS) -> float:
    """Return the median of several figures of one way."""
    return statistics.median(measured() for _ in range(count))


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes, once the disk is at rest."""
    settle()
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
