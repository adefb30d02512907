"""Work on the disk in a thread that a cancel does not leave behind half-done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


async def run_whole(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread to its end; a cancel meanwhile, or several, takes effect after that."""
    task = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled from task.exception()
    return task.result()


async def run_past_return(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread to its end; a cancel meanwhile comes too late and is forgotten.

    For what follows the point of no return: nothing can be undone any more, and half of it would be worse than all.
    """
    task = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None:
                current.uncancel()
    return task.result()
