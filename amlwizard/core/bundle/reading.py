"""Opens a bundle and checks it: first what it says and holds, then every byte (DESIGN section 9)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from packaging.pylock import Pylock, PylockUnsupportedVersionError, PylockValidationError
from packaging.utils import canonicalize_name, parse_wheel_filename

from amlwizard.core.bundle.container import Container, ZipContainer, open_container, unreadable
from amlwizard.core.bundle.floors import parse_version
from amlwizard.core.bundle.manifest import (
    DOWNLOADS,
    LOCK,
    MANIFEST,
    MANIFEST_LIMIT,
    Manifest,
    parse_manifest,
)
from amlwizard.core.bundle.names import shown
from amlwizard.core.data_text import parse_json, parse_toml
from amlwizard.core.errors import RefusedError
from amlwizard.core.facts import minor_of
from amlwizard.core.moving import CHUNK, Moving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.pylock import Package

    from amlwizard.core.facts import Host

LOCK_LIMIT: Final = 16 * 1024 * 1024
_NAMED_MISSING: Final = 5
_TO_THE_END: Final = 1 << 62


@dataclass(frozen=True)
class LockedWheel:
    """One package of a bundle: its wheel's file name, size in bytes and SHA-256."""

    name: str
    version: str
    filename: str
    size: int
    sha256: str

    @property
    def entry(self) -> str:
        """The name of its file in the bundle."""
        return f"wheels/{self.filename}"


@dataclass(frozen=True)
class Bundle:
    """A bundle whose entries, manifest and lock agree with each other; ``check`` proves its bytes."""

    container: Container
    manifest: Manifest
    lock: Pylock
    wheels: tuple[LockedWheel, ...]

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.container.path

    @property
    def total_bytes(self) -> int:
        """How much ``check`` reads."""
        if isinstance(self.container, ZipContainer):
            return self.path.stat().st_size
        return self.manifest.content_bytes

    def check(self, moving: Moving, sha256: str | None = None) -> str | None:
        """Read every byte once and compare every hash.

        Args:
            moving: counts the bytes; cancelling it ends the check.
            sha256: what the bundle file's own SHA-256 has to be; a folder has none.

        Returns:
            The SHA-256 of the bundle file, None for a folder.

        Raises:
            RefusedError: ``AML_BUNDLE_DAMAGED`` or ``AML_BUNDLE_DIGEST``.
        """
        try:
            if not isinstance(self.container, ZipContainer):
                self.refuse_pin_of_folder(sha256)
                self.check_files(moving)
                return None
            actual = self._check_file(self.container, moving)
        except OSError as error:
            raise unreadable(self.path, error) from error
        if sha256 is not None and sha256.lower() != actual:
            raise RefusedError("AML_BUNDLE_DIGEST", path=str(self.path), expected=sha256.lower(), actual=actual)
        return actual

    def refuse_pin_of_folder(self, sha256: str | None) -> None:
        """Refuse a folder where a bundle file's SHA-256 is asked for: it has none."""
        if sha256 is not None and not isinstance(self.container, ZipContainer):
            raise RefusedError("AML_BUNDLE_DIGEST_FOLDER", path=str(self.path))

    def check_files(self, moving: Moving) -> None:
        """Compare every hash that the manifest names, which takes half the time where that of the bundle is not asked for.

        Raises:
            RefusedError: ``AML_BUNDLE_DAMAGED``, or ``AML_BUNDLE_UNREADABLE`` where the medium fails.
        """
        try:
            for name, record in self.manifest.files.items():
                moving.subject = Path(name).name
                digest = hashlib.sha256()
                with self.container.open(name) as stream:
                    while piece := stream.read(CHUNK):
                        digest.update(piece)
                        moving.advance(len(piece))
                self._compare(name, digest.hexdigest(), record.sha256)
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _check_file(self, container: ZipContainer, moving: Moving) -> str:
        """Read the file from its beginning to its end, entries and what is between them in their order."""
        whole = hashlib.sha256()
        with self.path.open("rb", buffering=0) as stream:

            def read(count: int) -> Iterator[bytes]:
                while count and (piece := stream.read(min(count, CHUNK))):
                    whole.update(piece)
                    moving.advance(len(piece))
                    count -= len(piece)
                    yield piece

            position = 0
            for name in sorted(container.sizes, key=container.offsets.__getitem__):
                moving.subject = Path(name).name
                size, offset = container.sizes[name], container.offsets[name]
                for _ in read(offset - position):
                    pass
                digest = hashlib.sha256()
                for piece in read(size):
                    digest.update(piece)
                position = offset + size
                if name != MANIFEST:
                    self._compare(name, digest.hexdigest(), self.manifest.files[name].sha256)
            for _ in read(_TO_THE_END):
                pass
        return whole.hexdigest()

    def _compare(self, name: str, actual: str, expected: str) -> None:
        if actual != expected:
            raise RefusedError("AML_BUNDLE_DAMAGED", path=str(self.path), entry=name)

    def check_fits(self, host: Host) -> None:
        """Refuse a bundle that was made for another kind of computer.

        Raises:
            RefusedError: ``AML_BUNDLE_PLATFORM`` or ``AML_BUNDLE_FLOOR``.
        """
        manifest = self.manifest
        libc, _, version = host.libc.partition(" ")
        here = host.platform if libc != "musl" else f"{host.platform} ({host.libc})"
        if manifest.platform != here:
            raise RefusedError("AML_BUNDLE_PLATFORM", path=str(self.path), platform=manifest.platform, here=here)
        floor = manifest.floor
        found = parse_version(".".join(version.split(".")[:2])) if host.system == "linux" else None
        if floor.glibc is not None and found is not None and found < floor.glibc:
            raise RefusedError("AML_BUNDLE_FLOOR", path=str(self.path), needed=str(floor), here=host.libc)
        macos = parse_version(".".join([*host.release.split("."), "0"][:2])) if host.system == "macos" else None
        if floor.macos is not None and macos is not None and macos < floor.macos:
            raise RefusedError("AML_BUNDLE_FLOOR", path=str(self.path), needed=str(floor), here=f"macOS {host.release}")

    def check_python(self, version: str) -> None:
        """Refuse another Python than the wheels are for; ``version`` is like ``3.11`` or ``3.11.9``.

        Raises:
            RefusedError: ``AML_BUNDLE_PYTHON``.
        """
        if minor_of(version) != self.manifest.minor:
            raise RefusedError("AML_BUNDLE_PYTHON", path=str(self.path), python=self.manifest.minor, wanted=version)


