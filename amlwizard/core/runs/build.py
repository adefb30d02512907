"""Installation and rebuild: from what is wanted to a new environment in place."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from amlwizard.core.dead_runs import left_by_dead_runs
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.errors import BusyError
from amlwizard.core.readiness import ready_now
from amlwizard.core.runs.building import build_wished
from amlwizard.core.runs.repair import repair
from amlwizard.core.torch_choice import settle_torch
from amlwizard.core.wish import is_kept, keeps_accelerator, read_wish, refuse_without_lock
from amlwizard.core.workspace_lock import refuse_while_run

if TYPE_CHECKING:
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.paths import Workspace
    from amlwizard.core.session import Session
    from amlwizard.core.wish import Wish


async def install(session: Session) -> FinishedEvent:
    """Make the workspace ready; do nothing where it is, and no more than needed where it was only moved.

    Raises:
        AmlError: what stood in the way.
    """
    await settle_torch(session)
    workspace, choices = session.workspace, session.choices
    wish = await read_wish(choices)
    if workspace.journal.exists() or await asyncio.to_thread(left_by_dead_runs, workspace):
        with suppress(BusyError):  # somebody else is at it already
            await session.hold("install", replaces=False)
    ready = await asyncio.to_thread(ready_now, choices, session.language)
    if ready is not None:
        return ready
    plain = not choices.refresh and choices.until is None and choices.python is None
    plain = plain and await asyncio.to_thread(keeps_accelerator, choices, workspace, wish)
    if plain and await asyncio.to_thread(_is_only_moved, workspace, wish):
        return await repair(session, "install")
    return await build_wished(session, wish, "install")


async def rebuild(session: Session) -> FinishedEvent:
    """Build the environment afresh from the lock, or from newly resolved requirements where the choices say so.

    Raises:
        AmlError: what stood in the way.
    """
    await settle_torch(session)
    choices = session.choices
    await asyncio.to_thread(refuse_while_run, session.workspace)
    named = choices.requirements or choices.profile or choices.bundle
    if not named or not await asyncio.to_thread(_is_workspace, session.workspace):
        await asyncio.to_thread(refuse_without_lock, session.workspace)
    wish = await read_wish(choices, from_lock=True)
    return await build_wished(session, wish, "rebuild")


def _is_workspace(workspace: Workspace) -> bool:
    """Tell whether there is a workspace to rebuild, though its records may be gone."""
    return workspace.runtime.is_dir() or is_kept(workspace)


def _is_only_moved(workspace: Workspace, wish: Wish) -> bool:
    """Tell whether the environment is what is wanted, but at another place than it was."""
    state = inspect_environment(workspace, None)
    return state.state == "moved" and state.python is not None and state.digest == wish.digest(state.python)
