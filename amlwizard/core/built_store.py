"""Keeps the wheels that were built here: no source is built twice, and none is needed without a network (DESIGN 3.6).

Each lies in a folder of its own in the store, named by what it was built from: an index may have a wheel of the same file
name with another content. A record beside it tells its source, and its hash, which is compared before each use. A wheel
that was not built here and whose file name another one has (``store.ledger``) lies in such a folder too, named by its hash.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from packaging.utils import parse_wheel_filename

from amlwizard.core.file_hash import file_sha256
from amlwizard.core.lock import FileKind, LockedFile, StoredWheel
from amlwizard.core.plain_files import exists, is_file
from amlwizard.core.records import copy_atomically, read_record, utc_now, write_record
from amlwizard.core.source_fingerprint import fingerprint_of, read_sources
from amlwizard.core.urls import without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amlwizard.core.facts import PythonFacts
    from amlwizard.core.paths import Workspace

RECORD: Final = "source.json"


@dataclass(frozen=True)
class BuiltWheel:
    """A wheel with a folder of its own, as its record tells; ``size`` is None where the wheel itself is gone.

    ``source`` holds ``kind``, what names the content (``sha256``, ``commit``, or ``path`` with ``fingerprint``),
    ``subdirectory``, and ``url``, without credentials.
    """

    folder: Path
    name: str
    version: str
    file: str
    size: int | None
    python: str
    source: Mapping[str, Any]

    @property
    def was_built(self) -> bool:
        """Whether it was built here; otherwise it is one of several of the same file name."""
        return self.source.get("kind") != FileKind.WHEEL.value

    def is_of(self, file: LockedFile) -> bool:
        """Tell whether this was built from what a lock names, or is that; a local folder may have changed since."""
        source = self.source
        kept = (self.name, source.get("kind"), source.get("subdirectory"))
        same = kept == (file.name, file.kind.value, file.subdirectory)
        if file.kind is FileKind.DIRECTORY:
            return same and source.get("path") == _path(file)
        return same and (source.get("commit"), source.get("sha256")) == (file.commit, file.sha256)


def built_wheels(workspace: Workspace) -> list[BuiltWheel]:
    """Return every wheel that a record tells of."""
    found: list[BuiltWheel] = []
    for folder in sorted(workspace.built.iterdir()) if workspace.built.is_dir() else ():
        record = None if folder.is_symlink() else read_record(folder / RECORD)
        name, file, source = ((record or {}).get(key) for key in ("name", "file", "source"))
        if record is None or not isinstance(source, dict) or not isinstance(name, str) or not isinstance(file, str):
            continue
        wheel = folder / file
        if not name or wheel.parent != folder:
            continue
        size = wheel.stat().st_size if is_file(wheel) else None
        version = file.split("-")[1] if file.count("-") >= 2 else ""
        found.append(BuiltWheel(folder, name, version, file, size, str(record.get("python", "")), source))
    return found


def find_built(workspace: Workspace, file: LockedFile, python: PythonFacts) -> StoredWheel | None:
    """Return the wheel that was built from this source for this interpreter, or None. Blocks: call it in a thread.

    A local folder has to be what it was, or gone: its files are compared.
    """
    folder = _folder(workspace, file, python)
    record = read_record(folder / RECORD)
    if record is None:
        return None
    path = folder / str(record.get("file"))
    if path.parent != folder or not is_file(path) or file_sha256(path) != record.get("sha256"):
        return None
    source = record.get("source")
    if file.kind is FileKind.DIRECTORY and (not isinstance(source, dict) or has_changed(file.path, source)):
        return None
    return _stored(file, path, str(record["sha256"]))


def has_changed(path: Path | None, source: Mapping[str, Any]) -> bool:
    """Tell whether a local folder is not, or not for sure, what a wheel was built from. Blocks: it reads the folder.

    Where the folder is gone, the wheel is what there is of it.
    """
    if path is not None and not exists(path):
        return False
    sources = read_sources(path) if path is not None else None
    return sources is None or source.get("fingerprint") != fingerprint_of(sources)


def keep_built(
    workspace: Workspace, file: LockedFile, python: PythonFacts, wheel: Path, fingerprint: str | None = None
) -> StoredWheel:
    """Copy a wheel that was just built into the store. Blocks: call it in a thread.

    Args:
        workspace: the workspace.
        file: what it was built from.
        python: the interpreter that it was built for.
        wheel: the wheel.
        fingerprint: that of a local folder; None where it cannot be told, so that it is built again each time.
    """
    folder = _folder(workspace, file, python)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / wheel.name
    sha256 = file_sha256(wheel)
    source = {
        "kind": file.kind.value,
        "url": without_credentials(file.url) if file.url is not None else None,
        "path": _path(file) if file.kind is FileKind.DIRECTORY else None,
        "sha256": file.sha256,
        "commit": file.commit,
        "subdirectory": file.subdirectory,
        "fingerprint": fingerprint,
    }
    about = {"name": file.name, "file": target.name, "sha256": sha256, "source": source, "python": python.version_text}
    # the record comes first: what a killed run leaves behind is known to be ours, and not used, as the hash is compared
    write_record(folder / RECORD, {**about, "built": utc_now()})
    copy_atomically(wheel, target)
    for other in folder.glob("*.whl"):
        if other != target:
            with suppress(OSError):
                other.unlink()
    return _stored(file, target, sha256)


def own_place(workspace: Workspace, filename: str, sha256: str) -> Path:
    """Return the place of a wheel whose file name another one has."""
    return workspace.built / sha256[:16] / filename


def note_own_place(wheel: Path, sha256: str) -> None:
    """Write the record of a wheel of ``own_place``, before it is there."""
    name = parse_wheel_filename(wheel.name)[0]
    source = {"kind": FileKind.WHEEL.value, "sha256": sha256}
    write_record(wheel.parent / RECORD, {"name": name, "file": wheel.name, "sha256": sha256, "source": source})


def _stored(file: LockedFile, path: Path, sha256: str) -> StoredWheel:
    return StoredWheel(file.name, str(parse_wheel_filename(path.name)[1]), path, path.stat().st_size, sha256)


def _path(file: LockedFile) -> str:
    """Return the place of a local source, which a lock names in more than one way."""
    return os.path.abspath(file.path) if file.path is not None else ""  # noqa: PTH100 - a link is another place


def _folder(workspace: Workspace, file: LockedFile, python: PythonFacts) -> Path:
    """Return the place of what is built from a source for an interpreter; a commit or a hash names the source's content."""
    content = file.commit or file.sha256 or _path(file)
    target = [python.implementation, python.minor, python.free_threaded, python.platform_tag]
    identity = json.dumps([file.kind.value, file.name, content, file.subdirectory, *target])
    return workspace.built / hashlib.sha256(identity.encode()).hexdigest()[:16]
