"""Going back to the lock before the last change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.version import Version

from amlwizard.core.before import before_last_change
from amlwizard.core.damaged_records import is_previous_lock_damaged
from amlwizard.core.environment.commit import refuse_foreign
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import RefusedError, hinting_at
from amlwizard.core.events import RunState
from amlwizard.core.python_install import installed_python
from amlwizard.core.records import copy_atomically
from amlwizard.core.remarks import tell_unknown_settings
from amlwizard.core.root_checks import check_root
from amlwizard.core.runs.added import settle_added
from amlwizard.core.runs.building import build_again
from amlwizard.core.wish import Wish, refuse_lost_lock, wish_of_lock
from amlwizard.core.workspace_lock import refuse_while_run

if TYPE_CHECKING:
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.paths import Workspace
    from amlwizard.core.session import Session


async def undo(session: Session) -> FinishedEvent:
    """Build the environment from the previous lock, with what was there besides it; doing it twice changes nothing.

    The commit puts that lock in the place of the present one, which becomes the previous one.

    Raises:
        AmlError: ``AML_NO_WORKSPACE``, ``AML_NO_PREVIOUS_LOCK``, ``AML_PREVIOUS_LOCK_DAMAGED``, or what stood in the way.
    """
    with hinting_at("rebuild"):
        return await _undo(session)


async def _undo(session: Session) -> FinishedEvent:
    workspace = session.workspace
    await asyncio.to_thread(refuse_while_run, workspace)
    if not await asyncio.to_thread(workspace.runtime.is_dir):
        raise RefusedError("AML_NO_WORKSPACE", root=str(workspace.root))
    await asyncio.to_thread(refuse_lost_lock, workspace)
    await asyncio.to_thread(_previous_wish, workspace)
    await asyncio.to_thread(check_root, workspace.root)
    await asyncio.to_thread(refuse_foreign, workspace)
    await session.hold("undo")
    tell_unknown_settings(session)
    before = await asyncio.to_thread(before_last_change, workspace)
    try:
        wish = await run_whole(_begin, workspace)
        python = await asyncio.to_thread(_other_patch, workspace, wish)
        session.choices = replace(session.choices, python=python, accelerator=None)  # the lock says which ones
        run = await build_again(session, await settle_added(session, wish, exact=True, before=before))
    except BaseException:
        workspace.next_lock.unlink(missing_ok=True)
        raise
    return await session.success("AML_UNDONE", RunState.DONE, run.report)


def _other_patch(workspace: Workspace, wish: Wish) -> str | None:
    """Return the managed interpreter of just the lock's version where the environment stands on another one."""
    version = str((wish.resolved or {}).get("python", ""))
    if version.count(".") < 2 or version == inspect_environment(workspace, None).python:
        return None
    program = installed_python(workspace, Version(version))
    return str(program) if program is not None else None


def _previous_wish(workspace: Workspace) -> Wish:
    if is_previous_lock_damaged(workspace):
        raise RefusedError("AML_PREVIOUS_LOCK_DAMAGED", file=str(workspace.previous_lock))
    wish = wish_of_lock(workspace.previous_lock)
    if wish is None:
        raise RefusedError("AML_NO_PREVIOUS_LOCK", root=str(workspace.root))
    return wish


def _begin(workspace: Workspace) -> Wish:
    """Make the previous lock the one that the next environment is built from."""
    wish = _previous_wish(workspace)
    copy_atomically(workspace.previous_lock, workspace.next_lock)
    return wish
