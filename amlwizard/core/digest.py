"""The digest of what was asked for: two wishes with the same digest lead to the same environment (DESIGN section 2)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.facts import minor_of
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.plain_files import is_file
from amlwizard.core.requirements import RequirementsClosure
from amlwizard.core.urls import without_credentials

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.pylock import Package, Pylock

    from amlwizard.core.requirement_entries import RequirementEntry, RequirementOption

_WITHOUT_EFFECT: Final = frozenset(
    {
        "--index-url",
        "--extra-index-url",
        "--find-links",
        "--no-index",
        "--trusted-host",
        "--use-feature",
        "--require-hashes",
    }
)
"""Options that say where packages come from or how they are checked, not which ones are wanted."""
_PROJECT_FILES: Final = ("pyproject.toml", "setup.cfg", "setup.py")


def requirements_digest(wish: RequirementsClosure | Pylock, python_version: str, *, folder: Path | None = None) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 over the wish and the Python version.

    Comments, order, spelling, index addresses and credentials do not count; included files, local archives and the project
    files of local folders do.

    Args:
        wish: parsed requirements, or a lock given in their place.
        python_version: such as ``3.11`` or ``3.11.7``, of which the first two numbers count.
        folder: to which the paths in a lock are relative; needed for a lock with local folders alone.
    """
    if isinstance(wish, RequirementsClosure):
        entries = [_of_entry(entry) for entry in wish.entries]
        entries += [{"option": _of_option(option)} for option in wish.options if option.name not in _WITHOUT_EFFECT]
    else:
        entries = [_of_package(package, folder) for package in wish.packages]
    lines = sorted({json.dumps(entry, sort_keys=True) for entry in entries})
    return hashlib.sha256("\n".join([f"python {minor_of(python_version)}", *lines]).encode()).hexdigest()[:12]


def _of_entry(entry: RequirementEntry) -> dict[str, Any]:
    return {
        "constraint": entry.constraint,
        "name": entry.name,
        "extras": entry.extras,
        "specifier": entry.specifier,
        "marker": entry.marker,
        "url": without_credentials(entry.url) if entry.url is not None else None,
        "content": _content(entry.path) if entry.path is not None else None,
        "editable": entry.editable,
        "hashes": entry.hashes,
        "options": sorted(_of_option(option) for option in entry.options),
    }


def _of_option(option: RequirementOption) -> str:
    return f"{option.name} {option.value}".rstrip()


def _of_package(package: Package, folder: Path | None) -> dict[str, Any]:
    hashes = [wheel.hashes for wheel in package.wheels or ()]
    if package.sdist is not None:
        hashes.append(package.sdist.hashes)
    if package.archive is not None:
        hashes.append(package.archive.hashes)
    local = package.directory
    return {
        "name": package.name,
        "version": str(package.version or ""),
        "marker": str(package.marker or ""),
        "hashes": sorted(f"{kind}:{value}" for each in hashes for kind, value in each.items()),
        "commit": package.vcs.commit_id if package.vcs is not None else None,
        "folder": local.path if local is not None else None,
        "content": _content(folder / local.path) if local is not None and folder is not None else None,
        "editable": bool(local is not None and local.editable),
    }


def _content(path: Path) -> dict[str, str]:
    """Return the SHA-256 of a local archive, or of the files that describe a local project."""
    files = [path] if is_file(path) else [path / name for name in _PROJECT_FILES]
    return {file.name: file_sha256(file) for file in files if is_file(file)}
