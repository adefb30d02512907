"""An uninstallation as a run: under the workspace's locks, with events, and cancellable between two folders."""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from amlwizard.core.catalogue import text
from amlwizard.core.environment.threads import run_stoppable, run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.events import RunState, StepEvent, StepState
from amlwizard.core.uninstall import Removal, check_receipt, remove_listed, remove_records
from amlwizard.core.workspace_lock import hold_run, hold_use

if TYPE_CHECKING:
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.paths import Workspace
    from amlwizard.core.session import Session

_STEP = "uninstall"


async def uninstall(session: Session) -> FinishedEvent:
    """Remove what the receipt lists; the end tells what was kept.

    Raises:
        AmlError: there is no receipt, a run or a job holds the workspace, or something is stuck; what was removed until
            then is gone, and doing it again goes on.
    """
    workspace, emit = session.workspace, session.emit
    await asyncio.to_thread(check_receipt, workspace)
    with ExitStack() as held:
        await run_whole(held.enter_context, hold_run(workspace, _STEP))
        await run_whole(held.enter_context, hold_use(workspace, _STEP, alone=True))
        await session.clear_dead_runs()
        await session.tell_users()
        emit(StepEvent(_STEP, StepState.STARTED))
        try:
            removal = await run_stoppable(lambda stopped: remove_listed(workspace, stopped))
        except asyncio.CancelledError:
            emit(StepEvent(_STEP, StepState.CANCELLED))
            raise
        if os.name != "nt":  # while nobody else can begin here
            await _remove_records(workspace, removal)
    if os.name == "nt":  # the files of the locks cannot be removed before
        await _remove_records(workspace, removal)
    if removal.stuck:
        emit(StepEvent(_STEP, StepState.FAILED))
        raise AmlError("AML_UNINSTALL_INCOMPLETE", paths=", ".join(map(str, removal.stuck)))
    emit(StepEvent(_STEP, StepState.DONE))
    kept = "\n".join(text("uninstall.kept", session.language, path=path) for path in removal.kept)
    return session.ended(AmlError("AML_UNINSTALLED", detail=kept, root=str(workspace.root)), RunState.DONE)


async def _remove_records(workspace: Workspace, removal: Removal) -> None:
    with suppress(asyncio.CancelledError):  # too late: everything else is gone
        await run_whole(remove_records, workspace, removal)
