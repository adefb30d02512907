"""Files of this computer that a lock names as the only source of a package: whether they are still what they were."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amlwizard.core.added_lines import name_of
from amlwizard.core.catalogue import Phrase
from amlwizard.core.environment.by_hand import STORE_PREFIX
from amlwizard.core.errors import AmlError
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.plain_files import exists
from amlwizard.core.storing import missing_archives
from amlwizard.core.urls import local_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.lock import LockedFile


def is_sound(place: Path, sha256: str) -> bool:
    """Tell whether a file is there with this content. Blocks."""
    try:
        return file_sha256(place) == sha256
    except OSError:
        return False


def file_gone(run: RunContext, package: str, place: Path) -> AmlError:
    """Return the error for a package whose file is neither what it was in its place nor in the store; it names the way out.

    Its code is ``AML_ADDED_FILE_GONE`` for what was added, and ``AML_REQUIRED_FILE_GONE`` for what the requirements name.
    Where the place is in the store itself, as a bundle brought the file or the lock was brought back without addresses, it
    is ``AML_STORE_FILE_LOST``; only what was installed by hand from a file of this computer was added from there.
    """
    wish, downloads = run.wish, run.workspace.downloads
    line = next((line for line in wish.added if name_of(line) == package), None)
    if place.is_relative_to(downloads) and (line is None or STORE_PREFIX not in line):
        way = Phrase("local_file.way_bundle" if wish.kind == "bundle" else "local_file.way_refresh")
        return AmlError("AML_STORE_FILE_LOST", package=package, file=place.name, folder=str(downloads), way=way)
    state = Phrase("local_file.changed" if exists(place) else "local_file.absent")
    if line is not None:
        return AmlError("AML_ADDED_FILE_GONE", package=package, path=str(place), state=state)
    return AmlError("AML_REQUIRED_FILE_GONE", package=package, path=str(place), state=state, name=wish.name)


async def refuse_gone(run: RunContext, missing: Sequence[LockedFile]) -> None:
    """Refuse to go on where the only source of something that the store lacks is a file of this computer that is gone.

    Raises:
        AmlError: as ``file_gone``.
    """

    def look() -> AmlError | None:
        for file in missing_archives(run, missing):
            place = _place(file)
            if place is not None and not is_sound(place, file.sha256 or ""):
                return file_gone(run, file.name, place)
        return None

    if (gone := await asyncio.to_thread(look)) is not None:
        raise gone


def _place(file: LockedFile) -> Path | None:
    """Return where a file lies on this computer; None where it can be had from elsewhere."""
    if file.url is None:
        return file.path
    return local_path(file.url) if file.url.startswith("file:") and file.path is None else None
