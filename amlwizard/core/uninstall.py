"""Removes what ``receipt.json`` lists, and in folders that hold more what is ours, and nothing else (DESIGN 4, promise P3).

Outside the workspace that is what the user had put there (``opening/outside.py``), and folders above it that are empty.
What belongs to the user stays, and so does whatever else lies in the workspace. No link is followed. The receipt goes last,
so that an interrupted removal can be done once more.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from amlwizard.core import receipt
from amlwizard.core.environment.marker import marker_names
from amlwizard.core.environment.removal import count_files, is_link, remove_counted
from amlwizard.core.errors import RefusedError
from amlwizard.core.opening.outside import remove_outside
from amlwizard.core.own_parts import OwnParts, own_folders, own_records
from amlwizard.core.plain_files import is_folder
from amlwizard.core.root_checks import refuse_linked_folders

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from amlwizard.core.paths import Workspace


@dataclass
class Removal:
    """What an uninstallation came to, and while it goes on, how far it is."""

    done: int = 0
    """How many files have been removed; counted by the folder."""
    total: int | None = None
    """How many there are, our own records aside; None until they are counted."""
    stuck: list[Path] = field(default_factory=list)
    """What is ours and could not be removed."""
    kept: list[Path] = field(default_factory=list)
    """What still lies in the workspace because it is not ours, or the user's own."""


def check_receipt(workspace: Workspace) -> None:
    """Make sure that there is a receipt to go by.

    Raises:
        RefusedError: there is none (``AML_NOTHING_TO_UNINSTALL``), a newer amlwizard wrote it, or it lies behind a link
            (``AML_FOLDER_LINK``).
    """
    refuse_linked_folders(workspace)
    if not receipt.created(workspace):
        raise RefusedError("AML_NOTHING_TO_UNINSTALL", root=str(workspace.root))


def remove_listed(workspace: Workspace, removal: Removal, stopped: threading.Event) -> None:
    """Remove everything that the receipt lists but our own records. Blocks for seconds: call it in a thread.

    The caller holds the workspace's locks. ``stopped`` is set to end the work after the part that is being removed. An
    environment is removed as a whole, and before what it can be built from, so that little is lost by a cancel.
    """
    own = OwnParts(workspace)
    listed = [path for name in receipt.created(workspace) if (path := _listed_path(workspace, name)) is not None]
    folders = [path for path in listed if path not in {workspace.root, workspace.runtime, *workspace.user_folders}]
    folders.sort(key=lambda path: _turn(workspace, path))
    parts = {path: own.of(path) for path in folders if not _leads_through_link(workspace, path)}
    removal.total = sum(
        _count(part) for path, own_parts in parts.items() for part in ([path] if own_parts is None else own_parts)
    )

    def count(files: int) -> None:
        removal.done += files

    for path in folders:
        for part in _removed_one_by_one(workspace, path, parts):
            if stopped.is_set():
                return
            if not _remove(workspace, part, count):
                removal.stuck.append(part)
        if parts.get(path) is not None:
            _remove_empty(path)  # what is not ours stays in it
    for path in listed:
        if path in workspace.user_folders:
            _remove_empty(path)


def _turn(workspace: Workspace, path: Path) -> int:
    """Return when a listed folder is removed: the sooner, the easier it is made again."""
    turns = {workspace.cache: 0, workspace.downloads: 3, workspace.interpreters: 4}
    environment = path in {workspace.venv, workspace.staged, workspace.aside}
    return turns.get(path, 1 if environment else 2)


def _removed_one_by_one(workspace: Workspace, path: Path, parts: dict[Path, list[Path] | None]) -> list[Path]:
    """Return what of a listed folder is removed one by one, so that a cancel does not wait for all of it."""
    if path not in parts:
        return []
    own = parts[path]
    if own is not None:
        return own
    return [*(sorted(path.glob("*/*")) if path == workspace.cache else ()), path]


def _count(part: Path) -> int:
    return count_files(part) if is_folder(part) and not is_link(part) else int(os.path.lexists(part))


def remove_records(workspace: Workspace, removal: Removal) -> None:
    """Remove our own records, the receipt last, then the workspace's folder where it is ours and nothing is left in it.

    Nothing is done where something of ours is stuck: the receipt is needed once more then.
    """
    entries = receipt.created(workspace)
    removal.stuck += remove_outside(workspace)
    if not removal.stuck:
        for entry in own_records(workspace):
            if not _remove(workspace, entry):
                removal.stuck.append(entry)
    if not removal.stuck:
        workspace.receipt.unlink(missing_ok=True)
        _remove_empty(workspace.runtime)
    removal.kept = _kept(workspace, removal)
    if not removal.kept and not removal.stuck:
        for folder in _own_folders(workspace, entries):
            _remove_empty(folder)


def _kept(workspace: Workspace, removal: Removal) -> list[Path]:
    """Return what still lies in the workspace; of a folder that is ours otherwise, what is in it."""
    kept: list[Path] = []
    for path in _inside(workspace.root):
        if path == workspace.runtime and removal.stuck:
            continue
        if path not in own_folders(workspace) or is_link(path):
            kept.append(path)
            continue
        kept += [inner for inner in (_inside(path) or [path]) if inner not in removal.stuck]
    return kept


def _inside(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.iterdir())
    return []


def _listed_path(workspace: Workspace, name: str) -> Path | None:
    """Return the path of an entry inside the workspace; None for one that leads elsewhere or into what is the user's."""
    relative = PurePosixPath(name)
    if relative.is_absolute() or Path(name).is_absolute() or ".." in relative.parts:
        return None
    path = workspace.root / relative
    if any(path.is_relative_to(folder) and path != folder for folder in workspace.user_folders):
        return None
    return path


def _remove(workspace: Workspace, path: Path, on_removed: Callable[[int], None] = lambda _files: None) -> bool:
    """Remove a file or a folder; a link is not followed, and not ours but where uv made it among its interpreters."""
    if _leads_through_link(workspace, path) and not (path.parent == workspace.interpreters and is_link(path)):
        return True
    if is_folder(path) and not is_link(path):
        for marker in marker_names(path):  # what is left of it by an end in between must not be taken for verified
            with suppress(OSError):
                (path / marker).unlink()
                on_removed(1)
        return remove_counted(path, on_removed)
    with suppress(OSError):
        path.unlink()
        on_removed(1)
    return not os.path.lexists(path)


def _leads_through_link(workspace: Workspace, path: Path) -> bool:
    places = [path, *path.parents]
    return any(is_link(place) for place in places[: places.index(workspace.root)])


def _remove_empty(folder: Path) -> None:
    if not is_link(folder):
        with suppress(OSError):  # something lies in it
            folder.rmdir()


def _own_folders(workspace: Workspace, entries: dict[str, dict[str, object]]) -> list[Path]:
    """Return the workspace's folder and those above it, as far as they were made for it, the innermost first."""
    root = workspace.root
    above = [Path(name) for name in entries if Path(name).is_absolute() and root.is_relative_to(name)]
    own = [root] if "." in entries else []
    return [*own, *sorted(above, key=lambda folder: len(folder.parts), reverse=True)]
