"""Looks at everything that a report tells, all at once, each part within its limit; nothing in the workspace is changed."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.detection.known import workspace_pythons
from amlwizard.core.diagnose.computer import disks, network, system_label
from amlwizard.core.diagnose.findings import Findings, Holders
from amlwizard.core.diagnose.limits import limited, limited_in_thread
from amlwizard.core.diagnose.log_files import last_runs
from amlwizard.core.diagnose.reaching import reach_all
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.errors import RefusedError
from amlwizard.core.facts import EnvironmentFacts, Facts
from amlwizard.core.host import host_facts
from amlwizard.core.looking import look
from amlwizard.core.paths import Workspace
from amlwizard.core.records import utc_now
from amlwizard.core.runs.look import detect
from amlwizard.core.store.needs import find_needs
from amlwizard.core.store.report import store_content
from amlwizard.core.store.survey import survey
from amlwizard.core.workspace_lock import run_holder, use_holders

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.diagnose.computer import Network
    from amlwizard.core.diagnose.request import Request
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.preflight import Reached
    from amlwizard.core.session import Session

    OpenSession = Callable[[Choices], AbstractAsyncContextManager[Session]]
    MakeFetcher = Callable[[Choices], Fetcher]

DISK_SECONDS: Final = 20.0
PROBING_SECONDS: Final = 60.0
"""Longer than a probe's own limit: an interpreter that hangs becomes a row, and does not cost the others."""
REACHING_SECONDS: Final = 30.0
"""Longer than the limit for all hosts together, which are asked once detection is over."""


async def look_at_all(
    request: Request,
    folder: Path | None,
    open_session: OpenSession,
    make_fetcher: MakeFetcher,
    refuse: Callable[[RefusedError], None],
) -> Findings:
    """Return everything that was found.

    Args:
        request: what is asked for.
        folder: where a report is to lie, if it becomes a file.
        open_session: opens a session for choices.
        make_fetcher: makes a fetcher for choices.
        refuse: is told what of the choices cannot be used; the look goes on without them.
    """
    workspace = Workspace(request.choices.root)

    async def facts() -> Facts:
        try:
            async with open_session(request.choices) as session:
                return await detect(session)
        except RefusedError as error:
            refuse(error)
        except OSError:  # the workspace cannot be read, which other parts tell
            pass
        async with open_session(request.plain_choices) as session:
            return await look(session, None)

    async def store() -> dict[str, Any]:
        async with open_session(request.plain_choices) as session:
            return await _store(session)

    def usable() -> tuple[Choices, Fetcher]:
        try:
            return request.choices, make_fetcher(request.choices)
        except RefusedError as error:
            refuse(error)
        return request.plain_choices, make_fetcher(request.plain_choices)

    def ways() -> Network:
        choices, fetcher = usable()
        return network(choices, fetcher, workspace)

    async def reached() -> list[Reached]:
        choices, fetcher = await asyncio.to_thread(usable)
        nothing = Facts(await asyncio.to_thread(host_facts), (), None, None, EnvironmentFacts("absent"))
        known = (await found).value or nothing
        with_default = not request.refusals and choices is request.choices
        return await reach_all(choices, known, open_session, fetcher, with_default=with_default)

    async with asyncio.TaskGroup() as group:
        start = group.create_task
        host = start(limited_in_thread("host", DISK_SECONDS, host_facts))
        found = start(limited("detection", PROBING_SECONDS, facts()))
        environment = start(limited_in_thread("environment", DISK_SECONDS, lambda: inspect_environment(workspace, None)))
        runs = start(limited_in_thread("logs", DISK_SECONDS, lambda: last_runs(workspace)))
        holders = start(limited_in_thread("holders", DISK_SECONDS, lambda: _holders(workspace)))
        places = start(limited_in_thread("disks", DISK_SECONDS, lambda: disks(workspace, folder)))
        way = start(limited_in_thread("network", DISK_SECONDS, ways))
        reachable = start(limited("reached", PROBING_SECONDS + REACHING_SECONDS, reached()))
        stored = start(limited("store", PROBING_SECONDS, store()))
    return Findings(
        taken=utc_now(),
        request=request,
        system=system_label(),
        host=host.result(),
        facts=found.result(),
        environment=environment.result(),
        runs=runs.result(),
        holders=holders.result(),
        disks=places.result(),
        network=way.result(),
        reached=reachable.result(),
        store=stored.result(),
    )


def _holders(workspace: Workspace) -> Holders:
    return Holders(run_holder(workspace), tuple(use_holders(workspace)))


async def _store(session: Session) -> dict[str, Any]:
    """Return what the store holds and lacks; empty where there is none. Its time being over ends the counting."""
    workspace = session.workspace
    if not await asyncio.to_thread(workspace.runtime.is_dir):
        return {}
    host = await asyncio.to_thread(host_facts)
    pythons = await workspace_pythons(workspace, session.runner, await session.probe_environment(), host)
    needs = await asyncio.to_thread(find_needs, workspace, pythons, host)
    stopped = Event()
    try:
        return store_content(workspace, await asyncio.to_thread(survey, workspace, needs, stopped), None)
    finally:
        stopped.set()
