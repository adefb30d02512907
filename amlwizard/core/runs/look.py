"""The runs that only look; nothing is written, but for the trial whether the folder can be the workspace."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from amlwizard.core.bundle.report import bundle_content
from amlwizard.core.environment.commit import refuse_foreign
from amlwizard.core.errors import AmlError
from amlwizard.core.events import BundleEvent, LogEvent
from amlwizard.core.git_need import refuse_without_git
from amlwizard.core.host import host_facts
from amlwizard.core.looking import look, look_for
from amlwizard.core.loose import refuse_without_place
from amlwizard.core.means import check_bundle, check_found, check_lock, check_organisation, check_range
from amlwizard.core.newer_records import refuse_newer_records
from amlwizard.core.plan import NOTHING_TO_DO
from amlwizard.core.planning import first_plan, with_file_hosts
from amlwizard.core.readiness import ready_now
from amlwizard.core.remarks import tell_remarks, tell_unknown_settings
from amlwizard.core.root_checks import check_root
from amlwizard.core.runs.added import foresee_changes
from amlwizard.core.runs.update import foresee_update
from amlwizard.core.shared_lock import check_given, offering
from amlwizard.core.torch_choice import settle_torch
from amlwizard.core.wish import read_wish

if TYPE_CHECKING:
    from amlwizard.core.events import PlanEvent
    from amlwizard.core.facts import Facts
    from amlwizard.core.paths import Workspace
    from amlwizard.core.session import Session
    from amlwizard.core.wish import Wish


async def detect(session: Session) -> Facts:
    """Look at the computer.

    Raises:
        RefusedError: an explicit choice does not work.
    """
    facts = await _detected(session)
    await session.name_dead_runs()
    return facts


async def _detected(session: Session) -> Facts:
    tell_unknown_settings(session)
    if session.choices.bundle is not None:
        of_bundle = await read_wish(session.choices)
        tell_bundle(session, of_bundle)
        check_bundle(of_bundle, session.choices)
        await session.look_for_graphics()
        return await look_for(session, of_bundle)
    wish = None
    await settle_torch(session)
    with suppress(AmlError):  # what is wrong with the wish is said by plan and install
        wish = await read_wish(session.choices)
    return await look(session, wish)


def tell_bundle(session: Session, wish: Wish) -> None:
    """Tell what a bundle is, whether it fits or not."""
    if wish.bundle is not None:
        bundle = wish.bundle
        content = bundle_content(bundle.path, bundle.total_bytes, None, bundle.manifest)
        session.emit(BundleEvent({**content, "packages": len(bundle.wheels)}))


def _refuse_what_stays(workspace: Workspace) -> None:
    """Say at once what an installation would refuse to replace."""
    refuse_newer_records(workspace)
    refuse_foreign(workspace)


async def plan(session: Session) -> PlanEvent:
    """Look, then say what an installation would do, or an update where one is asked for.

    Raises:
        RefusedError: the choices cannot be used.
    """
    await session.name_dead_runs()
    if session.choices.update is not None:
        return await foresee_update(session)
    await settle_torch(session)
    wish = await read_wish(session.choices)
    ready = await asyncio.to_thread(ready_now, session.choices, session.language)
    if ready is not None:
        if ready.detail:
            session.emit(LogEvent("", ready.detail, remark=True))
        session.emit(NOTHING_TO_DO)  # as an installation looks no further either
        return NOTHING_TO_DO
    await asyncio.to_thread(check_organisation, wish, session.choices)
    await asyncio.to_thread(check_root, session.choices.root)
    await asyncio.to_thread(_refuse_what_stays, session.workspace)
    check_bundle(wish, session.choices)
    check_given(wish, host_facts())
    with offering(wish):
        facts = await look_for(session, wish)
        if session.choices.refresh:  # for which something is fetched
            await session.work_outside()
        run = session.context(wish, facts)
        check_found(run)
        await asyncio.to_thread(check_lock, run)
        check_range(run)
        await refuse_without_git(run)
        await refuse_without_place(run)
        await tell_remarks(run)
        event = await with_file_hosts(run, await first_plan(run))
    session.emit(event)
    if session.choices.refresh and event.replaces:
        await foresee_changes(session, run)
    return event
