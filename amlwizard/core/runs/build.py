"""Installation and rebuild: from what is wanted to a new environment in place."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from amlwizard.core.bundle.steps import CheckBundle
from amlwizard.core.dead_runs import left_by_dead_runs
from amlwizard.core.environment.commit import refuse_foreign
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.errors import BusyError
from amlwizard.core.events import RunState
from amlwizard.core.facts import EnvironmentFacts, Facts
from amlwizard.core.git_need import refuse_without_git
from amlwizard.core.host import host_facts
from amlwizard.core.looking import look_for
from amlwizard.core.means import check_bundle, check_found, check_version
from amlwizard.core.planning import first_plan
from amlwizard.core.readiness import ready_now
from amlwizard.core.remarks import tell_remarks
from amlwizard.core.root_checks import check_root
from amlwizard.core.runs.added import settle_added
from amlwizard.core.runs.building import build_environment
from amlwizard.core.runs.repair import repair
from amlwizard.core.shared_lock import check_given, offering
from amlwizard.core.wish import keeps_accelerator, read_wish, refuse_without_lock
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
    with offering(wish):
        return await _build(session, wish, "install")


async def rebuild(session: Session) -> FinishedEvent:
    """Build the environment afresh from the lock, or from newly resolved requirements where the choices say so.

    Raises:
        AmlError: what stood in the way.
    """
    choices = session.choices
    await asyncio.to_thread(refuse_while_run, session.workspace)
    if not (choices.requirements or choices.profile or choices.bundle):
        await asyncio.to_thread(refuse_without_lock, session.workspace)
    wish = await read_wish(choices, from_lock=True)
    with offering(wish):
        return await _build(session, wish, "rebuild")


async def _build(session: Session, wish: Wish, kind: str) -> FinishedEvent:
    workspace, choices = session.workspace, session.choices
    await asyncio.to_thread(check_root, choices.root)
    await asyncio.to_thread(refuse_foreign, workspace)
    check_given(wish, host_facts())
    if wish.bundle is not None:
        check_bundle(wish, choices)
        nothing_found = Facts(host_facts(), (), None, None, EnvironmentFacts("absent"))
        await session.run_step(session.context(wish, nothing_found), CheckBundle())
    facts = await look_for(session, wish, rebuilds=kind == "rebuild")
    run = session.context(wish, facts)
    check_found(run)
    await check_version(run)
    await refuse_without_git(run)
    await session.hold(kind, replaces=choices.until in (None, "commit"))
    wish = await settle_added(session, wish)
    run = session.context(wish, facts)  # in the folder that belongs to it now
    await tell_remarks(run)
    if kind == "rebuild":
        workspace.next_lock.unlink(missing_ok=True)
    session.emit(await first_plan(run))
    if not await build_environment(session, run):
        return await session.success("AML_STEP_DONE", RunState.DONE)
    return await session.success("AML_READY", RunState.READY if kind == "install" else RunState.DONE, run.report)


def _is_only_moved(workspace: Workspace, wish: Wish) -> bool:
    """Tell whether the environment is what is wanted, but at another place than it was."""
    state = inspect_environment(workspace, None)
    return state.state == "moved" and state.python is not None and state.digest == wish.digest(state.python)
