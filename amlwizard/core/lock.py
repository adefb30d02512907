"""Locks (PEP 751 ``pylock.toml``): reading them, choosing what fits an interpreter, writing the one with local paths."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import tomli_w
from packaging.pylock import (
    Package,
    PackageArchive,
    PackageDirectory,
    PackageSdist,
    PackageVcs,
    PackageWheel,
    Pylock,
    PylockSelectError,
    PylockUnsupportedVersionError,
    PylockValidationError,
)
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from amlwizard.core.data_text import lock_table
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.plain_files import LONGEST_NAME, exists, is_file, read_plain_text
from amlwizard.core.tags import wheel_tags
from amlwizard.core.urls import redact_urls, without_credentials, without_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from packaging.markers import Environment
    from packaging.tags import Tag

    from amlwizard.core.facts import PythonFacts

_KNOWN_MINORS: Final = range(10, 20)
_SHOWN: Final = 3
"""How many hashes a sentence tells."""


class FileKind(StrEnum):
    """What a lock names as the source of a package."""

    WHEEL = "wheel"
    SDIST = "sdist"
    VCS = "vcs"
    DIRECTORY = "directory"
    ARCHIVE = "archive"


@dataclass(frozen=True)
class LockedFile:
    """What is to be installed of one package.

    ``url`` is where it is fetched from, ``path`` where it lies on this computer; one of them is set. ``filename`` is empty
    for a directory and for a version control checkout, ``size`` (bytes) None where the lock does not tell it. A direct
    reference to a wheel has the kind ``WHEEL``.
    """

    name: str
    version: str | None
    kind: FileKind
    url: str | None
    path: Path | None
    filename: str = ""
    size: int | None = None
    sha256: str | None = None
    editable: bool = False
    subdirectory: str | None = None
    vcs: str | None = None
    commit: str | None = None

    @property
    def needs_build(self) -> bool:
        """Tell whether a wheel has to be built from this; an editable folder is not built."""
        return self.kind is not FileKind.WHEEL and not self.editable

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where the file may be had, tried in turn: the place that the lock names on this computer, then its address."""
        local = (self.path.absolute().as_uri(),) if self.path is not None else ()
        return (*local, *((self.url,) if self.url else ()))

    @property
    def is_at_hand(self) -> bool:
        """Tell whether the file, or a file in its place, lies where the lock names it on this computer."""
        return self.path is not None and exists(self.path)


@dataclass(frozen=True)
class StoredWheel:
    """One wheel of the store, ready to be installed; ``size`` in bytes."""

    name: str
    version: str
    path: Path
    size: int
    sha256: str


def read_lock(path: Path) -> Pylock:
    """Read a lock.

    Raises:
        RefusedError: ``AML_LOCK_INVALID``, ``AML_LOCK_TOO_NEW`` or ``AML_LOCK_UNSAFE_NAME``.
    """
    try:
        text = read_plain_text(path, "utf-8-sig")
    except OSError as error:
        raise _invalid(path, error.strerror or error) from error
    except ValueError as error:
        raise _invalid(path, error) from error
    return _parsed(text, path)


@lru_cache(maxsize=4)  # one run asks for the same few locks again and again
def _parsed(text: str, path: Path) -> Pylock:
    try:
        content = lock_table(text)
    except ValueError as error:
        raise _invalid(path, error) from error
    try:
        lock = Pylock.from_dict(content)
        filenames = [(package.name, filename) for package in lock.packages for filename in _filenames(package)]
        for package in lock.packages:
            _check_addresses(package)
    except PylockUnsupportedVersionError as error:
        raise RefusedError("AML_LOCK_TOO_NEW", file=str(path), version=str(content.get("lock-version"))) from error
    except (PylockValidationError, ValueError, RecursionError) as error:  # ValueError: an address that is none
        raise _invalid(path, error) from error
    for name, filename in filenames:
        if not _is_safe(filename):
            raise RefusedError("AML_LOCK_UNSAFE_NAME", name=name, filename=redact_urls(filename))
    return lock


def readable_lock(path: Path) -> Pylock | None:
    """Return a lock of ours, or None where there is none that can be read."""
    if not is_file(path):
        return None
    try:
        return read_lock(path)
    except AmlError:
        return None


