"""What the store holds, file by file, and what it lacks. Files are compared by size; their hashes when they are used."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.built_store import BuiltWheel, built_wheels, has_changed
from amlwizard.core.environment.removal import is_link
from amlwizard.core.facts import minor_of
from amlwizard.core.interpreters import origins
from amlwizard.core.lock import FileKind, LockedFile
from amlwizard.core.store.ledger import noted_files
from amlwizard.core.store.needs import LockNeeds, NeededBy, Needs
from amlwizard.core.uv_install import is_uv_wheel

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from threading import Event

    from amlwizard.core.paths import Workspace
    from amlwizard.core.store.ledger import Noted


class StoreKind(StrEnum):
    """What a file of the store is."""

    WHEELS = "wheels"
    SOURCES = "sources"
    BUILT = "built"
    PYTHON = "python"
    UV = "uv"
    PARTIAL = "partial"


@dataclass(frozen=True)
class Held:
    """One file of ours, or with ``folder`` a folder with a wheel and its record; ``size`` in bytes.

    ``total`` is the size that a partial file will have, None where it is not known. ``needed_by`` is empty for what can be
    freed.
    """

    path: Path
    kind: StoreKind
    size: int
    needed_by: tuple[NeededBy, ...]
    total: int | None = None
    folder: bool = False


@dataclass(frozen=True)
class Lack:
    """Something that is needed and not there as a whole.

    ``found`` is the size of what lies there instead, None where nothing does. ``build`` tells that it is built here from a
    source, which may need a network. ``size`` is None where it is not known.
    """

    file: str
    name: str = ""
    version: str = ""
    size: int | None = None
    needed_by: tuple[NeededBy, ...] = ()
    found: int | None = None
    build: bool = False


@dataclass(frozen=True)
class Built:
    """A wheel with a folder of its own; ``changed`` tells that its local folder is another one now: it is built again."""

    wheel: BuiltWheel
    needed_by: tuple[NeededBy, ...]
    changed: bool


@dataclass(frozen=True)
class CacheUse:
    """What uv's cache takes; ``shared_bytes`` of it is the environment's as well, by hard links."""

    files: int = 0
    bytes: int = 0
    shared_bytes: int = 0


@dataclass
class Survey:
    """What the store holds and lacks."""

    needs: Needs
    held: list[Held] = field(default_factory=list)
    foreign: list[tuple[Path, int]] = field(default_factory=list)
    """What lies there and is not ours."""
    built: list[Built] = field(default_factory=list)
    lacks: list[Lack] = field(default_factory=list)
    cache: CacheUse = CacheUse()
    linked: bool = False
    """Whether ``downloads/`` is a link to another place, which may be another workspace's as well."""

    @property
    def freeable(self) -> list[Held]:
        """What nothing needs and may be removed; nothing where no lock tells what is needed, or one cannot be read."""
        unknown = self.linked or self.unreadable is not None or not self.has_lock
        return [] if unknown else [held for held in self.held if not held.needed_by]

    @property
    def has_lock(self) -> bool:
        """Tell whether a lock says what the environment needs."""
        return any(lock.which is not NeededBy.PREVIOUS for lock in self.needs.locks)

    @property
    def current(self) -> LockNeeds | None:
        """Return what the environment in use needs."""
        return next((lock for lock in self.needs.locks if lock.which is NeededBy.CURRENT), None)

    @property
    def unreadable(self) -> LockNeeds | None:
        """Return a lock that cannot be read, if any."""
        return next((lock for lock in self.needs.locks if lock.error), None)

    @property
    def complete(self) -> bool:
        """Tell whether a rebuild and a repair of the environment in use need no network."""
        return self.current is not None and not self.current.error and not self.own_lacks

    @property
    def own_lacks(self) -> list[Lack]:
        """Return what is lacking for the environment in use."""
        own = {NeededBy.CURRENT, NeededBy.PYTHON, NeededBy.UV}
        return [lack for lack in self.lacks if own.intersection(lack.needed_by)]


_NOTE: Final = ".resume.part"
_RECORD_PART: Final = re.compile(r"\.\d+\.part$")


def survey(workspace: Workspace, needs: Needs, stopped: Event) -> Survey:
    """Look at everything in ``downloads/`` and ``cache/``. Blocks: call it in a thread; ``stopped`` ends it early."""
    found = Survey(needs, linked=is_link(workspace.downloads))
    _look_at_built(workspace, found)
    _look_at_downloads(workspace, found)
    found.lacks = list(_lacks(workspace, found))
    found.cache = cache_use(workspace, stopped)
    return found


# -- what is there


