"""The wait for those that use the environment for a while, such as a proof, before it is exchanged."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import text
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import BusyError
from amlwizard.core.events import LogEvent
from amlwizard.core.workspace_lock import ends_soon, hold_use

if TYPE_CHECKING:
    from contextlib import ExitStack

    from amlwizard.core.context import RunContext

_LONGEST_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 0.1


async def hold_alone(run: RunContext, held: ExitStack, command: str) -> None:
    """Hold the environment alone, and say so where that has to be waited for; ``held`` lets it go.

    Raises:
        BusyError: a job uses it, which may go on for days, or something else still does after all this time.
    """
    deadline: float | None = None
    while True:
        try:
            return await run_whole(held.enter_context, hold_use(run.workspace, command, alone=True))
        except BusyError as error:
            if not ends_soon(error) or (deadline is not None and time.monotonic() > deadline):
                raise
            if deadline is None:
                deadline = time.monotonic() + _LONGEST_SECONDS
                waits = text("commit.waiting", run.language, users=error.arguments["jobs"])
                run.emit(LogEvent(run.step, waits, remark=True))
        run.runner.touch()
        await asyncio.sleep(_LOOK_SECONDS)
