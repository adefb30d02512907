"""Looking at the store as a part of a run: the interpreters of the workspace are asked first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amlwizard.core.bundle.moving import Moving, in_thread
from amlwizard.core.detection.known import workspace_pythons
from amlwizard.core.errors import RefusedError
from amlwizard.core.host import host_facts
from amlwizard.core.store.needs import find_needs
from amlwizard.core.store.survey import survey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.paths import Workspace
    from amlwizard.core.running import Runner
    from amlwizard.core.store.survey import Survey


def refuse_absent(workspace: Workspace) -> None:
    """Make sure that there is a workspace to look at.

    Raises:
        RefusedError: ``AML_NO_WORKSPACE``.
    """
    if not workspace.runtime.is_dir():
        raise RefusedError("AML_NO_WORKSPACE", root=str(workspace.root))


async def look_at_store(workspace: Workspace, runner: Runner, env: Mapping[str, str]) -> Survey:
    """Return what the store holds and lacks; nothing is written.

    Args:
        workspace: the workspace.
        runner: starts its interpreters, which alone can tell what of a lock is for them.
        env: the environment for that.
    """
    host = await asyncio.to_thread(host_facts)
    pythons = await workspace_pythons(workspace, runner, env, host)
    needs = await asyncio.to_thread(find_needs, workspace, pythons, host)
    return await in_thread(lambda moving: survey(workspace, needs, moving), Moving(), lambda _now: None)
