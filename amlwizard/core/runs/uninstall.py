"""An uninstallation as a run: under the workspace's locks, with events, and cancellable between two parts."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import text
from amlwizard.core.environment.threads import run_stoppable, run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.events import RunState, StepEvent, StepState
from amlwizard.core.opening.servers import stop_servers
from amlwizard.core.uninstall import Removal, check_receipt, remove_listed, remove_records
from amlwizard.core.workspace_lock import hold_run, hold_use

if TYPE_CHECKING:
    from amlwizard.core.events import Emit, FinishedEvent
    from amlwizard.core.paths import Workspace
    from amlwizard.core.session import Session

_STEP: Final = "uninstall"


async def uninstall(session: Session) -> FinishedEvent:
    """Remove what the receipt lists; the end tells what was kept.

    Raises:
        AmlError: there is no receipt, a run or a job holds the workspace, or something is stuck; what was removed until
            then is gone, and doing it again goes on.
    """
    workspace, emit = session.workspace, session.emit
    await asyncio.to_thread(check_receipt, workspace)
    began = time.monotonic()
    with ExitStack() as held:
        await run_whole(held.enter_context, hold_run(workspace, _STEP))
        await run_whole(held.enter_context, hold_use(workspace, _STEP, alone=True))
        await session.clear_dead_runs()
        if await run_whole(stop_servers, workspace):  # a JupyterLab without its environment is of no use to anybody
            session.remark(text("uninstall.jupyter_stopped", session.language))
        await session.tell_users()
        emit(StepEvent(_STEP, StepState.STARTED))
        removal = await _remove(workspace, emit)
        if os.name != "nt":  # while nobody else can begin here
            await _remove_records(workspace, removal)
    if os.name == "nt":  # the files of the locks cannot be removed before
        await _remove_records(workspace, removal)
    if removal.stuck:
        emit(StepEvent(_STEP, StepState.FAILED))
        raise AmlError("AML_UNINSTALL_INCOMPLETE", paths=", ".join(map(str, removal.stuck)))
    emit(StepEvent(_STEP, StepState.DONE, seconds=time.monotonic() - began))
    kept = "\n".join(text("uninstall.kept", session.language, path=path) for path in removal.kept)
    return session.ended(AmlError("AML_UNINSTALLED", detail=kept, root=str(workspace.root)), RunState.DONE)


async def _remove(workspace: Workspace, emit: Emit) -> Removal:
    removal = Removal()
    told: tuple[int, int | None] = (0, None)

    def tell() -> None:
        nonlocal told
        if (removal.done, removal.total) != told:
            told = (removal.done, removal.total)
            emit(StepEvent(_STEP, StepState.PROGRESS, removal.done, removal.total, "files"))

    try:
        await run_stoppable(lambda stopped: remove_listed(workspace, removal, stopped), tell)
    except asyncio.CancelledError:
        emit(StepEvent(_STEP, StepState.CANCELLED))
        raise
    return removal


async def _remove_records(workspace: Workspace, removal: Removal) -> None:
    with suppress(asyncio.CancelledError):  # too late: everything else is gone
        await run_whole(remove_records, workspace, removal)
