"""``runtime/store.json``: which files of ``downloads/`` amlwizard put there, and may therefore free.

A file is listed before its first byte is there, so that what a killed run leaves behind is known as well. What lies in a
folder of its own is not listed: it has a record beside it (``built_store``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amlwizard.core.built_store import note_own_place, own_place
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.records import read_record, utc_now, write_record

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from amlwizard.core.paths import Workspace


@dataclass(frozen=True)
class Noted:
    """What a file has to be; ``size`` is in bytes, each None where it was not known."""

    sha256: str | None
    size: int | None


def note_files(workspace: Workspace, files: Mapping[Path, Noted]) -> None:
    """Note those files that go into the store; others count nothing, and what is listed already costs nothing."""
    entries = _entries(workspace)
    fresh: dict[str, Noted] = {}
    for path, noted in files.items():
        if path.parent.parent == workspace.built and noted.sha256 is not None:
            note_own_place(path, noted.sha256)
        if path.parent != workspace.downloads:
            continue
        known = _noted(entries.get(path.name))
        if known is not None and known.sha256 == noted.sha256 and noted.size is None:
            continue  # its size may be known
        if known != noted:
            fresh[path.name] = noted
    if fresh:
        now = utc_now()
        entries |= {
            name: {"sha256": noted.sha256, "size": noted.size, "noted": now} for name, noted in sorted(fresh.items())
        }
        write_record(workspace.store_record, {"files": entries})


def store_place(workspace: Workspace, filename: str, sha256: str | None) -> Path:
    """Return where a file of this name and content lies in the store, or is to be put. Blocks for a moment.

    Two wheels may have one name, as one that was built twice has, or one that two indexes made: another lock may need the
    first, so the second gets a folder of its own.
    """
    usual = workspace.downloads / filename
    if sha256 is None or not filename.endswith(".whl"):
        return usual
    own = own_place(workspace, filename, sha256)
    if own.is_file():
        return own
    if not usual.is_file():
        return usual
    known = noted_files(workspace).get(filename)
    is_it = (known is not None and known.sha256 == sha256) or file_sha256(usual) == sha256
    return usual if is_it else own


def noted_files(workspace: Workspace) -> dict[str, Noted]:
    """Return what is listed, by file name."""
    listed = {name: _noted(entry) for name, entry in _entries(workspace).items()}
    return {name: noted for name, noted in listed.items() if noted is not None}


def forget_files(workspace: Workspace, names: Collection[str]) -> None:
    """Take files off the list after they were removed."""
    entries = _entries(workspace)
    kept = {name: entry for name, entry in entries.items() if name not in names}
    if len(kept) < len(entries):
        write_record(workspace.store_record, {"files": kept})


def _entries(workspace: Workspace) -> dict[str, Any]:
    entries = (read_record(workspace.store_record) or {}).get("files")
    return entries if isinstance(entries, dict) else {}


def _noted(entry: object) -> Noted | None:
    if not isinstance(entry, dict):
        return None
    sha256, size = entry.get("sha256"), entry.get("size")
    return Noted(sha256 if isinstance(sha256, str) else None, size if isinstance(size, int) else None)
