"""The real text-mode runner, which also remembers what it was asked to run."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from amlwizard.process.asyncio_runner import AsyncioRunner

if TYPE_CHECKING:
    from amlwizard.core.running import Command, OnLine, Outcome


class RecordingRunner(AsyncioRunner):
    """Runs real children and keeps their commands."""

    def __init__(self) -> None:
        super().__init__(f"test-{uuid.uuid4().hex}")
        self.commands: list[Command] = []

    async def run(self, command: Command, on_line: OnLine) -> Outcome:
        """Run one command to its end."""
        self.commands.append(command)
        return await super().run(command, on_line)
