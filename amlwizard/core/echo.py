"""Tells every command of every step before it runs (DESIGN section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.plain_text import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amlwizard.core.running import Command, OnLine, OnStart, Outcome, Remains, Runner

_SCRIPT = "…"
"""What stands for an argument of several lines, which is a script of ours."""


def command_line(argv: Sequence[str]) -> str:
    """Return a command in one line, as it is told."""
    return "$ " + " ".join(_SCRIPT if "\n" in argument else plain_text(argument) for argument in argv)


class EchoingRunner:
    """A runner that tells each command to ``tell`` and lets another one, ``inner``, run it."""

    def __init__(self, runner: Runner, tell: Callable[[str], None]) -> None:
        self.inner = runner
        self._tell = tell

    @property
    def run_tag(self) -> str:
        """The other's."""
        return self.inner.run_tag

    def tell_starts(self, on_start: OnStart) -> None:
        """Do as the other does."""
        self.inner.tell_starts(on_start)

    async def run(self, command: Command, on_line: OnLine) -> Outcome:
        """Tell the command, then run it."""
        self._tell(command_line(command.argv))
        return await self.inner.run(command, on_line)

    def touch(self) -> None:
        """Do as the other does."""
        self.inner.touch()

    def processes(self) -> int:
        """Return what the other does."""
        return self.inner.processes()

    async def sweep(self) -> int:
        """Do as the other does."""
        return await self.inner.sweep()

    async def end_remains(self, remains: Remains) -> int:
        """Do as the other does."""
        return await self.inner.end_remains(remains)
