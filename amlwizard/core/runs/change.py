"""Further packages, or fewer: what ``add`` and ``remove`` do with the wish that the lock tells."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from amlwizard.core.added_lines import addition, label, name_of
from amlwizard.core.catalogue import text
from amlwizard.core.environment.by_hand import find_by_hand
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.errors import AmlError, RefusedError, hinting_at
from amlwizard.core.events import LogEvent, RunState
from amlwizard.core.extended_lock import added_names
from amlwizard.core.extending import OUT_OF_REACH
from amlwizard.core.facts import minor_of
from amlwizard.core.lock import readable_lock
from amlwizard.core.plain_files import exists
from amlwizard.core.runs.building import build_wished
from amlwizard.core.urls import local_path
from amlwizard.core.wish import lock_in_use, read_wish, recorded_source, refuse_without_lock
from amlwizard.core.workspace_lock import refuse_while_run

if TYPE_CHECKING:
    from packaging.version import Version

    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.paths import Workspace
    from amlwizard.core.session import Session
    from amlwizard.core.wish import Wish

_TOLD_AS_IT_IS: Final = OUT_OF_REACH | {
    "AML_INDEX_UNAUTHORIZED",
    "AML_NO_SUCH_VERSION",
    "AML_PACKAGE_NOT_FOUND",
}
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
    await asyncio.to_thread(_refuse_useless, wanted, await asyncio.to_thread(recorded_source, workspace))
    gone = await asyncio.to_thread(_leaving_lines, workspace, wish, leaving)
    await _tell_what_undo_needs(session, leaving)
    lines = await asyncio.to_thread(_lacking, workspace, wish, wanted)
    if wanted and not lines and (await asyncio.to_thread(inspect_environment, workspace, None)).ready:
        return await session.success("AML_ADD_PRESENT", RunState.READY, names=", ".join(wanted))
    kept = {name_of(line): line for line in (*wish.added, *lines) if line not in gone}
    wish = replace(wish, leaves=leaving, added=tuple(kept[name] for name in sorted(kept)))
    try:
        return await build_wished(session, wish, "rebuild")
    except AmlError as error:
        cause = error.__cause__
        if error.code not in {"AML_ADDED_CONFLICT", "AML_ADDED_OFFLINE"} or not isinstance(cause, AmlError):
            raise
        if cause.code == "AML_ADDED_FILE_GONE" or (lines and not choices.offline and cause.code in _TOLD_AS_IT_IS):
            raise cause from None
        if not lines:
            raise
        code = "AML_ADD_CONFLICT" if error.code == "AML_ADDED_CONFLICT" else "AML_ADD_OFFLINE"
        packages = ", ".join(map(label, lines))
        raise AmlError(code, detail=error.detail, packages=packages, cause=error.arguments["cause"]) from error


def _refuse_useless(wanted: list[str], recorded: dict[str, Any]) -> None:
    """Refuse what is not for this computer and its Python, or names a file or a folder that is not there.

    Raises:
        RefusedError: ``AML_ADD_NO_EFFECT`` or ``AML_ADD_FILE_MISSING``.
    """
    python = {"python_version": minor_of(recorded["python"]), "python_full_version": recorded["python"]}
    for line in wanted:
        requirement = Requirement(line)
        if requirement.marker is not None and not requirement.marker.evaluate({**python, "extra": ""}):
            raise RefusedError("AML_ADD_NO_EFFECT", package=line, python=recorded["python"])
        url = requirement.url or ""
        path = local_path(url) if url.startswith("file:") else None
        if path is not None and not exists(path):
            raise RefusedError("AML_ADD_FILE_MISSING", package=line, path=str(path))


async def _tell_what_undo_needs(session: Session, leaving: frozenset[str]) -> None:
    """Say of what leaves and was installed by pip that only a network brings it back."""
    names = await asyncio.to_thread(_not_kept, session.workspace, leaving) if leaving else []
    if names:
        packages = text("cli.separator", session.language).join(names)
        session.emit(LogEvent("", text("change.undo_needs_network", session.language, packages=packages), remark=True))


def _not_kept(workspace: Workspace, leaving: frozenset[str]) -> list[str]:
    """Return what is there by hand alone, and neither in the store nor anywhere else on this computer."""
    stored = set()
    for wheel in (*workspace.downloads.glob("*.whl"), *workspace.built.glob("*/*.whl")):
        with suppress(InvalidWheelFilename):
            name, version, *_ = parse_wheel_filename(wheel.name)
            stored.add((name, str(version)))
    found = [package for package in find_by_hand(workspace) if package.name in leaving]
    lacking = [package for package in found if (package.name, package.version) not in stored]
    return [package.name for package in lacking if not str(package.origin.get("url", "")).startswith("file:")]


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
        RefusedError: ``AML_REMOVE_REQUIRED``, ``AML_REMOVE_FIXED`` or ``AML_REMOVE_UNKNOWN``.
    """
    if not leaving:
        return set()
    versions, _ = _locked(workspace)
    editable = _editable_lines(workspace)
    lines = {editable.get(line, name_of(line)): line for line in wish.added}
    by_hand = {package.name for package in find_by_hand(workspace)}
    for name in sorted(leaving - lines.keys() - by_hand):
        code = "AML_REMOVE_REQUIRED" if name in versions else "AML_REMOVE_UNKNOWN"
        if name in versions and wish.kind != "file":
            code = "AML_REMOVE_FIXED"
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
