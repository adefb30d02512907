"""A newer patch of the Python that the environment stands on: what there is, and setting it up beside the old one.

The old one stays untouched until nothing refers to it: the environment in use stands on it until the exchange, and
``undo`` leads back to it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.version import Version

from amlwizard.core.detection.bundled import uv_at_hand
from amlwizard.core.detection.known import first_start
from amlwizard.core.environment.relink import point_minor_link
from amlwizard.core.environment.removal import is_link, remove_tree
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.facts import minor_of
from amlwizard.core.interpreters import origins
from amlwizard.core.lock import lock_text, own_table, read_lock
from amlwizard.core.plan import PYTHON_BYTES, PYTHON_DOWNLOAD_BYTES, planned
from amlwizard.core.plan_hosts import distinct_hosts
from amlwizard.core.python_install import (
    PythonArchive,
    find_archive,
    install_archive,
    installed_python,
    kept_archive,
    of_archive,
)
from amlwizard.core.records import write_text_atomically
from amlwizard.core.steps import Step
from amlwizard.core.urls import is_remote
from amlwizard.core.wish import lock_in_use, recorded_in

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.events import PlanEvent
    from amlwizard.core.paths import Workspace


@dataclass(frozen=True)
class PythonUpdate:
    """A newer patch; ``installed`` is its program where the workspace has it already, ``size`` what is to be fetched."""

    before: str
    archive: PythonArchive
    installed: Path | None
    size: int

    @property
    def after(self) -> str:
        """Return its version."""
        return str(self.archive.version)


async def find_python_update(run: RunContext) -> PythonUpdate | None:
    """Return the newest patch of the environment's Python that can be had, None where it has that one; writes nothing.

    Raises:
        AmlError: ``AML_UPDATE_*`` where there is nothing to update or to update from, or why the list cannot be had.
    """
    workspace, present = run.workspace, run.facts.interpreter
    if present is None:
        raise RefusedError("AML_UPDATE_NO_ENVIRONMENT", root=str(workspace.root))
    program = await asyncio.to_thread(present.executable.resolve)
    if not program.is_relative_to(await asyncio.to_thread(workspace.interpreters.resolve)):
        raise RefusedError("AML_UPDATE_PYTHON_FOREIGN", version=present.version_text, path=str(program))
    found = await _newest_archive(run, present.minor)
    before = Version(present.version_text)
    if found is None or found.version <= before:
        if run.choices.offline:
            raise RefusedError("AML_UPDATE_OFFLINE", name="Python", version=str(before))
        return None
    installed = await asyncio.to_thread(installed_python, workspace, found.version)
    size = 0
    if installed is None and not found.url.startswith("file:"):
        (told,) = await run.fetcher.sizes([found.url])
        size = PYTHON_DOWNLOAD_BYTES if told is None else told
    return PythonUpdate(str(before), found, installed, size)


async def _newest_archive(run: RunContext, minor: str) -> PythonArchive | None:
    """Return the newest archive of a minor version; without a network one that lies on this computer."""
    kept = await asyncio.to_thread(kept_archive, run.workspace, minor, run.facts.host)
    if run.choices.offline and is_remote(run.choices.python_downloads_json or ""):
        return kept
    try:
        offered = await find_archive(replace(run, uv=uv_at_hand(run.facts)), minor)
    except AmlError as error:
        raise of_archive(error, minor) from error
    if offered is None or (run.choices.offline and not offered.url.startswith("file:")):
        return kept
    return kept if kept is not None and kept.version >= offered.version else offered


def with_python(plan: PlanEvent, update: PythonUpdate, run: RunContext) -> PlanEvent:
    """Return the plan of a rebuild with the interpreter that comes first."""
    more = 0 if update.installed is not None else update.size + PYTHON_BYTES
    first = () if any(step.id == "install_python" for step in plan.steps) else planned(["install_python"], run.language)
    own = sum(step.id == "install_uv" for step in plan.steps)
    return replace(
        plan,
        steps=(*plan.steps[:own], *first, *plan.steps[own:]),
        download_bytes=None if plan.download_bytes is None else plan.download_bytes + update.size,
        disk_bytes=None if plan.disk_bytes is None else plan.disk_bytes + more,
        hosts=tuple(dict.fromkeys([*plan.hosts, *(distinct_hosts([update.archive.url]) if update.size else ())])),
        writes=(*plan.writes, str(run.workspace.interpreters)),
    )


class UpdatePython(Step):
    """The newer interpreter, beside the one that the environment stands on."""

    id = "install_python"

    def __init__(self, update: PythonUpdate) -> None:
        self._update = update

    async def run(self, run: RunContext) -> None:
        """Set it up and start it once; one that was set up here and does not start is removed again.

        Raises:
            AmlError: as ``install_python``, or why it does not start.
        """
        update = self._update
        try:
            program = update.installed or await install_archive(run, update.archive)
        except AmlError as error:
            raise of_archive(error, update.after) from error
        try:
            run.python = await first_start(run.runner, program, run.child_environment(), run.facts.host, update.after)
        except AmlError:
            if update.installed is None:
                folder = run.workspace.interpreters / program.relative_to(run.workspace.interpreters).parts[0]
                with suppress(OSError):  # what it did instead is what is told
                    await run_whole(_remove, run.workspace, folder)
            raise


def note_python(workspace: Workspace, version: str) -> Path:
    """Write the lock of the next environment: the one in use, with another patch of its Python. Blocks for a moment."""
    lock = read_lock(lock_in_use(workspace))
    about = {**own_table(lock), "python": version}
    write_text_atomically(workspace.next_lock, lock_text(replace(lock, tool={**(lock.tool or {}), "amlwizard": about})))
    return workspace.next_lock


def remove_unused_patches(workspace: Workspace, present: str) -> None:
    """Remove the interpreters of a minor version that neither the environment nor the lock before refers to. Blocks.

    Only what this program set up is removed; a link that led there leads to the environment's own then.
    """
    recorded = (recorded_in(path) for path in (workspace.lock, workspace.previous_lock))
    needed = {present, *(str(lock.get("python")) for lock in recorded)}
    own = installed_python(workspace, Version(present))
    minor = minor_of(present)
    for origin in origins(workspace).values():
        folder = workspace.interpreters / origin.name
        if own is None or origin.minor != minor or origin.version in needed or is_link(folder):
            continue
        with suppress(OSError):  # a program may still run from there; the next update tries again
            for link in filter(is_link, workspace.interpreters.iterdir()):
                if link.resolve() == folder.resolve():
                    point_minor_link(link, workspace.interpreters / own.relative_to(workspace.interpreters).parts[0])
            _remove(workspace, folder)


def _remove(workspace: Workspace, interpreter: Path) -> None:
    """Remove an interpreter as a whole; on Windows one in use would lose all but the files that are open.

    Raises:
        OSError: it is in use, and whole.
    """
    beside = workspace.interpreters_beside
    remove_tree(beside)  # what a run left that died
    beside.parent.mkdir(exist_ok=True)
    interpreter.rename(beside)
    remove_tree(beside)
