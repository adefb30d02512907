"""Writes a bundle: beside its place, read back and compared, and only then put there."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.bundle.manifest import MANIFEST, FileRecord, Manifest
from amlwizard.core.bundle.places import part_of
from amlwizard.core.bundle.reading import open_bundle
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.moving import CHUNK, Moving
from amlwizard.core.records import sync_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every entry, so that the same content makes the same file."""
_ROOM: Final = 64 * 1024
"""Bytes for headers beyond the content of the files."""


@dataclass(frozen=True)
class Member:
    """One file that goes into a bundle: a file of the disk, or ``body`` where ``source`` is None."""

    name: str
    record: FileRecord
    source: Path | None = None
    body: bytes = b""

    @classmethod
    def of_text(cls, name: str, text: str) -> Member:
        """Return a small file made here."""
        body = text.encode()
        return cls(name, FileRecord(len(body), hashlib.sha256(body).hexdigest()), None, body)


def write_bundle(out: Path, manifest: Manifest, members: Sequence[Member], moving: Moving) -> str:
    """Write a bundle and return the SHA-256 of its file; what was at ``out`` before is replaced by a complete one only.

    Args:
        out: where it shall be.
        manifest: its manifest, which names exactly the members.
        members: its files, with the hashes that they must have.
        moving: counts the bytes twice, for writing and for reading back.

    Raises:
        AmlError: ``AML_BUNDLE_SPACE``, ``AML_BUNDLE_WRITE``, or ``AML_BUNDLE_SOURCE`` where a file is not what it was.
    """
    text = Member.of_text(MANIFEST, manifest.text())
    needed = sum(member.record.size for member in members) + text.record.size + _ROOM
    part = part_of(out)
    moving.total = 2 * needed
    begun = False
    try:
        free = shutil.disk_usage(out.parent).free
        if free < needed:
            raise AmlError("AML_BUNDLE_SPACE", folder=str(out.parent), needed=needed, free=free)
        begun = True
        with part.open("wb") as stream:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
                for member in (text, *members):
                    moving.subject = Path(member.name).name
                    _add(archive, member, moving)
            stream.flush()
            os.fsync(stream.fileno())
        actual = _read_back(part, members, moving)
        part.replace(out)
        sync_folder(out.parent)
    except OSError as error:
        raise AmlError("AML_BUNDLE_WRITE", path=str(out), reason=error.strerror or str(error)) from error
    finally:
        if begun:
            part.unlink(missing_ok=True)
    return actual


def _add(archive: zipfile.ZipFile, member: Member, moving: Moving) -> None:
    information = zipfile.ZipInfo(member.name, _LONG_AGO)
    information.create_system = 3  # so that the mode below is understood
    mode = 0o755 if member.name.startswith("uv/") else 0o644
    information.external_attr = (stat.S_IFREG | mode) << 16
    information.file_size = member.record.size
    with archive.open(information, "w") as target:
        if member.source is None:
            target.write(member.body)
            moving.advance(len(member.body))
            return
        with member.source.open("rb", buffering=0) as source:
            while piece := source.read(CHUNK):
                target.write(piece)
                moving.advance(len(piece))


def _read_back(part: Path, members: Sequence[Member], moving: Moving) -> str:
    """Read the new bundle as whoever gets it will; return the SHA-256 of the file."""
    try:
        actual = open_bundle(part).check(moving)
    except RefusedError as error:
        for member in members:
            if member.source is not None and _sha256(member.source, moving) != member.record.sha256:
                raise AmlError("AML_BUNDLE_SOURCE", file=str(member.source)) from error
        raise AmlError("AML_BUNDLE_WRITE", path=str(part), reason=str(error)) from error
    assert actual is not None  # noqa: S101 - it is a file
    return actual


def _sha256(path: Path, moving: Moving) -> str:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as stream:
        while piece := stream.read(CHUNK):
            digest.update(piece)
            moving.advance(0)
    return digest.hexdigest()
