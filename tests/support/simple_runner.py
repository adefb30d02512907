"""A minimal runner of real children for tests of core, in the form of ``core.running.Runner``."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

from amlwizard.core.running import Exited, NotStarted, OutputLine, Signalled, TimedOut

if TYPE_CHECKING:
    from amlwizard.core.running import Command, OnLine, Outcome


class SimpleRunner:
    """Runs each command in a session of its own and ends the session on cancel."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    async def run(self, command: Command, on_line: OnLine) -> Outcome:
        """Run one command to its end."""
        self.commands.append(command)
        try:
            child = await asyncio.create_subprocess_exec(
                *command.argv,
                env=dict(command.env),
                cwd=command.cwd,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return NotStarted(error.strerror or str(error), error.errno)

        async def read(stream: asyncio.StreamReader, name: str) -> None:
            while line := await stream.readline():
                on_line(OutputLine(name, line.decode("utf-8", "replace").rstrip("\r\n")))

        assert child.stdout is not None
        assert child.stderr is not None
        limit = command.idle_seconds or command.total_seconds
        try:
            async with asyncio.timeout(limit):
                await asyncio.gather(read(child.stdout, "stdout"), read(child.stderr, "stderr"))
                code = await child.wait()
        except TimeoutError:
            return TimedOut(limit or 0.0, idle=True)
        finally:
            if child.returncode is None:
                os.killpg(child.pid, signal.SIGKILL)
                await child.wait()
        return Exited(code) if code >= 0 else Signalled(-code)

    async def sweep(self) -> int:
        """Nothing is left: ``run`` ends what it started."""
        return 0
