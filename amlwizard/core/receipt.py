"""``receipt.json``: what amlwizard created, and therefore may delete (DESIGN 4, P3)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from amlwizard.core.environment.marker import marker_names
from amlwizard.core.journal import Action, read_journal
from amlwizard.core.plain_files import is_path
from amlwizard.core.records import read_record, utc_now, write_record

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.paths import Workspace


def created(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """Return what the receipt lists: path (relative to the root where it lies in it) to its kind and time."""
    entries = _listed(workspace) or {}
    return {path: entry for path, entry in entries.items() if is_path(path) and isinstance(entry, dict)}


def _listed(workspace: Workspace) -> dict[str, Any] | None:
    entries = (read_record(workspace.receipt) or {}).get("created")
    return entries if isinstance(entries, dict) else None


def is_damaged(workspace: Workspace) -> bool:
    """Tell whether there is a receipt that cannot be read.

    Raises:
        RefusedError: a newer amlwizard wrote it.
    """
    return os.path.lexists(workspace.receipt) and _listed(workspace) is None


def mend(workspace: Workspace) -> bool:
    """Write a damaged receipt anew, with what shows by itself that it is ours; tell whether it was damaged.

    What else the old one listed stays where it is for good: the user's folders, and the workspace's own.
    """
    if not is_damaged(workspace):
        return False
    write_anew(workspace)
    return True


def write_anew(workspace: Workspace) -> None:
    """Write the receipt with what shows by itself that it is ours."""
    journal = read_journal(workspace)  # is written only once what is in the way has been found to be ours
    building = journal is not None and journal.action is not Action.BEGIN
    environments = (workspace.venv, workspace.staged, workspace.aside)
    # of what lies in these, uninstalling takes only what is known to be ours
    folders = [workspace.runtime, workspace.tools, workspace.interpreters, workspace.downloads]
    if (workspace.cache / "CACHEDIR.TAG").is_file():  # which uv writes
        folders.append(workspace.cache)
    kinds = {folder: "folder" for folder in folders if folder.is_dir()}
    kinds |= {path: "environment" for path in environments if building or marker_names(path)}
    now = utc_now()
    entries = {_name(workspace, path): {"kind": kind, "created": now} for path, kind in kinds.items()}
    write_record(workspace.receipt, {"created": entries})


def owns(workspace: Workspace, path: Path) -> bool:
    """Tell whether the receipt lists this path."""
    return _name(workspace, path) in created(workspace)


def absent_places(workspace: Workspace) -> tuple[Path, ...]:
    """Return every place of a workspace that does not exist yet, those above it that have to be made for it included.

    An empty folder that is there counts as well where nothing but ours will come into it.
    """
    root = workspace.root
    shown = (*root.parents, root, *workspace.user_folders)
    own = (workspace.runtime, workspace.tools, workspace.interpreters, workspace.downloads, workspace.cache)
    return (*(place for place in shown if not os.path.lexists(place)), *(place for place in own if _is_free(place)))


def _is_free(place: Path) -> bool:
    if not os.path.lexists(place):
        return True
    if place.is_symlink() or not place.is_dir():
        return False
    with os.scandir(place) as entries:
        return next(entries, None) is None


def note_created(workspace: Workspace, *paths: Path, kind: str) -> None:
    """List paths before they are created; what is listed already costs nothing."""
    mend(workspace)  # or what a damaged one has listed would be forgotten
    entries = created(workspace)
    missing = [name for name in (_name(workspace, path) for path in paths) if name not in entries]
    if missing:
        entries |= {name: {"kind": kind, "created": utc_now()} for name in missing}
        write_record(workspace.receipt, {"created": entries})


def note_outside(workspace: Workspace, path: Path, *, kind: str, sha256: str) -> None:
    """List a file outside the workspace before it is written, with the hash by which it is known again."""
    mend(workspace)
    entries = created(workspace)
    entries[str(path)] = {"kind": kind, "created": utc_now(), "sha256": sha256}
    write_record(workspace.receipt, {"created": entries})


def _name(workspace: Workspace, path: Path) -> str:
    return path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else str(path)
