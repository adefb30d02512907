"""Parts of a report with a time limit each: a disk that does not answer keeps neither the rest nor the end."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from amlwizard.core.catalogue import Phrase, error_texts
from amlwizard.core.errors import AmlError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")

_ENDING_SECONDS: Final = 5.0
"""How long a part may take to end its children when its time is over."""


@dataclass(frozen=True)
class Part(Generic[T]):
    """How one part went: ``value`` is None where it failed, and ``reason`` says why."""

    name: str
    seconds: float
    value: T | None = None
    reason: str | Phrase = ""

    @property
    def failed(self) -> bool:
        """Tell whether there is nothing to be shown of it."""
        return self.reason != ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        state = "failed" if self.failed else "done"
        reason = self.reason if isinstance(self.reason, str) else f"no answer in {self.reason.arguments['seconds']} s"
        return {"part": self.name, "state": state, "seconds": round(self.seconds, 2), "reason": reason}


async def limited(name: str, seconds: float, work: Coroutine[Any, Any, T]) -> Part[T]:
    """Do one part; whatever it raises, and its not coming to an end, is told in the result."""
    began = time.monotonic()
    task = asyncio.ensure_future(work)
    task.add_done_callback(_seen)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=_ENDING_SECONDS)
            return Part(name, time.monotonic() - began, reason=Phrase("diagnose.no_answer", {"seconds": f"{seconds:g}"}))
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_ENDING_SECONDS)
        raise
    taken = time.monotonic() - began
    try:
        return Part(name, taken, task.result())
    except AmlError as error:
        return Part(name, taken, reason=f"{error_texts(error)[0]} ({error.code})")
    except asyncio.CancelledError:
        return Part(name, taken, reason="cancelled")
    except Exception as error:  # noqa: BLE001 - the other parts are still worth having
        return Part(name, taken, reason=f"{type(error).__name__}: {error}")


def _seen(task: asyncio.Future[Any]) -> None:
    """Take note of how a part ended that nobody waits for any more."""
    if not task.cancelled():
        task.exception()


async def limited_in_thread(name: str, seconds: float, function: Callable[[], T]) -> Part[T]:
    """Do one part that reads the disk, in a thread."""
    return await limited(name, seconds, asyncio.to_thread(function))


class LooseThreads(ThreadPoolExecutor):
    """Threads that nobody waits for at the end: one that hangs on a dead drive would keep the program for ever."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run a function in a thread of its own."""
        future: Future[Any] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = function(*arguments, **named)
            except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
                future.set_exception(error)
            else:
                future.set_result(result)

        Thread(target=work, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let what still runs go on, and end with the program."""


async def in_loose_thread(function: Callable[..., T], *arguments: object) -> T:
    """Call a function in such a thread: what asks the system's keyring, which may wait for a person, changes no file."""
    return await asyncio.get_running_loop().run_in_executor(LooseThreads(), partial(function, *arguments))


def use_loose_threads() -> None:
    """Let the running event loop work in such threads; for a loop that serves a report alone."""
    asyncio.get_running_loop().set_default_executor(LooseThreads())
