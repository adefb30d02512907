"""What both runners share: limits, cancelling, delivery of output, and the ending of the tree.

A runner of its own adds only how a child is started and how its output and its end are heard of (``Child``).
"""

from __future__ import annotations

import asyncio
import errno
import os
import time
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from amlwizard.core.running import RUN_TAG_VARIABLE, NotStarted, OutputLine, Signalled, TimedOut
from amlwizard.process.lines import LineSplitter
from amlwizard.process.remains import end_remains
from amlwizard.process.tree import tree_keeper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amlwizard.core.running import Command, Exited, OnLine, OnStart, Outcome, Remains
    from amlwizard.process.tree import Tree

_T = TypeVar("_T")

_TURN_SECONDS: Final = 0.006
"""How long lines are delivered at a stretch before the event loop gets its turn."""
_LINES_BETWEEN_CLOCKS: Final = 32
_QUIET_SECONDS: Final = 0.05
_FOREIGN_HOLDER_SECONDS: Final = 2.0
"""How long output is still read although the tree is gone and a stranger keeps writing into the pipe."""
_ENDING_THREADS: Final = 4


class Stream:
    """One stream of one child, between the bytes that come in and the lines that go out."""

    def __init__(self, name: str, pump: Pump, on_line: OnLine, hold: Callable[[str, bool], None]) -> None:
        self.name = name
        self.on_line = on_line
        self.pending: deque[str] = deque()
        self.last_heard = time.monotonic()
        self.failure: BaseException | None = None
        self.at_end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.delivered = asyncio.Event()
        self.delivered.set()
        self._splitter = LineSplitter()
        self._pump = pump
        self._hold = hold
        self._held = False

    def feed(self, data: bytes) -> None:
        """Take bytes; hold the source back until the lines of these are delivered."""
        self.last_heard = time.monotonic()
        self._take(self._splitter.feed(data))

    def end(self) -> None:
        """Take note that no more bytes come."""
        if not self.at_end.done():
            self.at_end.set_result(None)
            self._take(self._splitter.flush())

    def emptied(self) -> None:
        """Let the source go on; called by the pump when everything is delivered."""
        self.delivered.set()
        if self._held:
            self._held = False
            self._hold(self.name, False)

    def _take(self, lines: list[str]) -> None:
        if not lines or self.failure is not None:
            return
        self.pending.extend(lines)
        if self.delivered.is_set():
            self.delivered.clear()
            self._pump.add(self)
        if not self._held and not self.at_end.done():
            self._held = True
            self._hold(self.name, True)


class Pump:
    """Delivers the lines of all children of a runner, in turns that are short enough for a window to stay alive."""

    def __init__(self) -> None:
        self._waiting: deque[Stream] = deque()
        self._scheduled = False

    def add(self, stream: Stream) -> None:
        """Deliver the pending lines of a stream in the next turns."""
        self._waiting.append(stream)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        until = time.monotonic() + _TURN_SECONDS
        while self._waiting and time.monotonic() < until:
            stream = self._waiting.popleft()
            try:
                for _ in range(min(_LINES_BETWEEN_CLOCKS, len(stream.pending))):
                    stream.on_line(OutputLine(stream.name, stream.pending.popleft()))
            except Exception as failure:  # noqa: BLE001 - given to the caller of run, whose function this is
                stream.failure = failure
                stream.pending.clear()
            if stream.pending:
                self._waiting.append(stream)
            else:
                stream.emptied()
        self._scheduled = bool(self._waiting)
        if self._scheduled:
            asyncio.get_running_loop().call_soon(self._turn)


class Child(ABC):
    """A child that is being run; each runner has its own kind."""

    def __init__(self) -> None:
        self.exited: asyncio.Future[Exited | Signalled] = asyncio.get_running_loop().create_future()
        self.streams: dict[str, Stream] = {}

    @abstractmethod
    def hold(self, stream: str, held: bool) -> None:
        """Stop or go on reading a stream."""

    @abstractmethod
    def close(self) -> None:
        """Free what belongs to the child, which has ended."""


