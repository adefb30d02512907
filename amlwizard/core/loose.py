"""What becomes of the files that the user put into an environment without a package: none is lost where it is replaced."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from amlwizard.core.catalogue import text
from amlwizard.core.environment.loose_files import (
    copy_loose_files,
    find_loose_files,
    place_in,
    set_loose_files_aside,
)
from amlwizard.core.environment.state import PACKAGES_MISSING
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.events import LogEvent
from amlwizard.core.journal import Action

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext


async def take_loose_files(run: RunContext) -> None:
    """Take them into the environment that was built, or leave them to ``set_aside``, as was chosen for packages."""
    old, new = _environments(run)
    found = await run_whole(find_loose_files, old)
    clear = [path for path in found.paths if not os.path.lexists(place_in(new, path, old))]
    # the files of a package whose list is gone look like the user's, and the new environment has them again
    certain = found.certain and run.facts.environment.reason != PACKAGES_MISSING
    run.loose = [path for path in found.paths if certain or path in clear]
    if run.choices.keep_added:
        await run_whole(copy_loose_files, clear, old, new)
        _tell(run, "added.files_kept", clear)
        run.loose = [path for path in run.loose if path not in clear]


async def set_aside(run: RunContext) -> None:
    """Take what the new environment does not have to a place of its own, before the old one goes."""
    if not run.loose or run.journal is None:
        return
    folder = run.workspace.set_aside / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}-{run.journal.build[:4]}"
    await run_whole(set_loose_files_aside, run.loose, _environments(run)[0], folder)
    _tell(run, "added.files_aside", run.loose, folder=str(folder))


def _environments(run: RunContext) -> tuple[Path, Path]:
    """Return where the old environment and the new one are, before either is put anywhere else."""
    workspace = run.workspace
    in_place = run.journal is not None and run.journal.action is Action.IN_PLACE
    return (workspace.aside, workspace.venv) if in_place else (workspace.venv, workspace.staged)


def _tell(run: RunContext, key: str, paths: Sequence[Path], **more: str) -> None:
    if paths:
        files = ", ".join(path.name for path in paths)
        run.emit(LogEvent(run.step, text(key, run.language, files=files, **more), remark=True))