def own_table(lock: Pylock) -> Mapping[str, Any]:
    """Return what this program noted in a lock (``[tool.amlwizard]``), empty where there is nothing of the kind."""
    table = (lock.tool or {}).get("amlwizard")
    return table if isinstance(table, dict) else {}


def own_texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return a list of texts out of such a table, empty where it is something else."""
    value = table.get(key)
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()


def _invalid(path: Path, reason: object) -> RefusedError:
    return RefusedError("AML_LOCK_INVALID", file=str(path), reason=redact_urls(str(reason)))


def _filenames(package: Package) -> list[str]:
    files: list[PackageWheel | PackageSdist] = list(package.wheels or ())
    if package.sdist is not None:
        files.append(package.sdist)
    names = [file.filename for file in files]
    if package.archive is not None:
        names.append(_archive_filename(package.archive))
    return names


def _check_addresses(package: Package) -> None:
    """Raise ``ValueError`` where an address is none, whoever would have asked it."""
    for source in [*(package.wheels or ()), package.sdist, package.archive]:
        if source is not None and source.url is not None:
            _ = urlsplit(source.url).port


def _archive_filename(archive: PackageArchive) -> str:
    # An archive is named by its address or path just as a source distribution is.
    return PackageSdist(url=archive.url, path=archive.path, hashes=archive.hashes).filename


def _is_safe(filename: str) -> bool:
    return (
        bool(filename)
        and filename not in {".", ".."}
        and not set(filename) & set('/\\:\0<>"|?*')
        and filename.isprintable()
        and len(filename.encode()) <= LONGEST_NAME
    )


def restrict_to_hashes(pylock: Pylock, allowed: Mapping[str, frozenset[str]]) -> Pylock:
    """Return the lock with only those files that the hashes of the requirements allow.

    Resolving takes over the hashes that the index tells, whatever the requirements say, so this has to follow it.

    Args:
        pylock: what was resolved.
        allowed: ``RequirementsClosure.allowed_hashes``; a package that is not in it stays as it is.

    Raises:
        AmlError: the index has no file of a package that its hashes allow (``AML_REQUIREMENTS_HASH_MISMATCH``).
    """
    packages = [
        _restricted(package, allowed[package.name]) if package.name in allowed else package for package in pylock.packages
    ]
    return replace(pylock, packages=packages)


def _restricted(package: Package, allowed: frozenset[str]) -> Package:
    def fits(file: PackageWheel | PackageSdist | PackageArchive) -> bool:
        return any(f"{kind}:{value.lower()}" in allowed for kind, value in file.hashes.items())

    wheels = [wheel for wheel in package.wheels or () if fits(wheel)]
    sdist = package.sdist if package.sdist is not None and fits(package.sdist) else None
    if not (wheels or sdist or (package.archive is not None and fits(package.archive))):
        raise AmlError(
            "AML_REQUIREMENTS_HASH_MISMATCH",
            name=package.name,
            version=str(package.version or ""),
            files=_some(_hashes(package)),
            allowed=_some(sorted(allowed)),
            host=_host(package),
        )
    return replace(package, wheels=wheels or None, sdist=sdist)


def _some(words: Sequence[str]) -> str:
    """Return a list as it may stand in a sentence: a package may have a file for each system."""
    return ", ".join((*words[:_SHOWN], *(("…",) if len(words) > _SHOWN else ())))


def _hashes(package: Package) -> list[str]:
    files = [file for file in (*(package.wheels or ()), package.sdist, package.archive) if file is not None]
    named = zip(_filenames(package), files, strict=True)
    return [f"{name} {kind}:{value}" for name, file in named for kind, value in file.hashes.items()]


def _host(package: Package) -> str:
    files = [*(package.wheels or ()), package.sdist, package.archive]
    urls = [file.url for file in files if file is not None and file.url is not None]
    return next((urlsplit(url).hostname or "" for url in urls), "") or "-"


def select(pylock: Pylock, python: PythonFacts, *, lock: Path, tags: Sequence[Tag] | None = None) -> list[LockedFile]:
    """Choose what an interpreter needs of a lock, wheels before sources, in the order of the lock.

    Args:
        pylock: the content of the lock.
        python: the interpreter.
        lock: the path of the lock, to which its own paths are relative.
        tags: what the interpreter can install, where it is one of another computer.

    Raises:
        AmlError: ``AML_LOCK_PYTHON`` or ``AML_LOCK_PLATFORM`` where the lock was made for others, ``AML_NO_WHEEL`` or
            ``AML_NO_WHEEL_HERE`` where nothing fits, ``AML_LOCK_NO_SHA256``, ``AML_LOCK_INVALID``.
    """
    try:
        return _selected(pylock, python, lock=lock, tags=tags)
    except ValueError as error:  # a marker that compares what cannot be compared, or a wheel whose name is none
        raise _invalid(lock, error) from error


def _selected(pylock: Pylock, python: PythonFacts, *, lock: Path, tags: Sequence[Tag] | None) -> list[LockedFile]:
    _check_target(pylock, python)
    elsewhere = tags is not None
    tags = wheel_tags(python) if tags is None else tags
    environment = cast("Environment", python.marker_environment)
    try:
        chosen = list(pylock.select(environment=environment, tags=tags))
    except PylockSelectError as error:
        for package in pylock.packages if not elsewhere else ():
            if package.wheels and package.sdist is None and _applies(package, python):
                _check_any_fits(package, [wheel.filename for wheel in package.wheels], tags, python)
        raise _invalid(lock, error) from error
    return [_locked(package, source, lock.parent, tags, python) for package, source in chosen]


def alternatives(pylock: Pylock, *, lock: Path) -> list[list[LockedFile]]:
    """Return what some interpreter or other may need of a lock: for each package the files of which it needs one.

    Raises:
        AmlError: ``AML_LOCK_NO_SHA256`` or ``AML_LOCK_INVALID``.
    """
    found: list[list[LockedFile]] = []
    for package in pylock.packages:
        others = (package.sdist, package.archive, package.vcs, package.directory)
        sources = [*(package.wheels or ()), *(others if not package.wheels else ())]
        found.append([_locked(package, source, lock.parent) for source in sources if source is not None])
    return found


def _check_target(pylock: Pylock, python: PythonFacts) -> None:
    version = python.marker_environment["python_full_version"]
    wanted = [pylock.requires_python] + [
        package.requires_python for package in pylock.packages if package.requires_python and _applies(package, python)
    ]
    for specifier in wanted:
        if specifier is not None and not specifier.contains(version, prereleases=True):
            raise AmlError("AML_LOCK_PYTHON", wanted=str(specifier), python=python.version_text)
    if pylock.environments and not any(marker.evaluate(python.marker_environment) for marker in pylock.environments):
        raise AmlError("AML_LOCK_PLATFORM", platform=python.platform_tag)


def _applies(package: Package, python: PythonFacts) -> bool:
    return package.marker is None or package.marker.evaluate(python.marker_environment, context="lock_file")


def _check_any_fits(package: Package, filenames: Sequence[str], tags: Sequence[Tag], python: PythonFacts) -> None:
    if _any_fits(filenames, tags):
        return
    arguments: dict[str, Any] = {
        "name": package.name,
        "version": str(package.version or ""),
        "python": python.version_text,
        "platform": python.platform_tag,
    }
    minors = [
        f"{python.version[0]}.{minor}"
        for minor in _KNOWN_MINORS
        if _any_fits(filenames, wheel_tags(replace(python, version=(python.version[0], minor, 0))))
    ]
    if minors:
        raise AmlError("AML_NO_WHEEL", pythons=", ".join(minors), **arguments)
    raise AmlError("AML_NO_WHEEL_HERE", **arguments)


def _any_fits(filenames: Sequence[str], tags: Sequence[Tag]) -> bool:
    supported = set(tags)
    return any(parse_wheel_filename(filename)[3] & supported for filename in filenames)


def _locked(
    package: Package,
    source: PackageVcs | PackageDirectory | PackageArchive | PackageWheel | PackageSdist,
    folder: Path,
    tags: Sequence[Tag] = (),
    python: PythonFacts | None = None,
) -> LockedFile:
    version = str(package.version) if package.version is not None else None
    path = Path(os.path.normpath(folder / source.path)) if source.path is not None else None  # as uv takes it
    if isinstance(source, PackageDirectory):
        return LockedFile(
            name=package.name,
            version=version,
            kind=FileKind.DIRECTORY,
            url=None,
            path=path,
            editable=bool(source.editable),
            subdirectory=source.subdirectory,
        )
    if isinstance(source, PackageVcs):
        return LockedFile(
            name=package.name,
            version=version,
            kind=FileKind.VCS,
            url=source.url,
            path=path,
            subdirectory=source.subdirectory,
            vcs=source.type,
            commit=source.commit_id,
        )
    if isinstance(source, PackageArchive):
        kind, filename = FileKind.ARCHIVE, _archive_filename(source)
        if filename.endswith(".whl"):
            kind = FileKind.WHEEL
            version = _fitting_version(package, filename, tags, python, folder)
    else:
        kind = FileKind.WHEEL if isinstance(source, PackageWheel) else FileKind.SDIST
        filename = source.filename
    sha256 = source.hashes.get("sha256", "").lower()
    if len(sha256) != 64 or set(sha256) - set("0123456789abcdef"):
        raise AmlError("AML_LOCK_NO_SHA256", filename=filename)
    return LockedFile(
        name=package.name,
        version=version,
        kind=kind,
        url=source.url,
        path=path,
        filename=filename,
        size=source.size,
        sha256=sha256,
        subdirectory=source.subdirectory if isinstance(source, PackageArchive) else None,
    )


def _fitting_version(package: Package, filename: str, tags: Sequence[Tag], python: PythonFacts | None, folder: Path) -> str:
    try:
        version = parse_wheel_filename(filename)[1]
    except InvalidWheelFilename as error:
        raise _invalid(folder, error) from error
    if python is not None:
        _check_any_fits(package, [filename], tags, python)
    return str(version)


def scrub(pylock: Pylock) -> Pylock:
    """Return the lock with the credentials taken out of every address; a query stays, as nothing is had without it."""
    return Pylock.from_dict(_scrubbed(pylock.to_dict(), without_credentials))


def scrub_for_others(pylock: Pylock) -> Pylock:
    """Return the lock with the credentials and the query, which may hold a key, taken out of every address."""
    return Pylock.from_dict(_scrubbed(pylock.to_dict(), lambda address: without_queries(without_credentials(address))))


def _scrubbed(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _scrubbed(item, clean) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(item, clean) for item in value]
    if isinstance(value, str) and "://" in value:
        return clean(value)
    return value


def lock_text(pylock: Pylock) -> str:
    """Return a lock as TOML."""
    return tomli_w.dumps(pylock.to_dict())


def local_lock(
    wheels: Sequence[StoredWheel], editables: Sequence[LockedFile], *, lock: Path, about: Mapping[str, Any] | None = None
) -> str:
    """Return the lock from which an environment is installed without network.

    It holds the chosen wheels alone, each by its path relative to ``lock`` (absolute on another Windows drive), and the
    editable folders. ``about`` is what is noted of its making, so that it can stand for the other lock where that is lost.
    """
    packages: list[dict[str, Any]] = []
    for wheel in wheels:
        entry = {"path": _relative(wheel.path, lock.parent), "size": wheel.size, "hashes": {"sha256": wheel.sha256}}
        packages.append({"name": wheel.name, "version": wheel.version, "wheels": [entry]})
    for editable in editables:
        directory = {"path": _relative(cast("Path", editable.path), lock.parent), "editable": True}
        if editable.subdirectory:
            directory["subdirectory"] = editable.subdirectory
        packages.append({"name": editable.name, "directory": directory})
    packages.sort(key=lambda package: str(package["name"]))
    content = {"lock-version": "1.0", "created-by": "amlwizard", "packages": packages}
    return tomli_w.dumps(content | ({"tool": {"amlwizard": about}} if about else {}))


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.absolute().as_posix()


def lock_digest(text: str) -> str:
    """Return the SHA-256 of a lock's text in hexadecimal, the same for every kind of line end.

    It equals the SHA-256 of the file that ``records.write_text_atomically`` writes.
    """
    return hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()
