"""A mark by which a window sees that somebody else has changed a workspace: cheap enough to be taken all the time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from amlwizard.core.environment.marker import marker_names

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.paths import Workspace

Mark = tuple[tuple[str, int, int], ...]
"""The names, the times and the file numbers of what tells the state of an environment; empty where there is nothing."""


def folder_mark(workspace: Workspace) -> Mark:
    """Return the mark of a workspace; another one means that somebody wrote in it. Creates nothing."""
    venv = workspace.venv
    return tuple(_marks([*(venv / name for name in marker_names(venv)), workspace.journal]))


def _marks(paths: list[Path]) -> list[tuple[str, int, int]]:
    found = []
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116 - it is asked for all the time
        except OSError:
            continue
        found.append((path.name, status.st_mtime_ns, status.st_ino))
    return found
