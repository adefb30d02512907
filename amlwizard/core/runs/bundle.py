"""The making of a bundle: of the workspace where it holds what is asked for, else with the network."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.bundle.gathering import choose_source, refuse_unknown
from amlwizard.core.bundle.making import AnyPython, AnyUv, Gather, WriteBundle, bundle_plan
from amlwizard.core.bundle.places import check_place
from amlwizard.core.bundle.preflight import preflight_of_bundle
from amlwizard.core.bundle.report import created_event
from amlwizard.core.detection.bundled import uv_at_hand
from amlwizard.core.events import BundleEvent
from amlwizard.core.host import host_facts
from amlwizard.core.looking import look, look_at_own
from amlwizard.core.means import check_organisation
from amlwizard.core.paths import Workspace
from amlwizard.core.planning import learn_default_index
from amlwizard.core.remarks import tell_remarks
from amlwizard.core.root_checks import check_root
from amlwizard.core.wish import read_wish

if TYPE_CHECKING:
    from amlwizard.core.context import RunContext
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.facts import Facts
    from amlwizard.core.session import Session
    from amlwizard.core.steps import Step
    from amlwizard.core.wish import Wish


async def make_bundle(session: Session) -> FinishedEvent:
    """Make the bundle of ``choices.order``; where there is no workspace, none is left behind.

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
    in_passing = not await asyncio.to_thread(workspace.runtime.is_dir)
    if not in_passing:
        await asyncio.to_thread(check_root, choices.root)
    facts = await (look(session, None) if with_network else look_at_own(session))
    if in_passing:
        run = await _in_passing(session, wish, facts)
    else:
        await session.hold("bundle", replaces=False)
        run = session.context(wish, facts)
    await tell_remarks(run)
    if with_network:
        await learn_default_index(run)
    run.uv = uv_at_hand(facts)
    session.emit(await asyncio.to_thread(bundle_plan, run, source, order.out, keeps=not in_passing))
    await preflight_of_bundle(run, source)
    gather = Gather(source)
    write = WriteBundle(gather, order.out)
    tools: tuple[Step, ...] = (AnyUv(), AnyPython()) if with_network else ()
    for step in (*tools, gather, write):
        await session.run_step(run, step)
    content, packages, left_out = write.content, len(write.contents.wheels), write.contents.left_out
    session.emit(BundleEvent({**content, "packages": packages, "left_out": list(left_out)}))
    return created_event(content, packages, left_out, workspace.root, session.language, session.seconds())


async def _in_passing(session: Session, wish: Wish, facts: Facts) -> RunContext:
    """Return a run on a workspace of its own in the session's private folder, which is gone at the end of the session."""
    await session.end_dead_runs("bundle")
    await session.work_outside()
    run = session.context(wish, facts)
    root = run.tmp / "aml"
    return replace(run, workspace=Workspace(root), choices=replace(run.choices, root=root))
