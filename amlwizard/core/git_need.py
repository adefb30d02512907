"""Whether git is there where a wish needs it; told before anything is downloaded."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.markers import Marker
from packaging.pylock import Pylock

from amlwizard.core.built_store import find_built
from amlwizard.core.detection import apple
from amlwizard.core.detection.probing import ask
from amlwizard.core.errors import RefusedError
from amlwizard.core.lock import FileKind, readable_lock
from amlwizard.core.resolving import is_current
from amlwizard.core.running import Exited
from amlwizard.core.storing import wanted_files

if TYPE_CHECKING:
    from amlwizard.core.context import RunContext


async def refuse_without_git(run: RunContext, system_root: Path = Path("/")) -> None:
    """Refuse a wish that git has to fetch something for, where there is no git; what was built before needs none.

    Args:
        run: the run, which knows what was found.
        system_root: where ``usr/bin`` is.

    Raises:
        RefusedError: ``AML_GIT_MISSING`` with the package.
    """
    run.python = run.python or run.facts.interpreter
    package = await asyncio.to_thread(_needs_git, run)
    if package is not None and not await _has_git(run, system_root):
        raise RefusedError("AML_GIT_MISSING", package=package)


def _needs_git(run: RunContext) -> str | None:
    """Return the first package that git has to fetch, or None."""
    content = run.wish.content
    lock = content if isinstance(content, Pylock) else readable_lock(run.workspace.lock)
    known = run.python is not None and lock is not None and not run.choices.refresh
    if lock is not None and (lock is content or (known and is_current(run, lock))):
        if run.python is None or all(package.vcs is None for package in lock.packages):
            return next((package.name for package in lock.packages if package.vcs is not None), None)
        of_git = [file for file in wanted_files(run, lock).files if file.kind is FileKind.VCS]
        return next((file.name for file in of_git if find_built(run.workspace, file, run.python) is None), None)
    if isinstance(content, Pylock):
        return None
    return next((entry.name or entry.text for entry in content.needs_git if _applies(run, entry.marker)), None)


def _applies(run: RunContext, marker: str) -> bool:
    if not marker or run.python is None:
        return True
    version = run.python.version_text
    return Marker(marker).evaluate({"python_full_version": version, "python_version": run.python.minor})


async def _has_git(run: RunContext, system_root: Path) -> bool:
    found = shutil.which("git", path=run.parent_environment.get("PATH"))
    if found is None:
        return False
    if not apple.may_be_placeholder(run.facts.host.system, Path(found), system_root / apple.SYSTEM_FOLDER):
        return True
    argv = (str(system_root / apple.XCODE_SELECT), "-p")
    return (await ask(run.runner, argv, run.child_environment())).outcome == Exited(0)
