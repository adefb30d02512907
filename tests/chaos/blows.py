"""The kinds of interruption, and the moments at which they come."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.chaos.proofs import survivors

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence

    from tests.chaos.world import Run, World

STEPS = ("resolve", "fetch", "build", "verify", "commit")
_DELAYS = (0.0, 0.002, 0.01, 0.05, 0.2)


@dataclass(frozen=True)
class Moment:
    """A moment in a run: a part of its usual time, or a time after a step has begun or ended."""

    fraction: float | None = None
    step: str = ""
    state: str = ""
    delay: float = 0.0

    @classmethod
    def choose(cls, chance: random.Random, steps: Sequence[str]) -> Moment:
        """Choose one: half of them anywhere, half near the steps, of which some are very short."""
        if chance.random() < 0.5:
            return cls(fraction=chance.random())
        step, state = chance.choice(steps), chance.choice(("started", "done"))
        return cls(step=step, state=state, delay=chance.choice(_DELAYS) * (0.5 + chance.random()))

    def wait(self, run: Run, usual: float) -> bool:
        """Wait for it; False where the run is over before."""
        if self.fraction is not None:
            return run.wait(max(0.0, run.began + self.fraction * usual - time.monotonic())) is None
        return run.wait_for_step(self.step, self.state, 3 * usual + 20) and run.wait(self.delay) is None

    def __str__(self) -> str:
        if self.fraction is not None:
            return f"at {self.fraction:.0%}"
        return f"{self.step} {self.state} +{self.delay * 1000:.0f} ms"


@dataclass(frozen=True)
class Kind:
    """A kind of interruption.

    ``strike`` does it and returns what takes it back. ``dies`` tells that the wizard has no chance to clear up itself.
    """

    name: str
    weight: int
    strike: Callable[[World, Run, random.Random, Iterable[int]], Callable[[], None]]
    dies: bool = False
    cancels: bool = False
    needs_namespace: bool = False
    lets_nothing_be_undone: bool = False

    @property
    def leaves_undoing(self) -> bool:
        """Tell whether the run itself can undo nothing any more."""
        return self.dies or self.lets_nothing_be_undone


def _nothing() -> None:
    """There is nothing to be taken back."""


def _kill(pid: int, number: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _kill_wizard(_world: World, run: Run, _chance: random.Random, _helpers: Iterable[int]) -> Callable[[], None]:
    _kill(run.process.pid)
    return _nothing


def _kill_child(_world: World, run: Run, chance: random.Random, helpers: Iterable[int]) -> Callable[[], None]:
    """Kill any process of the run but the wizard; where there is none at the moment, wait a little for one."""
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline and run.process.poll() is None:
        children = [found.pid for found in survivors(helpers) if found.pid != run.process.pid]
        if children:
            _kill(chance.choice(sorted(children)))
            break
        time.sleep(0.005)
    return _nothing


def _kill_tree(_world: World, run: Run, _chance: random.Random, helpers: Iterable[int]) -> Callable[[], None]:
    _kill(run.process.pid)
    for found in survivors(helpers):
        _kill(found.pid)
    return _nothing


def _cancel(_world: World, run: Run, chance: random.Random, _helpers: Iterable[int]) -> Callable[[], None]:
    """Cancel by one of the signals, in some runs twice."""
    _kill(run.process.pid, chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))
    if chance.random() < 0.4:
        run.wait(0.3 * chance.random())
        if run.process.poll() is None:
            _kill(run.process.pid, chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))
    return _nothing


def _fill_disk(world: World, run: Run, _chance: random.Random, _helpers: Iterable[int]) -> Callable[[], None]:
    world.fill_disk()
    while run.wait(0.05) is None and time.monotonic() < run.began + 60:
        world.fill_disk()  # also what the run itself gives back
    return world.free_disk


def _make_read_only(world: World, _run: Run, _chance: random.Random, _helpers: Iterable[int]) -> Callable[[], None]:
    target = world.make_read_only()
    return lambda: world.make_writable(target)


KINDS = (
    Kind("kill -9 the wizard", 30, _kill_wizard, dies=True),
    Kind("kill -9 a child", 15, _kill_child),
    Kind("kill -9 the tree", 10, _kill_tree, dies=True),
    Kind("cancel", 25, _cancel, cancels=True),
    Kind("fill the disk", 10, _fill_disk, needs_namespace=True),
    Kind("read-only", 10, _make_read_only, needs_namespace=True, lets_nothing_be_undone=True),
)
