"""A temporary runner for the tests of core, until they use the real one of ``process/``."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

from amlwizard.core.running import Command, Exited, NotStarted, OnLine, Outcome, OutputLine, Signalled, TimedOut

if TYPE_CHECKING:
    from asyncio import StreamReader
    from asyncio.subprocess import Process


class SimpleRunner:
    """Starts real children, each in a group of its own that is killed at the limit."""

    def __init__(self) -> None:
        self.started: list[tuple[str, ...]] = []

    async def run(self, command: Command, on_line: OnLine) -> Outcome:
        """Run one command to its end."""
        self.started.append(command.argv)
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
        try:
            async with asyncio.timeout(command.total_seconds):
                await self._drain(child, on_line)
        except TimeoutError:
            return TimedOut(command.total_seconds or 0.0, idle=False)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
        code = child.returncode
        assert code is not None
        return Exited(code) if code >= 0 else Signalled(-code)

    async def _drain(self, child: Process, on_line: OnLine) -> None:
        async def read(stream: StreamReader | None, name: str) -> None:
            assert stream is not None
            while line := await stream.readline():
                on_line(OutputLine(name, line.decode("utf-8", "replace").rstrip("\r\n")))

        await asyncio.gather(read(child.stdout, "stdout"), read(child.stderr, "stderr"))
        await child.wait()

    async def sweep(self) -> int:
        """Return 0: each run ends its own group."""
        return 0
