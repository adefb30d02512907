"""A lock with packages besides its requirements: what was added is noted in it, so that it can be taken out exactly.

The note is ``[tool.amlwizard]`` of the lock: ``added`` holds the requirements, ``brought`` the names of the packages that
came with them, ``replaced`` the packages that gave way to them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from packaging.pylock import Package, Pylock, PylockValidationError

from amlwizard.core.lock import own_table, own_texts

if TYPE_CHECKING:
    from collections.abc import Sequence


def added_requirements(lock: Pylock) -> tuple[str, ...]:
    """Return the requirements that were added to a lock."""
    return own_texts(own_table(lock), "added")


def added_names(lock: Pylock) -> set[str]:
    """Return the names of what came with the added requirements, in place of another version or as something new."""
    brought = own_texts(own_table(lock), "brought")
    return {*brought, *(package.name for package in replaced_packages(lock))}


def replaced_packages(lock: Pylock) -> list[Package]:
    """Return the packages that gave way to the added requirements, and come back where those are left out."""
    return _packages(own_table(lock).get("replaced", ()))


def added_versions(lock: Pylock) -> dict[str, str]:
    """Return the versions of what came with the added requirements."""
    names = added_names(lock)
    return {package.name: str(package.version) for package in lock.packages if package.name in names and package.version}


def without_added(lock: Pylock) -> Pylock:
    """Return the lock as it was without the added requirements."""
    replaced, gone = replaced_packages(lock), added_names(lock)
    kept = [package for package in lock.packages if package.name not in gone]
    return replace(lock, packages=_sorted([*kept, *replaced]), tool=None)


def extended(base: Pylock, more: Sequence[Package], requirements: Sequence[str]) -> Pylock:
    """Return a lock with further packages; those that it has in the same version stay exactly as they are."""
    present: dict[str, list[Package]] = {}
    for package in base.packages:
        present.setdefault(package.name, []).append(package)
    new = [package for package in more if not _is_among(package, present.get(package.name, ()))]
    names = {package.name for package in new}
    replaced = [package for package in base.packages if package.name in names]
    kept = [package for package in base.packages if package.name not in names]
    note: dict[str, Any] = {"added": list(requirements), "brought": sorted(names - present.keys())}
    if replaced:
        note["replaced"] = Pylock(lock_version=base.lock_version, created_by=base.created_by, packages=replaced).to_dict()[
            "packages"
        ]
    return replace(base, packages=_sorted([*kept, *new]), tool={"amlwizard": note})


def _is_among(package: Package, others: Sequence[Package]) -> bool:
    """Tell whether one of the others is the same version from an index, or the same folder, commit or archive."""
    return any(
        package.version == other.version
        and _source(package) == _source(other)
        and (package.version is not None or _source(package) is not None)
        for other in others
    )


def _source(package: Package) -> object:
    if package.vcs is not None:
        return package.vcs.commit_id
    if package.directory is not None:
        return package.directory.path
    return dict(package.archive.hashes) if package.archive is not None else None


def _packages(entries: object) -> list[Package]:
    try:
        content = {"lock-version": "1.0", "created-by": "amlwizard", "packages": entries}
        return list(Pylock.from_dict(content).packages) if entries else []
    except (PylockValidationError, ValueError):  # nobody but us writes there
        return []


def _sorted(packages: list[Package]) -> list[Package]:
    return sorted(packages, key=lambda package: str(package.name))
