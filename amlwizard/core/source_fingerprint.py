"""Tells whether a local folder is still what a wheel was built from, by the content of its files.

What does not go into a wheel and changes by itself is passed over: caches that say that they are caches, virtual
environments, a workspace, bytecode, and of git all but where its branches and tags stand, of which some builds make their
version.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.file_hash import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BIG: Final = 16 * 1024 * 1024
"""Files from this size on, which are data rather than sources, count by their size and time of change."""
_SIGNS_OF_OTHERS: Final = ("CACHEDIR.TAG", "pyvenv.cfg", "runtime/receipt.json")
"""A folder with one of these is a cache, a virtual environment or a workspace of ours."""
_GIT: Final = ".git"


def read_sources(folder: Path) -> dict[str, str] | None:
    """Return what each file of a folder is, by its path in it; None where that cannot be told. Blocks.

    It cannot where a file cannot be read, a link leads to another folder, or git keeps its state elsewhere.
    """
    found: dict[str, str] = {}
    try:
        for path in _files(folder):
            found[path.relative_to(folder).as_posix()] = _content(path)
        for name, path in _git_state(folder):
            found[f"{_GIT}/{name}"] = _content(path)
    except (OSError, _UnknownError):
        return None
    return found or None


def fingerprint_of(sources: Mapping[str, str]) -> str:
    """Return one value for what ``read_sources`` found."""
    digest = hashlib.sha256()
    for name, content in sorted(sources.items()):
        digest.update(f"{name}\0{content}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def fingerprint_after_build(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> str | None:
    """Return the fingerprint of the folder that a wheel was just built from.

    Builds leave files behind, mostly in folders of their own (``build``, ``*.egg-info``), which must not make the source
    look changed. Where anything else is different, somebody may have worked on it: then it counts as it was before.
    """
    if before is None or after is None:
        return None
    folders = {os.path.dirname(name) for name in before}  # noqa: PTH120 - names, not places
    folders |= {parent.as_posix() for name in before for parent in Path(name).parents if parent != Path()}
    kept = all(after.get(name) == content for name, content in before.items())
    left_behind = all(os.path.dirname(name) not in folders | {""} for name in after.keys() - before.keys())  # noqa: PTH120
    return fingerprint_of(after if kept and left_behind else before)


class _UnknownError(Exception):
    """A folder whose content cannot be told."""


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that may go into a wheel; links to files count as those."""
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_symlink() and entry.is_dir():
            raise _UnknownError
        if entry.is_dir():
            place = Path(entry.path)
            passed_over = entry.name in {_GIT, "__pycache__"} or any((place / sign).is_file() for sign in _SIGNS_OF_OTHERS)
            if not passed_over:
                yield from _files(place)
        elif not entry.name.endswith((".pyc", ".pyo")) and entry.name != _GIT:
            yield Path(entry.path)


def _git_state(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files that tell where the branches and tags of the repository around a folder stand, with their names."""
    place = next((top / _GIT for top in (folder, *folder.parents) if os.path.lexists(top / _GIT)), None)
    if place is None:
        return
    if not place.is_dir():
        raise _UnknownError
    files = [place / "HEAD", place / "packed-refs"]
    for kind in ("heads", "tags"):
        files += [Path(branch, name) for branch, _, names in os.walk(place / "refs" / kind) for name in names]
    for file in files:
        if file.is_file():
            yield file.relative_to(place).as_posix(), file


def _content(path: Path) -> str:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise _UnknownError
    executable = "x" if status.st_mode & stat.S_IXUSR and os.name != "nt" else ""
    if status.st_size >= _BIG:
        return f"{status.st_size} {status.st_mtime_ns}{executable}"
    return file_sha256(path) + executable
