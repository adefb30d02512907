"""A runner for tests of jobs: a real child on the streams of this process, ended with its group on cancel.

As a program it is the command line with this runner: ``python -m tests.support.inheriting_runner ARGS``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING

from amlwizard.core.running import Exited, NotStarted, Signalled

if TYPE_CHECKING:
    from amlwizard.core.running import Command, OnLine, Outcome


class InheritingRunner:
    """Runs attached commands alone."""

    async def run(self, command: Command, on_line: OnLine) -> Outcome:
        assert command.attached
        try:
            child = await asyncio.create_subprocess_exec(
                *command.argv,
                env=dict(command.env),
                cwd=command.cwd,
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            return NotStarted(error.strerror or str(error), error.errno)
        try:
            code = await child.wait()
        except asyncio.CancelledError:
            if os.name == "nt":
                child.kill()
            else:
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
            raise
        return Exited(code) if code >= 0 else Signalled(-code)

    async def sweep(self) -> int:
        return 0


def main() -> int:
    """Run a command line with this runner."""
    from amlwizard import __main__ as program
    from amlwizard import cli

    cli.make_runner = InheritingRunner
    return program.main()


if __name__ == "__main__":
    sys.exit(main())