class BaseRunner(ABC):
    """Runs commands; see ``core.running.Runner`` for what it promises."""

    def __init__(self, run_tag: str) -> None:
        self.run_tag: Final = run_tag
        self._on_start: OnStart = _tell_nobody
        self._keeper = tree_keeper(run_tag)
        self._pump = Pump()
        self._touched = time.monotonic()
        self._stopped = 0
        self._running: set[asyncio.Event] = set()
        self._trees: set[Tree] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    @abstractmethod
    async def _start(
        self, command: Command, env: dict[str, str], adopt: OnStart, make: Callable[[Child, str], Stream]
    ) -> Child:
        """Start the child and call ``adopt`` with its id at once.

        Raises:
            OSError: the system refused; its sentence is shown to the user.
        """

    def touch(self) -> None:
        """Note progress other than output, such as bytes or files that moved."""
        self._touched = time.monotonic()

    def tell_starts(self, on_start: OnStart) -> None:
        """Tell the id of every child from now on; see ``core.running.Runner``."""
        self._on_start = on_start

    async def run(self, command: Command, on_line: OnLine) -> Outcome:
        """Run one command to its end; see ``core.running.Runner``."""
        refusal = await asyncio.to_thread(_why_not_startable, command)  # it may lie on a drive that does not answer
        if refusal is not None:
            return refusal
        env = {**command.env, RUN_TAG_VARIABLE: self.run_tag}

        def make(child: Child, name: str) -> Stream:
            child.streams[name] = Stream(name, self._pump, on_line, child.hold)
            return child.streams[name]

        stop = asyncio.Event()
        self._running.add(stop)
        self._idle.clear()
        settle = _Uninterrupted()
        try:
            with self._keeper.starting() as tree:

                def adopt(pid: int) -> None:
                    tree.adopt(pid)
                    self._on_start(pid)

                # A cancel must not come between the start and the adoption; it is remembered and obeyed below.
                start = asyncio.ensure_future(self._start(command, env, adopt, make))
                await settle.until(asyncio.ensure_future(_wait_for_one([start], None)))
            refused = start.exception()
            if refused is not None:
                await settle.until(_in_thread(tree.end))
                settle.raise_cancel()
                if isinstance(refused, OSError):
                    return _not_started(command, refused)
                raise refused
            child = start.result()
            self._trees.add(tree)
            try:
                outcome = None if settle.cancelled else await self._watch(command, child, stop, settle)
                await self._finish(child, tree, settle)
            finally:
                self._trees.discard(tree)
        finally:
            self._running.discard(stop)
            if not self._running:
                self._idle.set()
        settle.raise_cancel()
        for stream in child.streams.values():
            if stream.failure is not None:
                raise stream.failure
        return outcome if outcome is not None else child.exited.result()

    def processes(self) -> int:
        """Return how many processes of the running commands are alive; see ``core.running.Runner``."""
        return sum(tree.count() for tree in tuple(self._trees))

    async def sweep(self) -> int:
        """End whatever is left of all commands of this runner; see ``core.running.Runner``."""
        settle = _Uninterrupted()
        for stop in tuple(self._running):
            stop.set()
        waiting = asyncio.ensure_future(self._idle.wait())
        await settle.until(waiting)
        self._stopped += await settle.until(_in_thread(self._keeper.sweep))
        settle.raise_cancel()
        return self._stopped

    async def end_remains(self, remains: Remains) -> int:
        """End what dead runs left alive; see ``core.running.Runner``. A cancel takes effect after that."""
        settle = _Uninterrupted()
        stopped = await settle.until(_in_thread(lambda: end_remains(remains)))
        settle.raise_cancel()
        return stopped

    async def _watch(self, command: Command, child: Child, stop: asyncio.Event, settle: _Uninterrupted) -> TimedOut | None:
        """Wait for the child's end, a cancel, a sweep, a failing receiver, or a limit; only the last has an outcome."""
        started = time.monotonic()
        stopping = asyncio.ensure_future(stop.wait())
        try:
            while not child.exited.done() and not stop.is_set():
                if any(stream.failure is not None for stream in child.streams.values()):
                    return None
                now = time.monotonic()
                wait = 1.0
                if command.total_seconds is not None:
                    left = started + command.total_seconds - now
                    if left <= 0:
                        return TimedOut(command.total_seconds, idle=False)
                    wait = min(wait, left)
                if command.idle_seconds is not None:
                    heard = max(started, self._touched, *(stream.last_heard for stream in child.streams.values()))
                    left = heard + command.idle_seconds - now
                    if left <= 0:
                        return TimedOut(command.idle_seconds, idle=True)
                    wait = min(wait, left)
                await _wait_for_one([child.exited, stopping], wait)
        except asyncio.CancelledError:
            settle.cancelled = True
        finally:
            stopping.cancel()
        return None

    async def _finish(self, child: Child, tree: Tree, settle: _Uninterrupted) -> None:
        """End the tree, let all output arrive, and free the child; a cancel meanwhile is remembered, not obeyed."""
        self._stopped += await settle.until(_in_thread(tree.end))
        await settle.until(child.exited)
        # Everybody who could write is gone, so the pipes end, unless a stranger to the tree was given one.
        deadline = time.monotonic() + _FOREIGN_HOLDER_SECONDS
        streams = tuple(child.streams.values())
        while not all(stream.at_end.done() for stream in streams):
            now = time.monotonic()
            busy = any(not stream.delivered.is_set() for stream in streams)
            if not busy and (now > deadline or all(now - stream.last_heard > _QUIET_SECONDS for stream in streams)):
                break
            open_ends = [stream.at_end for stream in streams if not stream.at_end.done()]
            await settle.until(asyncio.ensure_future(_wait_for_one(open_ends, _QUIET_SECONDS)))
        child.close()
        for stream in streams:
            stream.end()
            await settle.until(asyncio.ensure_future(stream.delivered.wait()))


