"""Updates besides those of packages: a newer patch of the environment's Python, a newer uv."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.catalogue import text
from amlwizard.core.choices import Part
from amlwizard.core.detection.known import known_facts, own_facts
from amlwizard.core.environment.commit import refuse_foreign
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.environment.threads import run_past_return, run_whole
from amlwizard.core.errors import RefusedError, hinting_at
from amlwizard.core.events import ChangesEvent, LogEvent, RunState
from amlwizard.core.git_need import refuse_without_git
from amlwizard.core.host import host_facts
from amlwizard.core.looking import look
from amlwizard.core.means import check_organisation
from amlwizard.core.plan import NOTHING_TO_DO
from amlwizard.core.planning import first_plan
from amlwizard.core.python_update import find_python_update, note_python, remove_unused_patches, with_python
from amlwizard.core.remarks import tell_unknown_settings
from amlwizard.core.root_checks import check_root
from amlwizard.core.runs.added import settle_added
from amlwizard.core.runs.building import build_environment
from amlwizard.core.uv_update import UpdateUv, find_uv_update, uv_plan
from amlwizard.core.wish import lock_in_use, refuse_without_lock, wish_of_lock
from amlwizard.core.workspace_lock import refuse_while_run

if TYPE_CHECKING:
    from amlwizard.core.context import RunContext
    from amlwizard.core.events import FinishedEvent, PlanEvent
    from amlwizard.core.facts import Candidate
    from amlwizard.core.python_update import PythonUpdate
    from amlwizard.core.session import Session
    from amlwizard.core.uv_update import UvUpdate
    from amlwizard.core.wish import Wish


async def update(session: Session) -> FinishedEvent:
    """Bring what ``choices.update`` names up to date, after what changes has been told; do nothing where nothing is newer.

    Raises:
        AmlError: ``AML_UPDATE_*``, or what stood in the way.
    """
    with hinting_at("rebuild"):
        await asyncio.to_thread(refuse_while_run, session.workspace)
        return await (_update_uv(session) if session.choices.update is Part.UV else _update_python(session))


async def foresee_update(session: Session) -> PlanEvent:
    """Tell what an update would change and do; nothing is changed.

    Raises:
        AmlError: as ``update``.
    """
    await session.work_outside()
    if session.choices.update is Part.UV:
        run, uv = await _look_for_uv(session)
        events = _of_uv(run, uv) if uv is not None else None
        name, present = "uv", run.facts.uv
    else:
        run, python = await _look_for_python(session)
        events = await _of_python(run, python) if python is not None else None
        name, present = "Python", run.facts.python
    if events is None:
        line = text("AML_UPDATE_NONE.message", session.language, name=name, current=present.version if present else "")
        session.emit(LogEvent("", line, remark=True))
        session.emit(NOTHING_TO_DO)
        return NOTHING_TO_DO
    for event in events:
        session.emit(event)
    return events[1]


async def _look_for_uv(session: Session) -> tuple[RunContext, UvUpdate | None]:
    wish = await _wish(session)
    workspace, env = session.workspace, await session.probe_environment()
    state = await asyncio.to_thread(inspect_environment, workspace, None)
    facts = await own_facts(workspace, session.runner, env, host_facts(), state)
    run = session.context(wish, facts)
    run.uv = facts.uv.path if facts.uv is not None else None
    return run, await find_uv_update(run)


async def _look_for_python(session: Session) -> tuple[RunContext, PythonUpdate | None]:
    wish = await _python_wish(session)
    workspace = session.workspace
    state = await asyncio.to_thread(inspect_environment, workspace, None)
    if not state.ready:
        raise RefusedError("AML_UPDATE_NO_ENVIRONMENT", root=str(workspace.root))
    facts = await known_facts(workspace, session.runner, await session.probe_environment(), host_facts(), state)
    if facts is None:  # the workspace has no uv of its own
        base = await asyncio.to_thread(workspace.python.resolve)
        session.choices = replace(session.choices, python=str(base))
        facts = await look(session, wish)
    session.choices = replace(session.choices, python=None, accelerator=None)  # the lock says which ones
    run = session.context(wish, facts)
    return run, await find_python_update(run)


async def _python_wish(session: Session) -> Wish:
    wish = await _wish(session)
    pinned = session.choices.python_version or ""
    if pinned.count(".") > 1:
        raise RefusedError("AML_UPDATE_PYTHON_PINNED", version=pinned)
    return wish


async def _wish(session: Session) -> Wish:
    """Return what the workspace holds, as its lock tells it.

    Raises:
        RefusedError: there is none, or it cannot be used.
    """
    workspace = session.workspace
    if not await asyncio.to_thread(workspace.runtime.is_dir):
        raise RefusedError("AML_NO_WORKSPACE", root=str(workspace.root))
    await asyncio.to_thread(refuse_without_lock, workspace)
    await asyncio.to_thread(check_root, workspace.root)
    await asyncio.to_thread(refuse_foreign, workspace)
    wish = await asyncio.to_thread(wish_of_lock, lock_in_use(workspace))
    assert wish is not None  # noqa: S101 - without a lock it is refused
    await asyncio.to_thread(check_organisation, wish, session.choices)
    return wish


def _of_uv(run: RunContext, found: UvUpdate) -> tuple[ChangesEvent, PlanEvent]:
    return ChangesEvent(uv=(found.before, found.after)), uv_plan(found, run)


async def _of_python(run: RunContext, found: PythonUpdate) -> tuple[ChangesEvent, PlanEvent]:
    plan = await first_plan(run)
    return ChangesEvent(python=(found.before, found.after)), with_python(plan, found, run)


async def _update_uv(session: Session) -> FinishedEvent:
    await _wish(session)
    await session.hold("update", replaces=False)
    tell_unknown_settings(session)
    run, found = await _look_for_uv(session)
    if found is None:
        return await _none_newer(session, "uv", run.facts.uv)
    for event in _of_uv(run, found):
        session.emit(event)
    await session.run_step(run, UpdateUv(found))
    return await session.success("AML_UPDATED_UV", RunState.DONE, before=found.before, after=found.after)


async def _update_python(session: Session) -> FinishedEvent:
    workspace = session.workspace
    await _python_wish(session)
    await session.hold("update", replaces=False)
    tell_unknown_settings(session)
    run, found = await _look_for_python(session)
    if found is None:
        return await _none_newer(session, "Python", run.facts.python)
    await refuse_without_git(run)
    await session.hold("update")  # which is about to be replaced now
    try:
        await run_whole(note_python, workspace, found.after)
        wish = await settle_added(session, await _wish(session))
        run = session.context(wish, run.facts)
        for event in await _of_python(run, found):
            session.emit(event)
        await build_environment(session, run, found)
    except BaseException:
        workspace.next_lock.unlink(missing_ok=True)
        raise
    await run_past_return(remove_unused_patches, workspace, found.after)
    before, after = found.before, found.after
    return await session.success("AML_UPDATED_PYTHON", RunState.DONE, run.report, before=before, after=after)


async def _none_newer(session: Session, name: str, present: Candidate | None) -> FinishedEvent:
    version = present.version if present is not None else ""
    return await session.success("AML_UPDATE_NONE", RunState.READY, name=name, current=version)