def open_bundle(path: Path) -> Bundle:
    """Open a bundle: its entries, its manifest and its lock are checked against each other, the wheels' bytes are not.

    Raises:
        RefusedError: it cannot be used; ``AML_BUNDLE_*`` says why.
    """
    container = open_container(path)
    try:
        return _opened(container)
    except OSError as error:
        raise unreadable(path, error) from error


def _opened(container: Container) -> Bundle:
    place = str(container.path)
    if MANIFEST not in container.sizes:
        raise RefusedError("AML_BUNDLE_NOT_ONE", path=place)
    if container.sizes[MANIFEST] > MANIFEST_LIMIT:
        raise RefusedError("AML_BUNDLE_BOMB", path=place, entry=MANIFEST)
    with container.open(MANIFEST) as stream:
        body = read_whole(stream, container.sizes[MANIFEST])
    manifest = parse_manifest(body, place)
    missing = sorted(manifest.files.keys() - container.sizes.keys())
    if missing:
        names = ", ".join(missing[:_NAMED_MISSING]) + (", ..." if len(missing) > _NAMED_MISSING else "")
        raise RefusedError("AML_BUNDLE_FILE_MISSING", path=place, entries=names, count=len(missing))
    for name in sorted(container.sizes.keys() - manifest.files.keys() - {MANIFEST}):
        raise RefusedError("AML_BUNDLE_EXTRA", path=place, entry=shown(name))
    for name, record in manifest.files.items():
        if record.size != container.sizes[name]:
            raise RefusedError("AML_BUNDLE_DAMAGED", path=place, entry=name)
    reader = _LockReader(container, manifest)
    lock, wheels = reader.read()
    return Bundle(container, manifest, lock, wheels)


