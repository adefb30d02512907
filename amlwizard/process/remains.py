"""Ends what dead runs left alive, which is found by their records, by their tags, and by where it works.

The run itself can no longer be asked, and its children have other parents by now. (A death signal for children, which
Linux knows, would reach only those that the run started itself, and would end them when a mere thread of it ends.)
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil

from amlwizard.core.births import birth_of
from amlwizard.core.running import GRACE_SECONDS, RUN_TAG_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from amlwizard.core.running import Remains

_LOOK_SECONDS: Final = 0.02
_KILL_SECONDS: Final = 10.0
_STOP_ROUNDS: Final = 5
"""How often newcomers are stopped before all are killed; what still grows is met in the next turn."""


@dataclass(frozen=True)
class Fact:
    """One process of this user. ``paths`` are its program and, where they can mean something, its working folder and the
    program as it was called; ``session`` and ``terminal`` are 0 and False where the system has none.
    """

    pid: int
    born: float
    parent: int
    session: int
    terminal: bool
    tag: str | None
    paths: tuple[str, ...]


def end_remains(remains: Remains) -> int:
    """End them; return how many were stopped. Blocks until none is left, so it is called in a thread.

    Only what the system itself cannot end, such as a process that waits for a disk that is gone, is left in the end.
    """
    stopped: set[tuple[int, float]] = set()
    members = _signal(_look(remains), signal.SIGTERM, stopped)
    deadline = time.monotonic() + GRACE_SECONDS
    while members and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
        members = _look(remains)
    quiet = 0
    deadline = time.monotonic() + _KILL_SECONDS
    while quiet < 2 and time.monotonic() < deadline:  # two looks, since one may miss what is just being forked
        members = _look(remains)
        if sys.platform != "win32":
            members = _frozen(remains, members)
        killed = _signal(members, _FORCE, stopped)
        quiet = 0 if killed else quiet + 1
        if killed:
            time.sleep(_LOOK_SECONDS)
    return len(stopped)


def belonging(table: Sequence[Fact], remains: Remains, own: int) -> list[Fact]:
    """Return what belongs to the dead runs; ``own`` is the id of this process.

    This process, those above it, and what it started itself count only where a tag or a record says so, the first two
    not even then. An id alone says nothing: it must have been born at the noted time.
    """
    by_pid = {fact.pid: fact for fact in table}
    above = set(_line(own, by_pid))
    below = {fact.pid for fact in table if own in _line(fact.pid, by_pid)}
    found = {
        fact.pid
        for fact in table
        if (fact.pid, fact.born) in remains.children
        or fact.tag in remains.tags
        or (fact.pid not in below and _works_in(fact, remains))
    } - above
    while True:
        more = {
            fact.pid
            for fact in table
            if fact.pid not in found
            and fact.pid not in above
            and (
                _is_child_of_one(fact, found, by_pid) or (fact.session in found and fact.born >= by_pid[fact.session].born)
            )
        }
        if not more:
            return [fact for fact in table if fact.pid in found]
        found |= more


def _line(pid: int, by_pid: dict[int, Fact]) -> Iterator[int]:
    """Yield a process and those above it."""
    seen: set[int] = set()
    while pid not in seen and pid > 0:
        seen.add(pid)
        yield pid
        fact = by_pid.get(pid)
        pid = fact.parent if fact is not None else 0


def _is_child_of_one(fact: Fact, found: set[int], by_pid: dict[int, Fact]) -> bool:
    return fact.parent in found and fact.born >= by_pid[fact.parent].born


def _works_in(fact: Fact, remains: Remains) -> bool:
    """Tell whether a process works where only these runs did. A shell that somebody sits at has a terminal."""
    if fact.terminal or fact.born < remains.not_before:
        return False
    return any(Path(path).is_relative_to(place) for path in fact.paths for place in remains.places)


def _look(remains: Remains) -> list[Fact]:
    return belonging(list(_table()), remains, os.getpid())


def _table() -> Iterator[Fact]:
    """Yield the living processes of this user."""
    user = psutil.Process().username() if sys.platform == "win32" else os.getuid()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if (process.username() if sys.platform == "win32" else process.uids().real) != user:
                continue
            birth = birth_of(process.pid)
            if birth is not None:
                yield _fact(process, birth.at)


def _fact(process: psutil.Process, born: float) -> Fact:
    tag: str | None = None
    paths: list[str] = []
    with suppress(psutil.Error, OSError):
        tag = process.environ().get(RUN_TAG_VARIABLE)
    with suppress(psutil.Error, OSError):
        paths.append(process.exe())
    if sys.platform != "win32":  # there, anybody's console may stand in a folder
        with suppress(psutil.Error, OSError):
            paths.append(process.cwd())
        with suppress(psutil.Error, OSError, IndexError):
            paths.append(process.cmdline()[0])
    return Fact(
        pid=process.pid,
        born=born,
        parent=process.ppid(),
        session=os.getsid(process.pid) if sys.platform != "win32" else 0,
        terminal=process.terminal() is not None if sys.platform != "win32" else False,
        tag=tag,
        paths=tuple(path for path in paths if path),
    )


def _frozen(remains: Remains, members: list[Fact]) -> list[Fact]:
    """Stop everything, so that nothing can be forked or started anew; return what was found on the way as well."""
    known: dict[int, Fact] = {}
    for _ in range(_STOP_ROUNDS):
        fresh = [fact for fact in members if fact.pid not in known]
        if not fresh:
            break
        known |= {fact.pid: fact for fact in fresh}
        for fact in fresh:
            _send(fact, signal.SIGSTOP)
        members = _look(remains)
    return list(known.values())


def _signal(members: Iterable[Fact], number: int, stopped: set[tuple[int, float]]) -> list[Fact]:
    """Signal exactly these processes; return those that it reached."""
    reached = [fact for fact in members if _send(fact, number)]
    stopped |= {(fact.pid, fact.born) for fact in reached}
    return reached


if sys.platform == "win32":
    _FORCE: Final[int] = signal.SIGTERM

    def _send(fact: Fact, number: int) -> bool:  # noqa: ARG001 - there is one way to end a process
        with suppress(psutil.Error, OSError):
            process = psutil.Process(fact.pid)
            if process.create_time() == fact.born:
                process.kill()
                return True
        return False

elif sys.platform == "linux":
    _FORCE: Final[int] = signal.SIGKILL

    def _send(fact: Fact, number: int) -> bool:
        """Send a signal through a handle, which stays with the process whatever becomes of its id."""
        try:
            handle = os.pidfd_open(fact.pid)
        except OSError:
            return False
        try:
            birth = birth_of(fact.pid)
            if birth is None or birth.at != fact.born:
                return False
            signal.pidfd_send_signal(handle, number)
        except OSError:
            return False
        finally:
            os.close(handle)
        return True

else:
    _FORCE: Final[int] = signal.SIGKILL

    def _send(fact: Fact, number: int) -> bool:
        birth = birth_of(fact.pid)
        if birth is None or birth.at != fact.born:
            return False
        try:
            os.kill(fact.pid, number)
        except OSError:
            return False
        return True
