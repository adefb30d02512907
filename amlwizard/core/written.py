"""How much a run has written so far: what it does on the disk while its tools say nothing."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amlwizard.core.paths import Workspace


def written_bytes(workspace: Workspace) -> int:
    """Return how many bytes lie where runs write; a file with several links counts once. Called in a thread."""
    sizes: dict[tuple[int, int], int] = {}
    folders = (
        workspace.cache,
        workspace.staged,
        workspace.interpreters,
        workspace.tools,
        workspace.downloads,
        workspace.tmp,
    )
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                with suppress(OSError):  # it is gone again
                    found = os.lstat(os.path.join(place, name))  # noqa: PTH118 - there may be many
                    sizes[found.st_dev, found.st_ino] = found.st_size
    return sum(sizes.values())