def _look_at_downloads(workspace: Workspace, found: Survey) -> None:
    if not workspace.downloads.is_dir():
        return
    if found.linked:
        found.foreign.append((workspace.downloads, 0))
    noted = noted_files(workspace)
    needed = _needed_names(found.needs)
    archives = {origin.archive for origin in origins(workspace).values()}
    ours = known_names(workspace, found.needs)
    sizes = _known_sizes(found.needs, noted)
    for entry in sorted(os.scandir(workspace.downloads), key=lambda entry: entry.name):
        path = Path(entry.path)
        if path == workspace.built and entry.is_dir(follow_symlinks=False):
            continue
        if path == workspace.unchecked and entry.is_dir(follow_symlinks=False):
            found.held += [Held(file, StoreKind.PARTIAL, _size(file) or 0, ()) for file in _plain_files(path)]
            continue
        if not entry.is_file(follow_symlinks=False):
            found.foreign.append((path, 0))
            continue
        size = _size(path)
        if size is None:  # gone meanwhile
            continue
        base = whole_name(entry.name)
        if not is_known(entry.name, ours):
            found.foreign.append((path, size))
        elif entry.name != base:
            is_whole = (workspace.downloads / base).exists()  # then nobody goes on with the part
            waits = () if is_whole else needed.get(base, ())
            found.held.append(Held(path, StoreKind.PARTIAL, size, waits, sizes.get(base)))
        else:
            archive = base if base in ours else _described(base)
            kind = _kind(workspace, archive, archives)
            by = {*needed.get(archive, ()), *found.needs.added_by(archive)}
            found.held.append(Held(path, kind, size, _ordered(by)))


def known_names(workspace: Workspace, needs: Needs) -> frozenset[str]:
    """Return the names of the files of ``downloads/`` that are ours: fetched by us, or named by a lock or a record."""
    archives = {origin.archive for origin in origins(workspace).values()}
    return frozenset(noted_files(workspace).keys() | _needed_names(needs).keys() | archives)


def is_known(name: str, ours: Collection[str]) -> bool:
    """Tell whether a file of this name is one of ours, a part of one, or the description of one."""
    base = whole_name(name)
    return base in ours or _described(base) in ours


def _plain_files(folder: Path) -> list[Path]:
    """Return the files of a folder and of its folders; no link is followed."""
    return [Path(place, name) for place, _, names in os.walk(folder) for name in names if not is_link(Path(place, name))]


def whole_name(name: str) -> str:
    """Return the name of the file that a partial one becomes, and any other name as it is."""
    if name.endswith(_NOTE):
        return name.removesuffix(_NOTE)
    return _RECORD_PART.sub("", name) if _RECORD_PART.search(name) else name.removesuffix(".part")


def _described(name: str) -> str:
    """Return the name of the archive that a file of this name would describe."""
    archive = name.removesuffix(".json")
    return "" if archive == name or archive.endswith(".whl") else archive


def _kind(workspace: Workspace, name: str, archives: set[str]) -> StoreKind:
    if name.endswith(".whl"):
        return StoreKind.UV if is_uv_wheel(name) else StoreKind.WHEELS
    described = (workspace.downloads / f"{name}.json").is_file()
    return StoreKind.PYTHON if described or name in archives else StoreKind.SOURCES


def _needed_names(needs: Needs) -> dict[str, tuple[NeededBy, ...]]:
    """Return who needs each file name of ``downloads/``."""
    found: dict[str, set[NeededBy]] = {name: {NeededBy.CURRENT} for name in needs.installed}
    for lock in needs.locks:
        for choices in lock.kept:
            for file in choices:
                if file.filename:
                    found.setdefault(file.filename, set()).add(lock.which)
    for need in needs.files:
        found.setdefault(need.file, set()).add(need.by)
    return {name: _ordered(by) for name, by in found.items()}


def _known_sizes(needs: Needs, noted: Mapping[str, Noted]) -> dict[str, int]:
    sizes = {name: entry.size for name, entry in noted.items() if entry.size is not None}
    files = (file for lock in needs.locks for choices in lock.kept for file in choices)
    return sizes | {file.filename: file.size for file in files if file.filename and file.size is not None}


def _ordered(by: set[NeededBy]) -> tuple[NeededBy, ...]:
    return tuple(each for each in NeededBy if each in by)


