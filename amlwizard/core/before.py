"""What an environment had besides its lock when another one took its place: noted in the lock of that one, for undo.

The note is ``[tool.amlwizard.before]``: ``requirements`` keep what was there, ``packages`` say in which versions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amlwizard.core.environment.by_hand import find_by_hand, wanted_by_user
from amlwizard.core.facts import AddedPackage
from amlwizard.core.keeping import take_local_wheels
from amlwizard.core.lock import lock_text, own_table, own_texts, read_lock, readable_lock
from amlwizard.core.records import write_text_atomically
from amlwizard.core.wish import lock_in_use

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.pylock import Pylock

    from amlwizard.core.paths import Workspace


@dataclass(frozen=True)
class Before:
    """What was added by hand, as requirements, and all that was there because of it."""

    requirements: tuple[str, ...] = ()
    packages: tuple[AddedPackage, ...] = ()


def before_last_change(workspace: Workspace) -> Before:
    """Return what the environment before the present one had besides the previous lock. Blocks."""
    return before_in(lock_in_use(workspace))


def before_in(path: Path) -> Before:
    """Return what a lock of the workspace notes of that. Blocks."""
    lock = readable_lock(path)
    note = own_table(lock).get("before") if lock is not None else None
    if not isinstance(note, dict):
        return Before()
    listed = note.get("packages")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list | tuple) else []
    packages = (AddedPackage(str(entry.get("name")), str(entry.get("version")), entry.get("locked")) for entry in entries)
    return Before(own_texts(note, "requirements"), tuple(packages))


def note_before(workspace: Workspace, source: Path) -> Path:
    """Note in the lock of the next environment what the one in use has besides its own; return the lock that says so.

    Where the lock stays what it is, a copy of it becomes the next one: leaving out what was added is a change to go back
    from. Wheels of this computer are copied into the store for it. It blocks.

    Args:
        workspace: the workspace, the environment in use still in its place.
        source: the lock of the next environment.
    """
    found = find_by_hand(workspace)
    if not found and source != workspace.next_lock:
        return source
    lock = read_lock(source)
    about = {key: value for key, value in own_table(lock).items() if key != "before"}
    earlier = own_table(readable_lock(lock_in_use(workspace)) or lock).get("before")
    if not found and earlier is not None and is_unchanged(workspace):
        about["before"] = earlier  # the previous lock stays, and so does what was there besides it
    if found:
        take_local_wheels(workspace)
        requirements = [package.requirement for package in wanted_by_user(found)]
        about["before"] = {"requirements": requirements, "packages": [_entry(package.shown) for package in found]}
    text = lock_text(replace(lock, tool={**(lock.tool or {}), "amlwizard": about}))
    write_text_atomically(workspace.next_lock, text)
    return workspace.next_lock


def is_unchanged(workspace: Workspace) -> bool:
    """Tell whether the next environment holds the files of the one in use, for the same wish. Blocks for a moment."""
    present, following = (readable_lock(path) for path in (workspace.local_lock, workspace.next_local_lock))
    if present is None or following is None or not own_table(present):
        return False
    return (present.packages, _wished(present)) == (following.packages, _wished(following))


def _wished(lock: Pylock) -> dict[str, Any]:
    return {key: own_table(lock).get(key) for key in ("kind", "name", "digest", "python", "accelerator", "added")}


def _entry(package: AddedPackage) -> dict[str, Any]:
    locked = {"locked": package.locked} if package.locked is not None else {}
    return {"name": package.name, "version": package.version, **locked}
