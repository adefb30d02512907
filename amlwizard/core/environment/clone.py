"""Copies an environment by hard links, without the files of what is damaged, so that only that has to be installed."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.environment.layout import distribution_of, metadata_names, site_folders
from amlwizard.core.environment.links import copy_link
from amlwizard.core.environment.marker import is_marker
from amlwizard.core.environment.record_check import recorded_files
from amlwizard.core.environment.removal import is_link

if TYPE_CHECKING:
    from collections.abc import Collection


def clone_environment(source: Path, target: Path, without: Collection[str]) -> None:
    """Make ``target`` a second environment with the files of ``source``. Blocks for a second: call it in a thread.

    Files are hard links, which is safe because nothing writes into an installed file in place; where links are refused
    they are copies. Left out are the marker and all that belongs to the distributions ``without`` (normalised names):
    their metadata, what their records list, and its bytecode. Links are taken over as they are.
    """
    left_out = _files_of(source, without)
    links = True
    for folder, folders, files in os.walk(source):
        place = Path(folder).relative_to(source)
        (target / place).mkdir()
        shutil.copymode(folder, target / place)
        for name in list(folders):
            path = Path(folder, name)
            if path in left_out:
                folders.remove(name)
            elif is_link(path):
                folders.remove(name)
                copy_link(path, target / place / name)
        for name in files:
            path = Path(folder, name)
            if path in left_out or (place == Path() and is_marker(name)):
                continue
            if path.is_symlink():
                copy_link(path, target / place / name)
                continue
            if links:
                try:
                    os.link(path, target / place / name)
                    continue
                except OSError:
                    links = False  # a file system without them, or too many of one file
            shutil.copy2(path, target / place / name)
    places = {place for path in left_out for place in path.relative_to(source).parents}
    for emptied in sorted(places - {Path()}, key=lambda place: len(place.parts), reverse=True):
        with suppress(OSError):
            (target / emptied).rmdir()  # only where nothing is left in it


def _files_of(environment: Path, names: Collection[str]) -> set[Path]:
    """Return every file and metadata folder of some distributions."""
    found: set[Path] = set()
    for site in site_folders(environment):
        for metadata in metadata_names(site):
            if distribution_of(metadata)[0] not in names:
                continue
            found.add(site / metadata)
            for file in recorded_files(environment, site, metadata):
                found.add(file)
                if file.suffix == ".py":
                    found.update(file.parent.glob(f"__pycache__/{file.stem}.*.pyc"))
    return found
