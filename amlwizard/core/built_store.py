"""Keeps the wheels that were built here: no source is built twice, and none is needed without a network (DESIGN 3.6).

Each lies in a folder of its own in the store, named by what it was built from: an index may have a wheel of the same file
name with another content. A record beside it holds its hash, which is compared before each use.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from packaging.utils import parse_wheel_filename

from amlwizard.core.file_hash import file_sha256
from amlwizard.core.lock import FileKind, LockedFile, StoredWheel
from amlwizard.core.records import read_record, utc_now, write_record

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.facts import PythonFacts
    from amlwizard.core.paths import Workspace

_RECORD = "source.json"


def find_built(workspace: Workspace, file: LockedFile, python: PythonFacts) -> StoredWheel | None:
    """Return the wheel that was built from this source for this interpreter, or None. Blocks: call it in a thread.

    A local folder's content may change at any time, so that what was built from it before counts as absent.
    """
    if file.kind is FileKind.DIRECTORY:
        return None
    folder = _folder(workspace, file, python)
    record = read_record(folder / _RECORD)
    if record is None:
        return None
    path = folder / str(record.get("file"))
    if path.parent != folder or not path.is_file() or file_sha256(path) != record.get("sha256"):
        return None
    return _stored(file, path, str(record["sha256"]))


def keep_built(workspace: Workspace, file: LockedFile, python: PythonFacts, wheel: Path) -> StoredWheel:
    """Copy a wheel that was just built into the store. Blocks: call it in a thread."""
    folder = _folder(workspace, file, python)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / wheel.name
    part = target.with_name(f"{target.name}.part")
    shutil.copyfile(wheel, part)
    part.replace(target)
    sha256 = file_sha256(target)
    source = {"kind": file.kind.value, "sha256": file.sha256, "commit": file.commit, "subdirectory": file.subdirectory}
    about = {"name": file.name, "file": target.name, "sha256": sha256, "source": source, "python": python.version_text}
    write_record(folder / _RECORD, {**about, "built": utc_now()})
    for other in folder.glob("*.whl"):
        if other != target:
            with suppress(OSError):
                other.unlink()
    return _stored(file, target, sha256)


def _stored(file: LockedFile, path: Path, sha256: str) -> StoredWheel:
    return StoredWheel(file.name, str(parse_wheel_filename(path.name)[1]), path, path.stat().st_size, sha256)


def _folder(workspace: Workspace, file: LockedFile, python: PythonFacts) -> Path:
    """Return the place of what is built from a source for an interpreter; a commit or a hash names the source's content."""
    content = file.commit or file.sha256 or str(file.path)
    target = [python.implementation, python.minor, python.free_threaded, python.platform_tag]
    identity = json.dumps([file.kind.value, file.name, content, file.subdirectory, *target])
    return workspace.built / hashlib.sha256(identity.encode()).hexdigest()[:16]
