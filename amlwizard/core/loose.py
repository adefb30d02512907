"""What becomes of the files that the user put into an environment without a package: none is lost where it is replaced."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeVar

from amlwizard.core.catalogue import text
from amlwizard.core.environment.commit import has_build
from amlwizard.core.environment.loose_files import (
    copy_loose_files,
    find_loose_files,
    place_in,
    set_loose_files_aside,
)
from amlwizard.core.environment.removal import is_link, remove_tree
from amlwizard.core.environment.state import PACKAGES_MISSING
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import LogEvent
from amlwizard.core.journal import Action
from amlwizard.core.moving import Moving, in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.environment.findings import Finding

T = TypeVar("T")

_NAMED: Final = 40
"""How many files are named in a line."""


async def refuse_without_place(run: RunContext) -> None:
    """Make sure that there can be a folder for files that the new environment does not have, where there are any.

    Raises:
        RefusedError: something else lies in its place (``AML_FOLDER_IS_FILE``, ``AML_FOLDER_NO_ENTRY``).
    """
    refusal = await asyncio.to_thread(_place_refusal, run.workspace.set_aside)
    if refusal is not None and (await _work(run, lambda moving: find_loose_files(run.workspace.venv, moving))).paths:
        raise refusal


def refuse_place(place: Path) -> None:
    """Do the same where there is something to set aside. Blocks for a moment.

    Raises:
        RefusedError: as ``refuse_without_place``.
    """
    refusal = _place_refusal(place)
    if refusal is not None:
        raise refusal


def _place_refusal(place: Path) -> RefusedError | None:
    if not os.path.lexists(place):
        return None
    if not place.is_dir():
        return RefusedError("AML_FOLDER_IS_FILE", path=str(place))
    return None if os.access(place, os.W_OK | os.X_OK) else RefusedError("AML_FOLDER_NO_ENTRY", path=str(place))


async def take_loose_files(run: RunContext) -> None:
    """Take them into the environment that was built, or leave them to ``set_aside``, as was chosen for packages."""
    old, new = _environments(run)

    def take(moving: Moving) -> list[Path]:
        found = find_loose_files(old, moving)
        clear = {path for path in found.paths if not os.path.lexists(place_in(new, path, old))}
        # the files of a package whose list is gone look like the user's, and the new environment has them again
        certain = found.certain and run.facts.environment.reason != PACKAGES_MISSING
        run.loose = [path for path in found.paths if certain or path in clear]
        if not run.choices.keep_added:
            return []
        kept = [path for path in found.paths if path in clear]
        copy_loose_files(kept, old, new, moving)
        run.loose = [path for path in run.loose if path not in clear]
        return kept

    _tell(run, "added.files_kept", await _work(run, take))


async def leave_out(run: RunContext, found: Sequence[Finding]) -> None:
    """Take files that keep Python from starting out of the new environment, and name them; they are to be set aside."""
    old, new = _environments(run)

    def remove() -> None:
        for finding in found:
            path = new / finding.loose
            if os.path.lexists(origin := place_in(old, path, new)):
                run.loose.append(origin)
            if path.is_dir() and not is_link(path):
                remove_tree(path)
            else:
                path.unlink()

    await run_whole(remove)
    for finding in found:
        run.emit(LogEvent(run.step, finding.in_words(run.language), remark=True))


async def set_aside(run: RunContext) -> Path | None:
    """Take what the new environment does not have to a place of its own, before the old one goes; return that.

    A failure or a cancel leaves nothing of it.
    """
    if not run.loose or run.journal is None:
        return None
    folder = run.workspace.set_aside / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}-{run.journal.build[:4]}"
    old = _environments(run)[0]
    try:
        await _work(run, lambda moving: set_loose_files_aside(run.loose, old, folder, moving))
    except BaseException:
        await take_back(run, folder)
        raise
    return folder


def tell_set_aside(run: RunContext, folder: Path | None) -> None:
    """Name what was set aside, now that it is nowhere else."""
    _tell(run, "added.files_aside", run.loose, folder=str(folder))


async def take_back(run: RunContext, folder: Path | None) -> None:
    """Remove what was set aside in vain: the old environment, which is in place or comes back, still has all of it."""

    def remove() -> None:
        if folder is None or run.journal is None or has_build(run.workspace.venv, run.journal.build):
            return
        remove_tree(folder)
        with suppress(OSError):  # something else is in it
            folder.parent.rmdir()

    await run_whole(remove)


async def _work(run: RunContext, work: Callable[[Moving], T]) -> T:
    """Do something in a thread that a cancel stops."""
    return await in_thread(work, Moving(), lambda _: run.runner.touch())


def _environments(run: RunContext) -> tuple[Path, Path]:
    """Return where the old environment and the new one are, before either is put anywhere else."""
    workspace = run.workspace
    in_place = run.journal is not None and run.journal.action is Action.IN_PLACE
    return (workspace.aside, workspace.venv) if in_place else (workspace.venv, workspace.staged)


def _tell(run: RunContext, key: str, paths: Sequence[Path], **more: str) -> None:
    if paths:
        names = [path.name for path in paths[:_NAMED]]
        files = ", ".join(names if len(paths) <= _NAMED else [*names, "…"])
        run.emit(LogEvent(run.step, text(key, run.language, files=files, **more), remark=True))
