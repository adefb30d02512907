"""What of ``downloads/`` the environment in use came from, and whether it is still what it was."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.file_hash import file_sha256
from amlwizard.core.interpreters import environment_origin
from amlwizard.core.lock import StoredWheel, readable_lock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.pylock import PackageArchive, PackageWheel

    from amlwizard.core.paths import Workspace


@dataclass(frozen=True)
class StoreFile:
    """A file of the store; ``size`` in bytes, ``url`` where it came from, each None where it is not known."""

    path: Path
    sha256: str
    size: int | None
    url: str | None
    package: str = ""
    """The name of what is installed from it; empty for an interpreter's archive."""

    def is_damaged(self) -> bool:
        """Tell whether the file is missing or not what it was; reads it."""
        try:
            wrong_size = self.size is not None and self.path.stat().st_size != self.size
            return wrong_size or file_sha256(self.path) != self.sha256
        except OSError:
            return True


def expected_names(workspace: Workspace) -> dict[str, str] | None:
    """Return the names of what the environment in use must hold, in any version; None where that is not known."""
    lock = readable_lock(workspace.local_lock)
    return None if lock is None else {package.name: "" for package in lock.packages}


def installed_wheels(workspace: Workspace) -> list[StoredWheel]:
    """Return the wheels that the environment in use was installed from; none where that is not known."""
    lock = readable_lock(workspace.local_lock)
    return [
        StoredWheel(
            package.name,
            str(package.version),
            _place(workspace, wheel),
            wheel.size or 0,
            wheel.hashes.get("sha256", ""),
        )
        for package in (lock.packages if lock is not None else ())
        for wheel in package.wheels or ()
    ]


def _place(workspace: Workspace, wheel: PackageWheel) -> Path:
    """Return where a wheel of the local lock lies; what was built here lies in a folder of its own."""
    return Path(os.path.normpath(workspace.local_lock.parent / (wheel.path or wheel.filename)))


def store_urls(workspace: Workspace) -> dict[str | None, str | None]:
    """Return where the files of the environment in use came from, on this computer too, by their SHA-256."""
    lock = readable_lock(workspace.lock)

    def url(source: PackageWheel | PackageArchive) -> str | None:
        if source.url is not None or source.path is None:
            return source.url
        return Path(os.path.normpath(workspace.lock.parent / source.path)).as_uri()

    return {
        source.hashes.get("sha256"): url(source)
        for package in (lock.packages if lock is not None else ())
        for source in (*(package.wheels or ()), *([package.archive] if package.archive is not None else ()))
    }


def store_files(workspace: Workspace) -> list[StoreFile]:
    """Return every file of the store that a rebuild of the environment in use would need, its interpreter's archive too."""
    urls = store_urls(workspace)
    wheels = [
        StoreFile(wheel.path, wheel.sha256, wheel.size, urls.get(wheel.sha256), wheel.name)
        for wheel in installed_wheels(workspace)
    ]
    origin = environment_origin(workspace)
    if origin is None:
        return wheels
    return [*wheels, StoreFile(workspace.downloads / origin.archive, origin.sha256, None, origin.url)]


def damaged_files(files: Sequence[StoreFile]) -> list[StoreFile]:
    """Return the files that are missing or not what they were. Blocks for a second: call it in a thread."""
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(StoreFile.is_damaged, files))
    return [file for file, damaged in zip(files, verdicts, strict=True) if damaged]