class _Uninterrupted:
    """Waits for what must not be cut short, and remembers that a cancel came meanwhile."""

    def __init__(self) -> None:
        self.cancelled = False

    async def until(self, future: asyncio.Future[_T]) -> _T:
        """Return the future's result, however often the waiting task is cancelled."""
        while not future.done():
            try:
                await asyncio.wait({future})
            except asyncio.CancelledError:
                self.cancelled = True
        return future.result()

    def raise_cancel(self) -> None:
        """Obey the remembered cancel."""
        if self.cancelled:
            raise asyncio.CancelledError


def _tell_nobody(_pid: int) -> None:
    """Nobody wants to know what is started."""


_THREADS: Final = ThreadPoolExecutor(_ENDING_THREADS, thread_name_prefix="process-tree")


async def _wait_for_one(futures: Sequence[asyncio.Future[Any]], seconds: float | None) -> None:
    """Wait until one of the futures is done, whatever its result is, or the time is over."""
    await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


def _in_thread(function: Callable[[], int]) -> asyncio.Future[int]:
    """Call a blocking function in a thread, whatever executor the event loop has."""
    return asyncio.wrap_future(_THREADS.submit(function))


def _not_started(command: Command, refused: OSError) -> NotStarted:
    number = getattr(refused, "winerror", None) or refused.errno
    if number == errno.ENOENT and _is_binary(Path(command.argv[0])):
        number = errno.ENOEXEC  # it is there: what is missing is its loader, and so it is made for another system
    return NotStarted(refused.strerror or str(refused), number)


def _is_binary(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            return file.read(2) != b"#!"
    except OSError:
        return False


def _why_not_startable(command: Command) -> NotStarted | None:
    """Look before the start, for the same clear reason from both runners."""
    program = Path(command.argv[0])
    number = None
    if not command.cwd.is_dir():
        number = errno.ENOTDIR if command.cwd.exists() else errno.ENOENT
    elif not program.is_absolute() or not program.exists():
        number = errno.ENOENT
    elif program.is_dir():
        number = errno.EISDIR
    elif not os.access(program, os.X_OK):
        number = errno.EACCES
    return None if number is None else NotStarted(os.strerror(number), number)
