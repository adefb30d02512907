"""What a workspace takes on the disk, part by part."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amlwizard.core.environment.removal import is_link

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

    from amlwizard.core.paths import Workspace


@dataclass(frozen=True)
class DiskUse:
    """Sizes in bytes. A file with several hard links counts once, for the first of these parts that has it."""

    environment: int = 0
    tools: int = 0
    """Python and uv."""
    store: int = 0
    cache: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.environment + self.tools + self.store + self.cache


def disk_use(workspace: Workspace, stopped: Event) -> DiskUse:
    """Return the sizes of the parts. Blocks: call it in a thread; ``stopped`` ends it early.

    What lies elsewhere, behind a link, takes nothing here.
    """
    seen: set[tuple[int, int]] = set()
    return DiskUse(
        environment=_size(workspace.venv, seen, stopped),
        tools=_size(workspace.interpreters, seen, stopped) + _size(workspace.tools, seen, stopped),
        store=_size(workspace.downloads, seen, stopped),
        cache=_size(workspace.cache, seen, stopped),
    )


def _size(folder: Path, seen: set[tuple[int, int]], stopped: Event) -> int:
    """Return the size of the files below a folder that were not ``seen`` yet."""
    size = 0
    folders = [] if is_link(folder) else [os.fspath(folder)]
    while folders and not stopped.is_set():
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    found = os.lstat(entry.path)  # what Windows tells with the list has no links
                    if stat.S_ISDIR(found.st_mode) and not _leads_elsewhere(found):
                        folders.append(entry.path)
                    elif found.st_nlink == 1 or (file := (found.st_dev, found.st_ino)) not in seen:
                        size += found.st_size
                        if found.st_nlink > 1:
                            seen.add(file)
        except OSError:  # gone meanwhile, or never there
            continue
    return size


def _leads_elsewhere(status: os.stat_result) -> bool:
    return bool(getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT)
