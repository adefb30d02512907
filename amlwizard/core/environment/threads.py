"""Work on the disk in a thread that a cancel does not leave behind half-done."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_TICK_SECONDS: Final = 0.1

P = ParamSpec("P")
T = TypeVar("T")


async def outlast(
    task: asyncio.Future[Any], on_cancel: Callable[[], object], on_tick: Callable[[], None] | None = None
) -> asyncio.CancelledError | None:
    """Wait until a task is done, however often the caller is cancelled meanwhile.

    Args:
        task: the work.
        on_cancel: called at each cancel.
        on_tick: called now and then until the first cancel, and when the task is done.

    Returns:
        The last cancel, if any; whether it takes effect now is the caller's to say.
    """
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task], timeout=_TICK_SECONDS if on_tick is not None else None)
        except asyncio.CancelledError as error:
            cancelled = error
            on_cancel()
        if on_tick is not None and cancelled is None:
            on_tick()
    return cancelled


async def run_stoppable(function: Callable[[threading.Event], T], on_tick: Callable[[], None] | None = None) -> T:
    """Run a function in a thread; a cancel meanwhile sets its event, and takes effect when the function has ended.

    ``on_tick`` is called as by ``outlast``.
    """
    stopped = threading.Event()
    task = asyncio.ensure_future(asyncio.to_thread(function, stopped))
    cancelled = await outlast(task, stopped.set, on_tick)
    if cancelled is not None:
        raise cancelled from task.exception()
    return task.result()


async def run_whole(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread to its end; a cancel meanwhile, or several, takes effect after that."""
    return await run_stoppable(lambda _stopped: function(*args, **kwargs))


async def run_past_return(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread to its end; a cancel meanwhile comes too late and is forgotten.

    For what follows the point of no return: nothing can be undone any more, and half of it would be worse than all.
    """
    task = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    await outlast(task, forget_cancel)
    return task.result()


def forget_cancel() -> None:
    """Let the present task go on as if it had been cancelled once less."""
    current = asyncio.current_task()
    if current is not None:
        current.uncancel()
