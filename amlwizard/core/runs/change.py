"""Further packages, or fewer: what ``add`` and ``remove`` do with the wish that the lock tells."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from amlwizard.core.added_lines import addition, label, name_of
from amlwizard.core.environment.by_hand import find_by_hand
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.events import RunState
from amlwizard.core.extended_lock import added_names
from amlwizard.core.lock import readable_lock
from amlwizard.core.runs.building import build_wished
from amlwizard.core.wish import lock_in_use, read_wish, refuse_without_lock
from amlwizard.core.workspace_lock import refuse_while_run

if TYPE_CHECKING:
    from packaging.version import Version

    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.paths import Workspace
    from amlwizard.core.session import Session
    from amlwizard.core.wish import Wish


async def change(session: Session) -> FinishedEvent:
    """Build the environment with ``choices.add`` besides, or without ``choices.remove``; the lock remembers both.

    Everything else keeps its version.

    Raises:
        AmlError: ``AML_ADD_*`` or ``AML_REMOVE_*``, or what stood in the way.
    """
    workspace, choices = session.workspace, session.choices
    wanted = [addition(line) for line in choices.add]
    leaving = frozenset(name_of(addition(line)) for line in choices.remove)
    await asyncio.to_thread(refuse_while_run, workspace)
    await asyncio.to_thread(refuse_without_lock, workspace)
    wish = await read_wish(choices, from_lock=True)
    await asyncio.to_thread(_refuse_to_remove, workspace, wish, leaving)
    lines = await asyncio.to_thread(_lacking, workspace, wish, wanted)
    if wanted and not lines:
        return await session.success("AML_ADD_PRESENT", RunState.READY)
    kept = {name_of(line): line for line in (*wish.added, *lines)}
    wish = replace(wish, leaves=leaving, added=tuple(kept[name] for name in sorted(kept.keys() - leaving)))
    try:
        return await build_wished(session, wish, "rebuild")
    except AmlError as error:
        if not lines or error.code not in {"AML_ADDED_CONFLICT", "AML_ADDED_OFFLINE"}:
            raise
        code = "AML_ADD_CONFLICT" if error.code == "AML_ADDED_CONFLICT" else "AML_ADD_OFFLINE"
        packages = ", ".join(map(label, lines))
        raise AmlError(code, detail=error.detail, packages=packages, cause=error.arguments["cause"]) from error


def _locked(workspace: Workspace) -> tuple[dict[str, Version | None], set[str]]:
    """Return the versions of the lock in use, and the names of what came with additions."""
    lock = readable_lock(lock_in_use(workspace))
    if lock is None:
        return {}, set()
    return {package.name: package.version for package in lock.packages}, added_names(lock)


def _lacking(workspace: Workspace, wish: Wish, wanted: list[str]) -> list[str]:
    """Return the additions that the environment in use does not have yet.

    Raises:
        RefusedError: ``AML_ADD_OTHER_VERSION``; the requirements have that package, and in another version.
    """
    versions, came_with = _locked(workspace)
    lines = []
    for line in wanted:
        requirement = Requirement(line)
        version = versions.get(requirement.name)
        if line in wish.added:
            continue
        if version is not None and requirement.url is None and not requirement.extras:
            if requirement.specifier.contains(version, prereleases=True):
                continue
            if requirement.name not in came_with:
                raise RefusedError("AML_ADD_OTHER_VERSION", package=line, version=str(version), name=wish.name)
        lines.append(line)
    return lines


def _refuse_to_remove(workspace: Workspace, wish: Wish, leaving: frozenset[str]) -> None:
    """Make sure that what is to go was added: what the requirements bring would come back with the next lock.

    Raises:
        RefusedError: ``AML_REMOVE_REQUIRED`` or ``AML_REMOVE_UNKNOWN``.
    """
    if not leaving:
        return
    versions, _ = _locked(workspace)
    added = {name_of(line) for line in wish.added} | {package.name for package in find_by_hand(workspace)}
    for name in sorted(leaving - added):
        code = "AML_REMOVE_REQUIRED" if name in versions else "AML_REMOVE_UNKNOWN"
        raise RefusedError(code, package=name, name=wish.name, root=str(workspace.root))
