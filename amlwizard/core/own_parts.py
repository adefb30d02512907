"""What of a workspace's folders amlwizard made, and what somebody else put there, which is never deleted (promise P3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from amlwizard.core.built_store import built_wheels
from amlwizard.core.environment.removal import is_link
from amlwizard.core.host import host_facts
from amlwizard.core.interpreters import minor_name, origins
from amlwizard.core.misplaced import OF_BUILT
from amlwizard.core.plain_files import is_folder
from amlwizard.core.store.needs import find_needs
from amlwizard.core.store.survey import is_known, known_names, whole_name

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.paths import Workspace

_OF_UV: Final = re.compile(r"(cpython|pypy|graalpy|pyodide)-\d+\.\d+")
"""How uv names interpreters and its links to them; one that a killed run unpacked is in no record of ours yet."""
_BESIDE: Final = frozenset({".lock", ".temp", ".gitignore", ".cache"})
"""What uv keeps beside the interpreters."""


def own_folders(workspace: Workspace) -> tuple[Path, ...]:
    """Return the folders that hold what is ours by name, and may hold other things."""
    return (workspace.tools, workspace.interpreters, workspace.downloads, workspace.runtime)


def own_records(workspace: Workspace) -> list[Path]:
    """Return what is ours in ``runtime/``, the receipt aside, which goes last."""
    files = [path for path in _entries(workspace.runtime) if not path.is_dir()]
    folders = [folder for folder in workspace.record_folders if folder.is_dir()]
    return [*folders, *(path for path in files if path != workspace.receipt and _becomes(path) in workspace.record_files)]


class OwnParts:
    """Tells what is ours in each folder, by the records as they are now; made before anything is removed."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._store = known_names(workspace, find_needs(workspace, (), host_facts()))
        self._built = {wheel.folder for wheel in built_wheels(workspace)}
        known = origins(workspace).values()
        self._interpreters = {origin.name for origin in known} | {minor_name(origin) for origin in known}

    def of(self, folder: Path) -> list[Path] | None:
        """Return what is ours in a folder; None where all of it is."""
        workspace = self._workspace
        if not is_folder(folder):  # what took its place is not ours
            return []
        if folder == workspace.tools:
            return [path for path in _entries(folder) if _becomes(path) == workspace.uv and not path.is_dir()]
        if folder == workspace.interpreters:
            return [path for path in _entries(folder) if self._is_interpreter(path)]
        if folder == workspace.downloads:
            return self._of_store()
        return None

    def _is_interpreter(self, path: Path) -> bool:
        is_named = path.name in self._interpreters or _OF_UV.match(path.name) is not None
        return path.name in _BESIDE or (is_named and (path.is_dir() or is_link(path)))

    def _of_store(self) -> list[Path]:
        workspace = self._workspace
        own: list[Path] = []
        for path in _entries(workspace.downloads):
            if is_link(path):
                continue
            if path == workspace.unchecked:
                own += [path] if path.is_dir() else []
            elif path.is_file() and is_known(path.name, self._store):
                own.append(path)
            elif path == workspace.built and path.is_dir():
                inside = _entries(path)
                ours = [entry for entry in inside if entry in self._built or OF_BUILT.fullmatch(entry.name)]
                own += [path] if len(ours) == len(inside) else ours
        return own


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _becomes(path: Path) -> Path:
    """Return the path of the whole file that a partial one becomes."""
    return path.with_name(whole_name(path.name))
