"""Takes files out of a bundle: into a partial file, compared, renamed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from amlwizard.core.bundle.container import unreadable
from amlwizard.core.errors import AmlError
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.moving import CHUNK, Moving
from amlwizard.core.records import sync_folder
from amlwizard.core.system_errors import not_written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from amlwizard.core.bundle.reading import Bundle


def take_files(bundle: Bundle, targets: Mapping[str, Path], moving: Moving) -> None:
    """Copy entries to their targets; one that is there with the right hash stays.

    Args:
        bundle: the bundle.
        targets: the places, by the names of entries of the manifest.
        moving: counts the bytes.

    Raises:
        AmlError: ``AML_BUNDLE_DAMAGED`` where the bundle has changed since it was checked, ``AML_BUNDLE_UNREADABLE``, or
            ``AML_CANNOT_WRITE``.
    """
    for name, target in targets.items():
        moving.subject = target.name
        record = bundle.manifest.files[name]
        if target.is_file() and target.stat().st_size == record.size and file_sha256(target) == record.sha256:
            moving.advance(record.size)
            continue
        _take(bundle, name, target, moving)
    for folder in {target.parent for target in targets.values()}:
        sync_folder(folder)


def _take(bundle: Bundle, name: str, target: Path, moving: Moving) -> None:
    part = target.with_name(f"{target.name}.part")
    digest = hashlib.sha256()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as stream:
            for piece in _pieces(bundle, name):
                stream.write(piece)
                digest.update(piece)
                moving.advance(len(piece))
        if digest.hexdigest() != bundle.manifest.files[name].sha256:
            raise AmlError("AML_BUNDLE_DAMAGED", path=str(bundle.path), entry=name)
        part.replace(target)
    except OSError as error:
        raise not_written(error, target) from error
    finally:
        part.unlink(missing_ok=True)


def _pieces(bundle: Bundle, name: str) -> Iterator[bytes]:
    """Yield the bytes of an entry; a medium that fails is told apart from a disk that cannot be written."""
    try:
        with bundle.container.open(name) as stream:
            while piece := stream.read(CHUNK):
                yield piece
    except OSError as error:
        raise unreadable(bundle.path, error) from error
