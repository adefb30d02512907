"""What is told about the store: as values for programs, and as the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amlwizard.core.catalogue import text
from amlwizard.core.environment.by_hand import added_packages
from amlwizard.core.errors import AmlError
from amlwizard.core.store.needs import NeededBy
from amlwizard.core.store.survey import StoreKind
from amlwizard.core.wording import added_text, size_text, subject_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.facts import AddedPackage
    from amlwizard.core.lock import LockedFile
    from amlwizard.core.paths import Workspace
    from amlwizard.core.store.needs import LockNeeds
    from amlwizard.core.store.pruning import Freed
    from amlwizard.core.store.survey import Built, Held, Lack, Survey


def store_content(workspace: Workspace, found: Survey, freed: Freed | None) -> dict[str, Any]:
    """Return a survey as plain JSON values, as docs/offline.md describes them. Sizes are in bytes."""
    root = workspace.root
    freeable = found.freeable
    return {
        "root": str(root),
        "complete": found.complete,
        "bundle": found.complete and found.needs.has_archive,
        "checked": "size",
        "kinds": [_kind_content(kind, found) for kind in StoreKind],
        "cache": {"files": found.cache.files, "bytes": found.cache.bytes, "shared_bytes": found.cache.shared_bytes},
        "locks": [_lock_content(lock, found) for lock in found.needs.locks],
        "lacking": [
            {
                "file": lack.file,
                "name": lack.name,
                "version": lack.version,
                "size": lack.size,
                "found": lack.found,
                "build": lack.build,
                "needed_by": list(lack.needed_by),
            }
            for lack in found.lacks
        ],
        "partial": [
            {"path": _name(root, held.path), "size": held.size, "total": held.total, "needed_by": list(held.needed_by)}
            for held in found.held
            if held.kind is StoreKind.PARTIAL
        ],
        "built": [_built_content(built) for built in found.built if built.wheel.was_built],
        "freeable": [{"path": _name(root, held.path), "kind": held.kind.value, "size": held.size} for held in freeable],
        "freeable_bytes": sum(held.size for held in freeable),
        "foreign": [{"path": _name(root, path), "size": size} for path, size in found.foreign],
        "freed": None if freed is None else _freed_content(root, freed),
    }


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _kind_content(kind: StoreKind, found: Survey) -> dict[str, Any]:
    def count(listed: list[Held]) -> tuple[int, int]:
        of_kind = [held for held in listed if held.kind is kind]
        return len(of_kind), sum(held.size for held in of_kind)

    files, size = count(found.held)
    spare_files, spare_size = count(found.freeable)
    return {
        "kind": kind.value,
        "files": files,
        "bytes": size,
        "freeable_files": spare_files,
        "freeable_bytes": spare_size,
    }


def _lock_content(lock: LockNeeds, found: Survey) -> dict[str, Any]:
    sizes = [_size(choices, found) for choices in lock.packages]
    return {
        "lock": lock.which.value,
        "path": str(lock.path),
        "python": lock.python,
        "packages": len(lock.packages),
        "bytes": None if None in sizes else sum(size or 0 for size in sizes),
        "lacking": sum(lock.which in lack.needed_by for lack in found.lacks),
        "error": lock.error,
    }


def _size(choices: tuple[LockedFile, ...], found: Survey) -> int | None:
    """Return the size of what is installed of a package: that of the wheel that was built of it, where one was."""
    if not choices[0].needs_build:
        kept = {held.path.name: held.size for held in found.held if held.kind is StoreKind.WHEELS}
        known = (file.size if file.size is not None else kept.get(file.filename) for file in choices)
        return next((size for size in known if size is not None), None)  # an index may tell no sizes
    return next((built.wheel.size for built in found.built if built.wheel.is_of(choices[0])), None)


def _built_content(built: Built) -> dict[str, Any]:
    wheel = built.wheel
    return {
        "name": wheel.name,
        "version": wheel.version,
        "file": wheel.file,
        "size": wheel.size,
        "python": wheel.python,
        "source": {key: value for key, value in wheel.source.items() if value is not None},
        "changed": built.changed,
        "needed_by": list(built.needed_by),
    }


def _freed_content(root: Path, freed: Freed) -> dict[str, Any]:
    return {
        "files": freed.files,
        "bytes": freed.bytes,
        "cache_bytes": freed.cache_bytes,
        "stuck": [_name(root, path) for path in freed.stuck],
    }


def _added_elsewhere(workspace: Workspace) -> list[AddedPackage]:
    """Return what was added by hand and has no wheel in the store. Blocks for a moment."""
    there = {
        subject_text(wheel.name).lower() + "-" + wheel.name.split("-")[1] for wheel in workspace.downloads.glob("*-*.whl")
    }
    return [added for added in added_packages(workspace) if f"{added.name}-{added.version}" not in there]


def store_end(workspace: Workspace, found: Survey, freed: Freed | None, language: str) -> AmlError:
    """Return how the run ended, as a code with its arguments."""
    root = str(workspace.root)
    if freed is not None:
        if not freed.files and not freed.cache_bytes:
            return AmlError("AML_STORE_NOTHING_FREED", root=root)
        size, cache = (size_text(number, language) for number in (freed.bytes + freed.cache_bytes, freed.cache_bytes))
        return AmlError("AML_STORE_FREED", root=root, size=size, count=freed.files, cache=cache)
    if unreadable := found.unreadable:
        return AmlError("AML_STORE_UNREADABLE", file=str(unreadable.path), cause=unreadable.error)
    if found.current is None:
        return AmlError("AML_STORE_UNUSED", root=root)
    lacks = found.own_lacks or found.lacks
    if not lacks:
        added = _added_elsewhere(workspace)
        if added:
            return AmlError("AML_STORE_ADDED", root=root, packages=added_text(added, language))
        return AmlError("AML_STORE_COMPLETE", root=root)
    absent = [lack for lack in lacks if not lack.build]
    if not absent:
        return AmlError("AML_STORE_TO_BUILD", root=root, count=len(lacks))
    code = "AML_STORE_LACKS"
    if found.complete:
        before = [lack for lack in absent if NeededBy.PREVIOUS in lack.needed_by]
        code, absent = ("AML_STORE_UNDO_LACKS", before) if before else ("AML_STORE_CHOSEN_LACKS", absent)
    return AmlError(code, root=root, count=len(absent), size=_total_text(absent, language))


def _total_text(absent: Sequence[Lack], language: str) -> str:
    """Return the size of what is absent, as far as it is known: an index may tell no sizes."""
    known = [lack.size for lack in absent if lack.size is not None]
    if not known:
        return text("store.size_unknown", language)
    size = size_text(sum(known), language)
    return size if len(known) == len(absent) else text("store.size_at_least", language, size=size)
