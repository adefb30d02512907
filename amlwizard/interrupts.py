"""Ctrl+C and the system's signals as what they mean here: the user's cancel.

Outside a run nothing was started that would have to be stopped, so a signal ends the process at once and without a word.
During a run it cancels the run's task, whose engine stops the children and undoes the step in progress.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from amlwizard.core.errors import ExitCode

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine
    from types import FrameType

Result = TypeVar("Result")

STOP_SIGNALS: Final = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if name in signal.Signals.__members__
)
"""SIGHUP is a closed terminal, SIGBREAK a closed console on Windows."""


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


def leave_on_stop_signals() -> None:
    """Let every stop signal end this process at once with the exit code of a cancel."""
    for number in _heeded_signals():
        signal.signal(number, _leave)


def ignore_stop_signals() -> None:
    """Let no stop signal change the exit code any more: the interpreter gives up its handlers before it is gone."""
    for number in _heeded_signals():
        signal.signal(number, signal.SIG_IGN)


def run_cancellable(main: Callable[[Cancel], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine on a loop of its own while stop signals cancel it; then put the former handlers back.

    Raises:
        asyncio.CancelledError: ``main`` was cancelled and did not turn that into a result.
    """
    import asyncio

    heeded = _heeded_signals()
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


def _heeded_signals() -> list[signal.Signals]:
    """Return the signals that are not ignored: ``nohup`` and a shell's background jobs keep what they chose."""
    return [number for number in STOP_SIGNALS if signal.getsignal(number) not in {signal.SIG_IGN, None}]


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(ExitCode.CANCELLED)