def _look_at_built(workspace: Workspace, found: Survey) -> None:
    if not workspace.built.is_dir() or is_link(workspace.built):
        return
    wheels = built_wheels(workspace)
    known = {wheel.folder for wheel in wheels}
    for wheel in wheels:
        by = {lock.which for lock in found.needs.locks for choices in lock.kept if _serves(wheel, lock, choices)}
        by |= found.needs.added_by(wheel.file)
        source = wheel.source
        local = source.get("kind") == FileKind.DIRECTORY.value
        changed = local and bool(by) and has_changed(Path(str(source.get("path"))), source)
        found.built.append(Built(wheel, _ordered(by), changed))
        kind = StoreKind.BUILT if wheel.was_built else StoreKind.WHEELS
        found.held.append(Held(wheel.folder, kind, _folder_size(wheel.folder), _ordered(by), folder=True))
    for entry in sorted(workspace.built.iterdir()):
        if entry not in known:
            found.foreign.append((entry, _folder_size(entry) if entry.is_dir() and not is_link(entry) else 0))


def _serves(wheel: BuiltWheel, lock: LockNeeds, choices: tuple[LockedFile, ...]) -> bool:
    """Tell whether a built wheel is what a lock needs of a package, for the Python of that lock."""
    fits = not lock.python or not wheel.python or minor_of(lock.python) == minor_of(wheel.python)
    return fits and any(wheel.is_of(file) for file in choices)


def _folder_size(folder: Path) -> int:
    return sum(_size(file) or 0 for file in folder.rglob("*"))


def cache_use(workspace: Workspace, stopped: Event) -> CacheUse:
    """Return what uv's cache takes. Blocks; ``stopped`` ends it early."""
    files = 0
    links: dict[tuple[int, int], int] = {}
    sizes: dict[tuple[int, int], int] = {}
    for path in _walk(workspace.cache):
        if stopped.is_set():
            break
        try:
            status = os.lstat(path)
        except OSError:  # gone meanwhile
            continue
        files += 1
        inode = (status.st_dev, status.st_ino)
        sizes[inode] = status.st_size
        links[inode] = links.get(inode, status.st_nlink) - 1
    shared = sum(size for inode, size in sizes.items() if links[inode] > 0)
    return CacheUse(files, sum(sizes.values()), shared)


def _walk(folder: Path) -> Iterator[str]:
    if is_link(folder):
        return
    for place, folders, names in os.walk(folder):
        yield from (os.path.join(place, name) for name in names)  # noqa: PTH118 - there are tens of thousands
        yield from (link for name in folders if os.path.islink(link := os.path.join(place, name)))  # noqa: PTH114, PTH118


# -- what is not


def _lacks(workspace: Workspace, found: Survey) -> Iterator[Lack]:
    noted = noted_files(workspace)
    merged: dict[Lack, set[NeededBy]] = {}
    for lock in found.needs.locks:
        for choices in lock.packages:
            lack = _of_package(workspace, found, noted, lock, choices)
            if lack is not None and lack.name in lock.certain:
                merged.setdefault(lack, set()).add(lock.which)
    for lack, by in merged.items():
        yield replace(lack, needed_by=_ordered(by))
    for need in found.needs.files:
        if not (workspace.downloads / need.file).is_file():
            known = noted.get(need.file)
            yield Lack(need.file, size=known.size if known is not None else None, needed_by=(need.by,))
    if found.needs.lacks_uv:
        yield Lack("", "uv", needed_by=(NeededBy.UV,))


def _of_package(
    workspace: Workspace, found: Survey, noted: Mapping[str, Noted], lock: LockNeeds, choices: tuple[LockedFile, ...]
) -> Lack | None:
    """Return what a package of a lock lacks, or None where one of its files is there or was built into a wheel."""
    first, wrong = choices[0], None
    for file in choices:
        if any(_is_usable(built) and _serves(built.wheel, lock, (file,)) for built in found.built):
            return None
        if file.needs_build:
            continue
        actual = _size(workspace.downloads / file.filename)
        if actual is not None and file.size in {None, actual} and not _is_another(file, noted):
            return None
        wrong = actual if actual is not None else wrong
    if not first.needs_build:
        return Lack(first.filename, first.name, first.version or "", first.size, found=wrong)
    archive = _size(workspace.downloads / first.filename) if first.filename else None
    at_hand = archive is not None or first.kind is FileKind.DIRECTORY
    return Lack(first.filename, first.name, first.version or "", None if at_hand else first.size, build=at_hand)


def _is_another(file: LockedFile, noted: Mapping[str, Noted]) -> bool:
    """Tell whether the file of this name was fetched with another content than this lock wants."""
    entry = noted.get(file.filename)
    return entry is not None and None not in {entry.sha256, file.sha256} and entry.sha256 != file.sha256


def _is_usable(built: Built) -> bool:
    return built.wheel.size is not None and not built.changed


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None