class _LockReader:
    """Reads the lock and holds it against the manifest."""

    def __init__(self, container: Container, manifest: Manifest) -> None:
        self._container = container
        self._manifest = manifest

    def _refuse(self, what: str) -> NoReturn:
        raise RefusedError("AML_BUNDLE_LOCK", path=str(self._container.path), what=what)

    def read(self) -> tuple[Pylock, tuple[LockedWheel, ...]]:
        lock = self._lock()
        wheels = []
        for package in lock.packages:
            try:
                wheels.append(self._wheel(package))
            except (PylockValidationError, ValueError):  # an address or the name of a wheel that is none
                self._refuse(package.name)
        named = {wheel.entry for wheel in wheels}
        here = {name for name in self._manifest.files if name.startswith("wheels/")}
        if named != here or len({wheel.name for wheel in wheels}) != len(wheels):
            self._refuse(", ".join(sorted(here - named)[:1]) or LOCK)
        return lock, tuple(wheels)

    def _wheel(self, package: Package) -> LockedWheel:
        sources = (package.vcs, package.directory, package.archive, package.sdist)
        if any(source is not None for source in sources) or len(package.wheels or ()) != 1:
            self._refuse(package.name)
        wheel = (package.wheels or ())[0]
        filename = wheel.filename
        record = self._manifest.files.get(f"wheels/{filename}")
        if wheel.url is not None or wheel.path != f"wheels/{filename}" or record is None:
            self._refuse(package.name)
        if wheel.hashes.get("sha256") != record.sha256 or wheel.size != record.size:
            self._refuse(package.name)
        name, version, _, _ = parse_wheel_filename(filename)
        if name != canonicalize_name(package.name) or package.version not in {None, version}:
            self._refuse(package.name)
        return LockedWheel(name, str(version), filename, record.size, record.sha256)

    def _lock(self) -> Pylock:
        size = self._container.sizes[LOCK]
        if size > LOCK_LIMIT:
            self._refuse(LOCK)
        with self._container.open(LOCK) as stream:
            body = read_whole(stream, size)
        if hashlib.sha256(body).hexdigest() != self._manifest.files[LOCK].sha256:
            raise RefusedError("AML_BUNDLE_DAMAGED", path=str(self._container.path), entry=LOCK)
        try:
            return Pylock.from_dict(parse_toml(body.decode("utf-8")))
        except (PylockValidationError, PylockUnsupportedVersionError, ValueError, RecursionError) as error:
            raise RefusedError("AML_BUNDLE_LOCK", path=str(self._container.path), what=LOCK) from error


def read_downloads(bundle: Bundle) -> dict[str, Any]:
    """Return the one entry of the bundle's list of interpreters, by its key, after ``check``.

    Raises:
        RefusedError: ``AML_BUNDLE_MANIFEST``; it is not what uv could use.
    """
    size = bundle.container.sizes[DOWNLOADS]
    content: Any = None
    if size <= MANIFEST_LIMIT:
        with bundle.container.open(DOWNLOADS) as stream:
            body = read_whole(stream, size)
        try:
            content = parse_json(body)
        except ValueError:
            content = None
    archive = bundle.manifest.files[bundle.manifest.archive]
    if isinstance(content, dict) and len(content) == 1:
        for entry in content.values():
            if isinstance(entry, dict) and entry.get("sha256") == archive.sha256:
                return content
    raise RefusedError("AML_BUNDLE_MANIFEST", path=str(bundle.path), what=DOWNLOADS)


def read_whole(stream: Any, size: int) -> bytes:
    """Return a small file's bytes; a raw file may give them in pieces."""
    body = bytearray()
    while len(body) < size and (piece := stream.read(size - len(body))):
        body += piece
    return bytes(body)
