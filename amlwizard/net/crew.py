"""A small crew of threads that works off jobs, and stops at once when it is told to."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from amlwizard.net.session import Session

TICK_SECONDS = 0.1


class Stopped(Exception):  # noqa: N818 - not an error
    """The crew was told to stop."""


class Stop:
    """Tells the threads to stop. A thread inside ``waiting`` touches nothing but its socket, so nobody waits for it."""

    def __init__(self) -> None:
        self._told = threading.Event()
        self._lock = threading.Lock()
        self._waiting: set[int] = set()

    def check(self) -> None:
        """Raise ``Stopped`` where the crew was told to stop."""
        if self._told.is_set():
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Wait, unless told to stop meanwhile."""
        if self._told.wait(seconds):
            raise Stopped

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Mark a stretch in which the thread may be left behind, such as a name lookup that nothing can interrupt."""
        thread = threading.get_ident()
        with self._lock:
            self.check()
            self._waiting.add(thread)
        try:
            yield
        finally:
            with self._lock:
                self._waiting.discard(thread)
                self.check()

    def tell(self) -> set[int]:
        """Tell the threads to stop; return those that may be left behind."""
        with self._lock:
            self._told.set()
            return set(self._waiting)


async def work(
    jobs: Sequence[Callable[[Session, Stop], None]],
    make_session: Callable[[], Session],
    threads: int,
    on_tick: Callable[[], None] | None = None,
    leave: Callable[[Session], None] | None = None,
) -> None:
    """Do all jobs, several at once: half of the threads from the first on, the others from the last on.

    The first error stops the crew and is raised. ``leave`` takes over each session in place of closing it.
    """
    crew = _Crew(jobs, make_session, leave)
    crew.start(min(threads, len(jobs)))
    try:
        while not crew.over:
            await crew.next_end(TICK_SECONDS)
            if on_tick is not None:
                on_tick()
    finally:
        await crew.halt()
    if crew.errors:
        raise crew.errors[0]


class _Crew:
    def __init__(
        self,
        jobs: Sequence[Callable[[Session, Stop], None]],
        make_session: Callable[[], Session],
        leave: Callable[[Session], None] | None,
    ) -> None:
        self.errors: list[BaseException] = []
        self._loop = asyncio.get_running_loop()
        self._make_session = make_session
        self._leave = leave
        self._queue = deque(jobs)
        self._stop = Stop()
        self._sessions: list[Session] = []
        self._ends: dict[int, asyncio.Event] = {}

    def start(self, count: int) -> None:
        for number in range(count):
            end = asyncio.Event()
            take = self._queue.pop if number % 2 else self._queue.popleft
            thread = threading.Thread(target=self._labour, args=(take, end), name="fetch", daemon=True)
            thread.start()
            self._ends[thread.ident or 0] = end

    @property
    def over(self) -> bool:
        return bool(self.errors) or all(end.is_set() for end in self._ends.values())

    async def next_end(self, seconds: float) -> None:
        """Wait until a thread ends, at most so long."""
        waits = [asyncio.ensure_future(end.wait()) for end in self._ends.values() if not end.is_set()]
        try:
            if waits:
                await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    async def halt(self) -> None:
        """Stop the threads; return when none of them can touch a file any more."""
        left = self._stop.tell()
        if not all(end.is_set() for end in self._ends.values()):
            for session in tuple(self._sessions):
                session.interrupt()
        cancelled = False
        for thread, end in self._ends.items():
            while thread not in left and not end.is_set():
                try:
                    await end.wait()
                except asyncio.CancelledError:
                    cancelled = True  # a second cancel changes nothing; it is passed on when all is still
        if cancelled:
            raise asyncio.CancelledError

    def _labour(self, take: Callable[[], Callable[[Session, Stop], None]], end: asyncio.Event) -> None:
        try:
            session = self._make_session()
            self._sessions.append(session)
            try:
                while self._queue and not self.errors:
                    self._stop.check()
                    try:
                        job = take()
                    except IndexError:
                        break  # another thread took the last one
                    job(session, self._stop)
            finally:
                (self._leave or type(session).close)(session)
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where the crew is awaited
            self.errors.append(error)
        finally:
            with suppress(RuntimeError):  # the loop is closed: this thread was left behind
                self._loop.call_soon_threadsafe(end.set)
