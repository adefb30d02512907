"""Frees what nothing needs of the store, and nothing that amlwizard did not put there."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from amlwizard.core.catalogue import error_texts, text
from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.environment.removal import is_link, remove_tree
from amlwizard.core.environment.threads import run_stoppable
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.interpreters import forget_origins
from amlwizard.core.lock import FileKind
from amlwizard.core.moving import Moving, in_thread
from amlwizard.core.steps import Step
from amlwizard.core.store.ledger import forget_files
from amlwizard.core.store.survey import cache_use, whole_name
from amlwizard.core.uv_install import is_changed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace
    from amlwizard.core.store.survey import CacheUse, Held, Survey


@dataclass
class Freed:
    """What was freed, in bytes; ``stuck`` could not be removed."""

    files: int = 0
    bytes: int = 0
    cache_bytes: int = 0
    stuck: list[Path] = field(default_factory=list)


def refuse_unknown(found: Survey) -> None:
    """Make sure that it is known what is needed, as everything else is freed.

    Raises:
        RefusedError: there is no lock (``AML_STORE_NO_LOCK``), or one that cannot be read (``AML_STORE_LOCK_UNREADABLE``).
    """
    unreadable = found.unreadable
    if unreadable is not None:
        raise RefusedError("AML_STORE_LOCK_UNREADABLE", file=str(unreadable.path), cause=unreadable.error)
    if not found.has_lock:
        raise RefusedError("AML_STORE_NO_LOCK")


class PruneStore(Step):
    """What nothing needs of the store."""

    id = "prune"

    def __init__(self, found: Survey) -> None:
        self._found = found
        self.freed = Freed()

    async def run(self, run: RunContext) -> None:
        """Remove it; what was removed before a cancel stays removed.

        Raises:
            AmlError: ``AML_STORE_STUCK`` names what cannot be removed.
        """
        freeable = self._found.freeable
        moving = Moving(sum(held.size for held in freeable))

        def show(now: Moving) -> None:
            run.runner.touch()
            run.progress(now.done, now.total, "bytes", subject=now.subject)

        await in_thread(lambda moved: free_files(run.workspace, freeable, self.freed, moved), moving, show)
        await self._shrink_cache(run)
        if self.freed.stuck:
            raise AmlError("AML_STORE_STUCK", paths=", ".join(map(str, self.freed.stuck)))

    async def _shrink_cache(self, run: RunContext) -> None:
        """Let uv drop what it no longer needs, and what belongs to packages that were freed.

        Packages come back into the cache from the wheels of the store. What the next build of a source would fetch is
        nowhere else, so that nothing is dropped by name where something may have to be built.
        """
        private = run.workspace.uv
        sound = private.is_file() and not await asyncio.to_thread(is_changed, run.workspace)
        run.uv = private if sound else find_bundled_uv()
        if run.uv is None or is_link(run.workspace.cache) or not run.workspace.cache.is_dir():
            return
        names = [] if _may_build(self._found) else _package_names(self._found)
        uv = run.uv_cli()
        commands = [*([uv.cache_clean(names)] if names else []), uv.cache_prune()]
        try:
            for argv in commands:
                result = await run.run_tool(argv, variables=run.uv_variables())
                if result.code != 0:
                    raise run.failure(result, otherwise="AML_STORE_CACHE")
        except AmlError as error:  # it is only a cache
            run.log(text("store.cache_kept", run.language, cause=error_texts(error, run.language)[0]))
        after = await run_stoppable(lambda stopped: cache_use(run.workspace, stopped))
        self.freed.cache_bytes = max(0, _own_bytes(self._found.cache) - _own_bytes(after))


def free_files(workspace: Workspace, freeable: Sequence[Held], freed: Freed, moving: Moving) -> None:
    """Remove files and folders of the store and take them off our records. Blocks; ``moving`` can stop it."""
    gone: list[str] = []
    try:
        for held in freeable:
            moving.subject = held.path.name
            if _remove(held):
                gone.append(held.path.name)
                freed.files += 1
                freed.bytes += held.size
            else:
                freed.stuck.append(held.path)
            moving.advance(held.size)
    finally:
        with suppress(OSError):  # they name files that are not there, which does no harm
            wholes = {whole_name(name) for name in gone}
            forget_files(workspace, [name for name in wholes if not (workspace.downloads / name).exists()])
            forget_origins(workspace, gone)


def _remove(held: Held) -> bool:
    try:
        if held.folder:
            return not is_link(held.path) and remove_tree(held.path)
        held.path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _may_build(found: Survey) -> bool:
    """Tell whether a source may have to be built: a local folder that changes, or one of which there is no wheel yet."""
    files = (file for lock in found.needs.locks for choices in lock.kept for file in choices)
    return any(file.kind is FileKind.DIRECTORY for file in files) or any(lack.build for lack in found.lacks)


def _package_names(found: Survey) -> list[str]:
    """Return the normalised names of packages of which a wheel is freed."""
    freeable = {held.path for held in found.freeable}
    names = {canonicalize_name(path.name.split("-")[0]) for path in freeable if path.suffix == ".whl"}
    return sorted(names | {canonicalize_name(each.wheel.name) for each in found.built if each.wheel.folder in freeable})


def _own_bytes(cache: CacheUse) -> int:
    return cache.bytes - cache.shared_bytes
