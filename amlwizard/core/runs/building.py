"""What the kinds of run that build an environment have in common."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.begun import forget_begun, note_begun
from amlwizard.core.catalogue import text
from amlwizard.core.environment.commit import refuse_foreign, remove_old
from amlwizard.core.environment.state import FOLDER_LINKED
from amlwizard.core.environment.threads import run_past_return, run_whole
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import ChangesEvent, LogEvent, RunState
from amlwizard.core.facts import EnvironmentFacts, Facts
from amlwizard.core.git_need import refuse_without_git
from amlwizard.core.host import host_facts
from amlwizard.core.looking import look, look_again, look_for
from amlwizard.core.loose import refuse_without_place
from amlwizard.core.means import check_bundle, check_found, check_lock, check_organisation, check_version
from amlwizard.core.planning import check_space, first_plan
from amlwizard.core.preflight import preflight
from amlwizard.core.python_update import UpdatePython
from amlwizard.core.remarks import tell_remarks
from amlwizard.core.root_checks import check_root
from amlwizard.core.runs.added import settle_added, tell_changes
from amlwizard.core.shared_lock import check_given, offering
from amlwizard.core.steps import all_steps
from amlwizard.core.storing import naming_damaged
from amlwizard.core.variants import tell_variants
from amlwizard.core.wish import read_wish

if TYPE_CHECKING:
    from amlwizard.core.context import RunContext
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.paths import Workspace
    from amlwizard.core.python_update import PythonUpdate
    from amlwizard.core.session import Session
    from amlwizard.core.steps import Step
    from amlwizard.core.wish import Wish


async def build_wished(session: Session, wish: Wish, kind: str) -> FinishedEvent:
    """Look for what a wish needs, show the plan, and build; ``kind`` is ``install``, ``rebuild`` or ``repair``.

    Raises:
        AmlError: what stood in the way.
    """
    workspace, choices = session.workspace, session.choices
    with offering(wish):
        await asyncio.to_thread(check_organisation, wish, choices)
        await asyncio.to_thread(check_root, choices.root)
        await asyncio.to_thread(refuse_foreign, workspace)
        check_given(wish, host_facts())
        if wish.bundle is not None:
            check_bundle(wish, choices)
            nothing_found = Facts(host_facts(), (), None, None, EnvironmentFacts("absent"))
            await session.run_step(session.context(wish, nothing_found), (await asyncio.to_thread(_bundle_steps))[0])
        facts = await look_for(session, wish, rebuilds=kind == "rebuild")
        run = session.context(wish, facts)
        check_found(run)
        await asyncio.to_thread(check_lock, run)
        await check_version(run)
        await refuse_without_git(run)
        whole = choices.until in (None, "commit")
        await session.hold(kind, replaces=whole)
        begins = whole and kind != "repair" and not os.path.lexists(workspace.venv)
        try:
            if begins:
                await run_whole(note_begun, workspace, run.choices, wish)
            wish = await settle_added(session, wish)
            run = session.context(wish, facts)  # in the folder that belongs to it now
            await tell_remarks(run)
            if kind == "rebuild":
                workspace.next_lock.unlink(missing_ok=True)
            session.emit(await first_plan(run))
            if not await build_environment(session, run):
                return await session.success("AML_STEP_DONE", RunState.DONE)
        except BaseException:
            if begins:
                await run_whole(forget_begun, workspace)
            raise
    return await session.success("AML_READY", RunState.DONE if kind == "rebuild" else RunState.READY, run.report)


async def build_environment(session: Session, run: RunContext, update: PythonUpdate | None = None) -> bool:
    """Put a new environment in place by the usual steps; False where the choices asked to stop before the end.

    With an ``update``, of which it was told what changes, the newer Python is set up for it.

    Raises:
        AmlError: what a step said, or would say of the network, or ``AML_DISK_SPACE``.
    """
    await refuse_without_place(run)
    async with naming_damaged(run, run.missing or ()):
        await preflight(run)
    steps = all_steps() if run.wish.bundle is None else (await asyncio.to_thread(_bundle_steps))[1:]
    if update is not None:
        steps = tuple(UpdatePython(update) if step.id == UpdatePython.id else step for step in steps)
    for step in steps:
        if step.id == "unpack":
            await check_space(run)  # what a bundle brings is known before Resolve
        await session.run_step(run, step)
        if step.id == "resolve":
            if run.lock is not None:
                told = ChangesEvent(python=(update.before, update.after)) if update is not None else None
                await tell_changes(run, run.lock, told)
                await tell_variants(run, run.lock)
            await check_space(run)
        if step.id == run.choices.until and step.id != "commit":
            return False
    before = run.facts.environment
    if before.reason == FOLDER_LINKED:
        run.emit(LogEvent("", text("repair.link_removed", run.language, **before.arguments), remark=True))
    await remove_replaced(run.workspace)
    return True


async def build_again(session: Session, wish: Wish) -> RunContext:
    """Build what a lock of the workspace says; on another Python where its own cannot be had.

    Raises:
        AmlError: what stood in the way.
    """
    wish, facts = await _look_for_lock(session, wish)
    run = session.context(wish, facts)
    check_found(run)
    await check_version(run)
    await refuse_without_git(run)
    session.emit(await first_plan(run))
    await build_environment(session, run)
    return run


async def _look_for_lock(session: Session, wish: Wish) -> tuple[Wish, Facts]:
    """Find what to build with, and what to build where the lock's own Python is not there."""
    facts = await look_again(session, wish)
    if facts.python is not None:
        return wish, facts
    if wish.resolved is not None:
        if not session.choices.offline:
            return wish, facts  # the lock's own can be set up again
        with suppress(RefusedError):
            another = await read_wish(session.choices)
            kept = {name: getattr(wish, name) for name in ("added", "added_versions", "may_leave_out")}
            wish = replace(another, **kept)
    return wish, await look(session, wish)


async def remove_replaced(workspace: Workspace) -> None:
    """Remove the environment that was exchanged for the new one."""
    with suppress(OSError):  # the new one is in place all the same; the next start tries again
        await run_past_return(remove_old, workspace)


def _bundle_steps() -> tuple[Step, ...]:
    """Return the check of a bundle and the steps after it; what they need takes time to load. Called in a thread."""
    from amlwizard.core.bundle.steps import CheckBundle, steps_from_bundle

    return CheckBundle(), *steps_from_bundle()
