"""The store as a run: what it holds and lacks, after what nothing needs was freed where that was asked for."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.detection.known import workspace_pythons
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.environment.threads import run_stoppable
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import RunState, StoreEvent
from amlwizard.core.facts import Facts
from amlwizard.core.host import host_facts
from amlwizard.core.remarks import tell_unknown_settings
from amlwizard.core.store.needs import find_needs
from amlwizard.core.store.pruning import PruneStore, refuse_unknown
from amlwizard.core.store.report import store_content, store_end
from amlwizard.core.store.survey import survey
from amlwizard.core.wish import read_wish

if TYPE_CHECKING:
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.session import Session
    from amlwizard.core.store.pruning import Freed
    from amlwizard.core.store.survey import Survey


async def store(session: Session) -> FinishedEvent:
    """Tell what the store holds and lacks; only ``choices.prune`` changes anything.

    Raises:
        AmlError: there is no workspace (``AML_NO_WORKSPACE``), another run holds it, nothing tells what is needed, or
            something cannot be removed.
    """
    tell_unknown_settings(session)
    workspace = session.workspace
    if not await asyncio.to_thread(workspace.runtime.is_dir):
        raise RefusedError("AML_NO_WORKSPACE", root=str(workspace.root))
    freed = None
    if session.choices.prune:
        await session.hold("store", replaces=False, frees=True)
    else:
        await session.end_dead_runs("store")
    await session.tell_damaged_records()
    found = await _look(session)
    if session.choices.prune:
        freed = await _prune(session, found)
        found = await _look(session)
    session.emit(StoreEvent(store_content(workspace, found, freed)))
    end = await asyncio.to_thread(store_end, workspace, found, freed, session.language)  # it looks at the environment
    return session.ended(end, RunState.DONE)


async def _prune(session: Session, found: Survey) -> Freed:
    refuse_unknown(found)
    wish = await read_wish(replace(session.choices, accelerator=None), from_lock=True)
    state = await asyncio.to_thread(inspect_environment, session.workspace, None)
    prune = PruneStore(found)
    await session.run_step(session.context(wish, Facts(host_facts(), (), None, None, state)), prune)
    return prune.freed


async def _look(session: Session) -> Survey:
    """Look at the store; the workspace's interpreters are asked first, as only they can tell what of a lock is theirs."""
    workspace = session.workspace
    host = await asyncio.to_thread(host_facts)
    pythons = await workspace_pythons(workspace, session.runner, await session.probe_environment(), host)
    needs = await asyncio.to_thread(find_needs, workspace, pythons, host)
    return await run_stoppable(lambda stopped: survey(workspace, needs, stopped))
