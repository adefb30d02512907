"""The making of a bundle: of the workspace where it holds what is asked for, else with the network."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from amlwizard.core.bundle.gathering import choose_source, refuse_unknown
from amlwizard.core.bundle.making import AnyPython, AnyUv, Gather, WriteBundle, bundle_plan
from amlwizard.core.bundle.places import check_place
from amlwizard.core.bundle.preflight import preflight_of_bundle
from amlwizard.core.bundle.report import created_event
from amlwizard.core.bundle.room import check_first
from amlwizard.core.detection.bundled import uv_at_hand
from amlwizard.core.errors import AmlError
from amlwizard.core.events import BundleEvent
from amlwizard.core.host import host_facts
from amlwizard.core.looking import look, look_at_own
from amlwizard.core.means import check_organisation
from amlwizard.core.paths import Workspace
from amlwizard.core.planning import learn_default_index
from amlwizard.core.python_install import kept_archive
from amlwizard.core.remarks import tell_remarks
from amlwizard.core.root_checks import check_root
from amlwizard.core.temporary import system_folder
from amlwizard.core.wish import read_wish

if TYPE_CHECKING:
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.session import Session
    from amlwizard.core.steps import Step

_NOTHING_WRITTEN: Final = frozenset({"AML_ROOT_READ_ONLY", "AML_ROOT_NOT_WRITABLE", "AML_ROOT_NOT_YOURS", "AML_NO_SPACE"})


async def make_bundle(session: Session) -> FinishedEvent:
    """Make the bundle of ``choices.order``; where there is no workspace, none is left behind.

    One that cannot be written is only read: what it lacks is fetched outside of it.

    Raises:
        AmlError: what stood in the way.
    """
    workspace, choices, order = session.workspace, session.choices, session.choices.order
    assert order is not None  # noqa: S101 - the engine gives one
    await asyncio.to_thread(check_place, order.out, workspace)
    await asyncio.to_thread(refuse_unknown, choices, workspace)
    wish = await read_wish(choices)
    source = await asyncio.to_thread(choose_source, choices, order, wish, workspace, host_facts())
    with_network = source.recorded is None
    if with_network:
        await asyncio.to_thread(check_organisation, wish, choices)
    is_there = await asyncio.to_thread(workspace.runtime.is_dir)
    writable = is_there and await asyncio.to_thread(_is_writable, workspace)
    facts = await (look(session, None) if with_network else look_at_own(session))
    if writable:
        await session.hold("bundle", replaces=False)
    else:
        await session.end_dead_runs("bundle")
        if is_there:
            await session.keep_use("bundle")
        fetches = with_network or await asyncio.to_thread(kept_archive, workspace, source.target.minor, facts.host) is None
        if fetches:
            await asyncio.to_thread(check_first, system_folder(), order.out, source, wish, facts, session.language)
        await session.work_outside(needed=fetches)
    run = session.context(wish, facts)
    elsewhere = None if writable else Workspace(run.tmp / "aml")  # which goes with the session
    if with_network and elsewhere is not None:
        run = replace(run, workspace=elsewhere, choices=replace(run.choices, root=elsewhere.root))
    await tell_remarks(run)
    if with_network:
        await learn_default_index(run)
    run.uv = uv_at_hand(facts)
    session.emit(await asyncio.to_thread(bundle_plan, run, source, order.out, keeps=writable))
    await preflight_of_bundle(run, source)
    gather = Gather(source, elsewhere)
    write = WriteBundle(gather, order.out)
    tools: tuple[Step, ...] = (AnyUv(), AnyPython()) if with_network else ()
    for step in (*tools, gather, write):
        await session.run_step(run, step)
    content, packages, left_out = write.content, len(write.contents.wheels), write.contents.left_out
    session.emit(BundleEvent({**content, "packages": packages, "left_out": list(left_out)}))
    return created_event(content, packages, left_out, workspace.root, session.language, session.seconds())


def _is_writable(workspace: Workspace) -> bool:
    """Tell whether something can be put into a workspace; of one in which nothing can be, a bundle is made all the same."""
    try:
        check_root(workspace.root)
    except AmlError as error:
        if error.code not in _NOTHING_WRITTEN:
            raise
        return False
    return True
