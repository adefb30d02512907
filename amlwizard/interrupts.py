"""Ctrl+C and the system's signals as what they mean here: the user's cancel.

Outside a run nothing was started that would have to be stopped, so a signal ends the process at once and without a word.
During a run it cancels the run's task, whose engine stops the children and undoes the step in progress.
"""

from __future__ import annotations

import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from amlwizard.stop_signals import heeded_signals

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine

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
        for number in heeded:
            try:
                loop.add_signal_handler(number, cancel.request)
            except NotImplementedError:  # Windows: the loop is woken by the signal itself
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(cancel.request))
        try:
            return await main(cancel)
        finally:
            # the result stands; while the loop closes, it would leave the signals to the system's own ways
            for number in heeded:
                with suppress(NotImplementedError):
                    loop.remove_signal_handler(number)
                signal.signal(number, signal.SIG_IGN)

    try:
        return asyncio.run(guarded())
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
