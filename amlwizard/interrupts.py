"""Ctrl+C and the system's signals as what they mean here: the user's cancel.

Outside a run nothing was started that would have to be stopped, so a signal ends the process at once and without a word.
During a run it cancels the run's task, whose engine stops the children and undoes the step in progress.
"""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from amlwizard.stop_signals import heeded_signals

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterator

Result = TypeVar("Result")


class Cancel:
    """Cancels one task once: a second request must not disturb the stopping that the first one began."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task
        self.requested = False
        self.on_request: Callable[[], None] = lambda: None

    def request(self) -> None:
        """Ask for the cancel; further requests change nothing."""
        if not self.requested:
            self.requested = True
            self.on_request()
            self._task.cancel()


def run_cancellable(main: Callable[[Cancel], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine on a loop of its own while stop signals cancel it; then put the former handlers back.

    Raises:
        asyncio.CancelledError: ``main`` was cancelled and did not turn that into a result.
    """
    import asyncio

    heeded = heeded_signals()
    former = {number: signal.getsignal(number) for number in heeded}

    async def guarded() -> Result:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a running coroutine has one
        cancel = Cancel(task)
        with _woken_by_signals(loop):
            for number in heeded:
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(cancel.request))
            try:
                return await main(cancel)
            finally:
                for number in heeded:
                    signal.signal(number, signal.SIG_IGN)  # the result stands

    try:
        return asyncio.run(guarded())
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let a signal wake a loop that waits, whichever thread the system gave it to.

    The loop's own handlers would do so as well, but leave the system's in their place when they are removed: a signal in
    that moment would end the process.
    """
    if sys.platform == "win32":  # there the loop does this itself
        yield
        return
    import socket

    read, write = socket.socketpair()
    with read, write:
        read.setblocking(False)
        write.setblocking(False)
        former = signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)
        loop.add_reader(read, read.recv, 4096)
        try:
            yield
        finally:
            loop.remove_reader(read)
            signal.set_wakeup_fd(former)
