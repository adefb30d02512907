"""How core asks for a command to be run; ``process/`` implements it twice (DESIGN section 5 and 6)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from amlwizard.core.catalogue import Phrase

if TYPE_CHECKING:
    from pathlib import Path

GRACE_SECONDS = 0.8
"""The longest time between asking a process tree to end and ending it by force."""

IDLE_SECONDS = 600.0
"""The limit of a long step: ten minutes without output, bytes or files (DESIGN section 6)."""

CRASH_STATUS = 0xC000_0000
"""Windows' exit status of a crash begins here."""

RUN_TAG_VARIABLE = "AML_RUN_TAG"
"""Every child carries this variable; the sweep finds what a run left behind by it."""


@dataclass(frozen=True)
class Command:
    """One command.

    ``argv[0]`` is the absolute path of the program. ``env`` is the whole environment of the child (made by
    ``child_env``), ``cwd`` exists. Standard input is closed. ``total_seconds`` limits the whole run; ``idle_seconds``
    limits the time without a sign of progress: output, or a call of ``Runner.touch``. None sets no limit. The output of an
    ``attached`` command goes straight to this program's own standard streams, byte by byte, and no line is delivered; the
    text mode's runner alone can do that.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    total_seconds: float | None = None
    idle_seconds: float | None = None
    attached: bool = False


@dataclass(frozen=True)
class OutputLine:
    """One decoded line of a child's output, without its line end; ``stream`` is ``stdout`` or ``stderr``."""

    stream: str
    text: str


@dataclass(frozen=True)
class Exited:
    """The child ended by itself."""

    code: int


@dataclass(frozen=True)
class Signalled:
    """The child was ended by a signal that this run did not send (on Windows: ``CRASH_STATUS`` and above)."""

    signal: int


@dataclass(frozen=True)
class NotStarted:
    """The child could not be started; ``reason`` is the system's sentence.

    ``error`` is its number, on Windows the system's own, or None. A binary that is there but whose loader is not has
    ``errno.ENOEXEC``.
    """

    reason: str
    error: int | None = None


@dataclass(frozen=True)
class TimedOut:
    """A limit was reached and the whole tree was ended; ``idle`` tells which limit."""

    seconds: float
    idle: bool


@dataclass(frozen=True)
class Remains:
    """What dead runs left alive, as far as their records tell.

    ``tags`` are their run tags; ``children`` the ids and births (``births.Birth.at``) of what they started; ``places`` are
    folders in which nobody else has a reason to work; ``not_before`` is the birth of the first of these runs.
    """

    tags: frozenset[str]
    children: frozenset[tuple[int, float]]
    places: tuple[Path, ...]
    not_before: float


Outcome = Exited | Signalled | NotStarted | TimedOut
OnLine = Callable[[OutputLine], None]
OnStart = Callable[[int], None]
"""Is told the id of a process at once after its start."""


def describe_outcome(outcome: Outcome) -> object:
    """Return how a command ended, in a few words as a cause."""
    match outcome:
        case Exited(code):
            return Phrase("outcome.exited", {"code": code})
        case Signalled(signal):
            told = str(signal) if os.name != "nt" else f"{signal:#x}"
            return Phrase("outcome.signalled", {"signal": told})
        case NotStarted(reason):
            return reason
        case TimedOut(seconds):
            return f"{seconds:.0f} s"


class Runner(Protocol):
    """Runs commands, several at once where asked.

    Cancelling the task that awaits ``run`` is how a command is stopped: the runner ends the whole tree, graceful first
    and forced after at most ``GRACE_SECONDS``, proves that it is empty, and only then raises ``CancelledError`` on. A
    second cancel meanwhile changes nothing. A cancel before the child was started means that it is never started.
    """

    @property
    def run_tag(self) -> str:
        """The value of ``RUN_TAG_VARIABLE`` in every child."""
        ...

    def tell_starts(self, on_start: OnStart) -> None:
        """Tell the id of every child from now on, before anything else happens to it."""
        ...

    async def run(self, command: Command, on_line: OnLine) -> Outcome:
        """Run one command to its end.

        ``on_line`` is called on the event loop's thread, in order for each stream. All output is delivered before this
        returns, although a grandchild may still hold the pipe: what the child itself wrote counts. A command that is
        over leaves none of its descendants alive.
        """
        ...

    def touch(self) -> None:
        """Note a sign of progress other than output (bytes or files moved); the idle limits of all commands begin anew."""
        ...

    def processes(self) -> int:
        """Return how many processes of the running commands are alive. Blocks for a moment, so it is called in a thread."""
        ...

    async def sweep(self) -> int:
        """End whatever is still alive of all the commands of this runner; return how many processes were stopped
        since the runner was made, those by cancelled commands included. Returns only when none is left.
        """
        ...

    async def end_remains(self, remains: Remains) -> int:
        """End what dead runs left alive, gracefully first; return how many processes were stopped.

        Whatever belongs to another user, to this run, or to nobody of these runs is never touched. Returns only when none
        is left. On Windows the system itself ends the processes of a run that dies, so hardly any is found there.
        """
        ...
