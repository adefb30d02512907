"""What of the store is needed, and by whom: the locks of the workspace, its interpreters, its uv."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from amlwizard.core.before import before_last_change
from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.environment.by_hand import find_by_hand, same_version
from amlwizard.core.errors import AmlError
from amlwizard.core.extended_lock import replaced_packages
from amlwizard.core.facts import minor_of
from amlwizard.core.interpreters import environment_origin, origins
from amlwizard.core.lock import LockedFile, alternatives, read_lock, select
from amlwizard.core.python_install import described_archives
from amlwizard.core.records import read_record
from amlwizard.core.store_files import expected_names, installed_wheels
from amlwizard.core.uv_install import kept_uv_wheel
from amlwizard.core.wish import wish_of_lock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from packaging.pylock import Pylock

    from amlwizard.core.facts import AddedPackage, Host, PythonFacts
    from amlwizard.core.paths import Workspace


class NeededBy(StrEnum):
    """Who needs a file."""

    CURRENT = "current"
    """The lock of the environment in use."""
    PREVIOUS = "previous"
    """The lock before the last change, for undo."""
    NEXT = "next"
    """A lock that was resolved and not installed yet."""
    PYTHON = "python"
    """An interpreter, to be repaired or set up again."""
    UV = "uv"
    """The workspace's uv, to be repaired."""


@dataclass(frozen=True)
class LockNeeds:
    """What one lock of the workspace needs.

    ``packages`` holds for each package the files of which one will do: exactly one where the lock's Python is at hand, as
    only it can tell. Otherwise there may be packages among them that are for other computers: ``certain`` names those that
    are needed in any case. ``replaced`` are those that gave way to what was added by hand, for the day on which that is
    left out; nothing is lacking without them. ``error`` is the code of why the lock cannot be read; the rest is empty then.
    """

    which: NeededBy
    path: Path
    python: str = ""
    packages: tuple[tuple[LockedFile, ...], ...] = ()
    replaced: tuple[tuple[LockedFile, ...], ...] = ()
    certain: frozenset[str] = frozenset()
    error: str = ""

    @property
    def kept(self) -> tuple[tuple[LockedFile, ...], ...]:
        """What is not to be freed because of this lock."""
        return self.packages + self.replaced


@dataclass(frozen=True)
class FileNeed:
    """A file of ``downloads/`` that is no package."""

    file: str
    by: NeededBy


@dataclass(frozen=True)
class Needs:
    """Everything that is needed."""

    locks: tuple[LockNeeds, ...]
    files: tuple[FileNeed, ...]
    installed: frozenset[str]
    """Names of files that the environment in use was installed from."""
    lacks_uv: bool = False
    """Whether there is no uv to work with, although the workspace had one."""
    has_archive: bool = False
    """Whether the store holds an archive of the present lock's Python, which a bundle needs."""
    added: tuple[tuple[AddedPackage, NeededBy], ...] = ()
    """What was added by hand and is in no lock: without a network, what keeps it or goes back to it finds it here alone."""

    def added_by(self, wheel: str) -> set[NeededBy]:
        """Return for whom a wheel of this name may be what was added by hand."""
        try:
            name, version = parse_wheel_filename(wheel)[:2]
        except InvalidWheelFilename:
            return set()
        return {by for added, by in self.added if added.name == name and same_version(added.version, str(version))}


_LOCKS: Final = (NeededBy.CURRENT, NeededBy.PREVIOUS, NeededBy.NEXT)


def find_needs(workspace: Workspace, pythons: Sequence[PythonFacts], host: Host) -> Needs:
    """Look at the locks and records. Blocks for a moment: call it in a thread.

    Args:
        workspace: the workspace.
        pythons: its interpreters, as far as they can be asked.
        host: this computer.
    """
    paths = (workspace.lock, workspace.previous_lock, workspace.next_lock)
    locks = tuple(
        _of_lock(workspace, which, path, pythons) for which, path in zip(_LOCKS, paths, strict=True) if path.is_file()
    )
    minors = list(dict.fromkeys(minor_of(lock.python) for lock in locks if lock.python))
    uv_wheel = kept_uv_wheel(workspace)
    files = [
        *_archives(workspace, minors, host),
        *([FileNeed(uv_wheel.name, NeededBy.UV)] if uv_wheel is not None else []),
    ]
    wheels = (wheel.path for wheel in installed_wheels(workspace))
    installed = frozenset(path.name for path in wheels if path.parent == workspace.downloads)
    current = next((minor_of(lock.python) for lock in locks if lock.which is NeededBy.CURRENT and lock.python), None)
    has_archive = current is not None and bool(described_archives(workspace, current, host))
    lacks_uv = uv_wheel is None and _has_lost_uv(workspace)
    return Needs(locks, tuple(dict.fromkeys(files)), installed, lacks_uv, has_archive, tuple(_added(workspace)))


def _of_lock(workspace: Workspace, which: NeededBy, path: Path, pythons: Sequence[PythonFacts]) -> LockNeeds:
    try:
        wish = wish_of_lock(path)
        place = (wish.lock_file if wish is not None else None) or path  # from where its relative paths count
        python = str((wish.resolved or {}).get("python", "")) if wish is not None else ""
        lock = read_lock(path)
        selected = _selected(lock, place, python, pythons)
        files = selected or alternatives(lock, lock=place)
        gone = replace(lock, packages=replaced_packages(lock))
        replaced = _selected(gone, place, python, pythons) or alternatives(gone, lock=place)
    except AmlError as error:
        return LockNeeds(which, path, error=error.code)
    kept, back = (
        tuple(tuple(choices) for choices in listed if choices and not choices[0].editable) for listed in (files, replaced)
    )
    installed = expected_names(workspace) if which is NeededBy.CURRENT else None
    if selected:
        certain = [choices[0].name for choices in kept]
    elif installed is not None:
        certain = list(installed)
    else:
        certain = [str(package.name) for package in lock.packages if package.marker is None]
    return LockNeeds(which, path, python, kept, back, frozenset(certain))


def _selected(lock: Pylock, place: Path, python: str, pythons: Sequence[PythonFacts]) -> list[list[LockedFile]]:
    """Return what the lock's Python needs, nothing where it is not at hand or the lock is not for it."""
    facts = next((facts for facts in pythons if python and facts.minor == minor_of(python)), None)
    if facts is None:
        return []
    try:
        return [[file] for file in select(lock, facts, lock=place)]
    except AmlError:
        return []


def _added(workspace: Workspace) -> Iterator[tuple[AddedPackage, NeededBy]]:
    """Yield what was added by hand and is in no lock, now or before the last change."""
    for package in find_by_hand(workspace):
        yield package.shown, NeededBy.CURRENT
    for added in before_last_change(workspace).packages:
        yield added, NeededBy.PREVIOUS


def _archives(workspace: Workspace, minors: Sequence[str], host: Host) -> Iterator[FileNeed]:
    """Yield the archives of the interpreters that are installed, and what a lock's Python can be set up from."""
    own = environment_origin(workspace)
    for origin in origins(workspace).values():
        if (workspace.interpreters / origin.name).is_dir() or origin == own:
            yield FileNeed(origin.archive, NeededBy.PYTHON)
    for minor in minors:
        for archive in described_archives(workspace, minor, host)[:1]:
            yield FileNeed(archive.filename, NeededBy.PYTHON)


def _has_lost_uv(workspace: Workspace) -> bool:
    record = read_record(workspace.uv_record) or {}
    private = workspace.uv
    return record.get("uvPath") == str(private) and not private.is_file() and find_bundled_uv() is None
