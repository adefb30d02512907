"""Further packages, or fewer: what ``add`` and ``remove`` do with the wish that the lock tells."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.requirements import Requirement

from amlwizard.core.added_lines import addition, label, name_of
from amlwizard.core.environment.by_hand import find_by_hand
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.errors import AmlError, RefusedError, hinting_at
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

_TOLD_AS_IT_IS: Final = frozenset({"AML_PACKAGE_NOT_FOUND", "AML_NO_SUCH_VERSION", "AML_INDEX_UNAUTHORIZED"})
"""Causes that have nothing to do with the packages that are there."""


async def change(session: Session) -> FinishedEvent:
    """Build the environment with ``choices.add`` besides, or without ``choices.remove``; the lock remembers both.

    Everything else keeps its version.

    Raises:
        AmlError: ``AML_ADD_*`` or ``AML_REMOVE_*``, or what stood in the way.
    """
    with hinting_at("rebuild"):
        return await _change(session)


async def _change(session: Session) -> FinishedEvent:
    workspace, choices = session.workspace, session.choices
    wanted = [addition(line) for line in choices.add]
    leaving = frozenset(name_of(addition(line)) for line in choices.remove)
    await asyncio.to_thread(refuse_while_run, workspace)
    await asyncio.to_thread(refuse_without_lock, workspace)
    wish = await read_wish(choices, from_lock=True)
    gone = await asyncio.to_thread(_leaving_lines, workspace, wish, leaving)
    lines = await asyncio.to_thread(_lacking, workspace, wish, wanted)
    if wanted and not lines and (await asyncio.to_thread(inspect_environment, workspace, None)).ready:
        return await session.success("AML_ADD_PRESENT", RunState.READY, names=", ".join(wanted))
    kept = {name_of(line): line for line in (*wish.added, *lines) if line not in gone}
    wish = replace(wish, leaves=leaving, added=tuple(kept[name] for name in sorted(kept)))
    try:
        return await build_wished(session, wish, "rebuild")
    except AmlError as error:
        if not lines or error.code not in {"AML_ADDED_CONFLICT", "AML_ADDED_OFFLINE"}:
            raise
        cause = error.__cause__
        if error.code == "AML_ADDED_CONFLICT" and isinstance(cause, AmlError) and cause.code in _TOLD_AS_IT_IS:
            raise cause from None
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


def _leaving_lines(workspace: Workspace, wish: Wish, leaving: frozenset[str]) -> set[str]:
    """Return the additions that stand for what is to go; what the requirements bring would come back with the next lock.

    Raises:
        RefusedError: ``AML_REMOVE_REQUIRED`` or ``AML_REMOVE_UNKNOWN``.
    """
    if not leaving:
        return set()
    versions, _ = _locked(workspace)
    editable = _editable_lines(workspace)
    lines = {editable.get(line, name_of(line)): line for line in wish.added}
    by_hand = {package.name for package in find_by_hand(workspace)}
    for name in sorted(leaving - lines.keys() - by_hand):
        code = "AML_REMOVE_REQUIRED" if name in versions else "AML_REMOVE_UNKNOWN"
        raise RefusedError(code, package=name, name=wish.name, root=str(workspace.root))
    return {line for name, line in lines.items() if name in leaving}


def _editable_lines(workspace: Workspace) -> dict[str, str]:
    """Return the names of the editable folders of the lock in use, by the lines that add them."""
    path = lock_in_use(workspace)
    lock = readable_lock(path)
    packages = lock.packages if lock is not None else []
    return {
        f"-e {Path(os.path.normpath(path.parent / package.directory.path)).as_uri()}": package.name
        for package in packages
        if package.directory is not None and package.directory.editable
    }
