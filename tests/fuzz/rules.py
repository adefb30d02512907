"""What holds for every input: an end in time, no failure but an ``AmlError`` with words, and nothing else touched."""

# ruff: noqa: PTH100, PTH115, PTH117, PTH118

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.errors import AmlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

HANGS: Final = "no end"
"""How the words of a breach by time begin."""

_PROGRAM: Final = f"{os.sep}amlwizard{os.sep}"
_STARTS: Final = frozenset(
    {
        "subprocess.Popen",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "os.fork",
        "os.forkpty",
        "os.kill",
        "os.killpg",
    }
    | {"signal.pthread_kill", "socket.connect", "socket.getaddrinfo", "socket.sendto"}
)
_FIRST_PATH: Final = {
    **dict.fromkeys(("os.truncate", "os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr"), True),
    **dict.fromkeys(("os.mkdir", "os.rmdir", "os.remove"), False),
}
"""Calls that change what their first argument names, and whether they follow a link there."""
_FOLDER_AT: Final = {"os.mkdir": 2, "os.rmdir": 1, "os.remove": 1, "os.chmod": 2, "os.chown": 3, "os.utime": 3}
_AT_WORK: Final = 0.01
"""The part of the time in which a process works that is waiting for nothing, however busy the machine is with others."""
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(frozen=True)
class Limits:
    """How long one probe may take, in seconds: of processor time, and of waiting for something such as a silent pipe."""

    busy: float = 5.0
    waiting: float = 30.0


class BreachError(Exception):
    """Something that must hold does not."""


class HangError(BaseException):
    """A probe took too long; no handler of the program may take it for a failure of its own."""


def attempt(probe: Callable[[], object], guard: Guard, limits: Limits) -> bool:
    """Make one probe; return whether its input was accepted.

    Raises:
        BreachError: a rule was broken.
    """
    accepted = True
    try:
        with guard.watching(), _clocks(limits):
            try:
                probe()
            except AmlError as error:
                accepted = False
                _check_words(error)
    except HangError as error:
        raise BreachError(f"{HANGS} after {error} in {where(error)}") from None
    except BreachError:
        raise
    except (Exception, MemoryError, SystemExit) as error:
        said = f"{type(error).__name__}: {str(error)[:200]!r}"
        raise BreachError(f"{said} in {where(error)}") from error
    guard.check()
    return accepted


def where(error: BaseException) -> str:
    """Return the innermost place of an error in the program, or in the test where it never got there."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if _PROGRAM in frame.filename and "site-packages" not in frame.filename] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "?"


def _check_words(error: AmlError) -> None:
    for language in LANGUAGES:
        message, _ = error_texts(error, language)
        if not message or message == error.code:
            raise BreachError(f"{error.code} has no words in {language}")


@contextmanager
def _clocks(limits: Limits) -> Iterator[None]:
    """End what runs too long, where the system can interrupt it."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    worked = time.process_time()

    def ring(number: int, _frame: FrameType | None) -> None:
        nonlocal worked
        if number == signal.SIGVTALRM:
            raise HangError(f"{limits.busy:g} s of work")
        before, worked = worked, time.process_time()
        if (
            worked - before < _AT_WORK * limits.waiting
        ):  # otherwise the machine is busy with other things, and we are not waiting
            raise HangError(f"{limits.waiting:g} s of waiting")

    clocks = (
        (signal.SIGVTALRM, signal.ITIMER_VIRTUAL, limits.busy, 0.5),  # again soon, where it met what passes errors over
        (signal.SIGALRM, signal.ITIMER_REAL, limits.waiting, limits.waiting),
    )
    handlers = [signal.signal(number, ring) for number, *_ in clocks]
    try:
        for _, clock, seconds, again in clocks:
            signal.setitimer(clock, seconds, again)
        yield
    finally:
        for _, clock, *_ in clocks:
            signal.setitimer(clock, 0)
        for (number, *_), handler in zip(clocks, handlers, strict=True):
            signal.signal(number, handler)


class Guard:
    """Notes what is changed outside of a folder, started or connected to while a probe runs.

    The interpreter itself tells it. Its hooks cannot be taken away again, so there is one guard in a process.
    """

    def __init__(self) -> None:
        self.allowed: tuple[str, ...] = ()
        self._armed = False
        self._noted: list[str] = []
        sys.addaudithook(self._hear)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Listen while a probe runs."""
        self._noted.clear()
        self._armed = True
        try:
            yield
        finally:
            self._armed = False

    def check(self) -> None:
        """Raise ``BreachError`` where something was noted."""
        if self._noted:
            raise BreachError("; ".join(dict.fromkeys(self._noted)))

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._armed:
            return
        if event in _STARTS:
            self._noted.append(f"{event} with {str(arguments[:2])[:200]}")
        elif event == "open":
            path, mode, flags = arguments
            writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool((flags or 0) & _WRITING)
            if writes and not isinstance(path, int):
                self._judge(event, path, follow=True)
        elif event in _FIRST_PATH:
            index = _FOLDER_AT.get(event)
            folder = arguments[index] if index is not None and len(arguments) > index else -1
            self._judge(event, arguments[0], follow=_FIRST_PATH[event], folder=folder)
        elif event in {"os.rename", "os.link", "os.symlink"}:
            if event == "os.rename":
                self._judge(event, arguments[0], follow=False, folder=arguments[2])
            self._judge(event, arguments[1], follow=False, folder=arguments[-1])

    def _judge(self, event: str, path: Any, *, follow: bool, folder: int = -1) -> None:
        if isinstance(path, int):  # what was opened for it was judged then
            return
        self._armed = False  # looking at the path must not be noted
        try:
            full = os.fsdecode(path)
            if folder is not None and folder >= 0 and not os.path.isabs(full):
                full = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), full)
            head, tail = os.path.split(os.path.abspath(full))
            real = os.path.realpath(full) if follow else os.path.join(os.path.realpath(head), tail)
            if real != os.devnull and not any(real == place or real.startswith(place + os.sep) for place in self.allowed):
                self._noted.append(f"{event} of {real}")
        except (OSError, ValueError):
            pass  # such a path cannot be changed either; what the system does not tell here the listings show
        finally:
            self._armed = True
