"""Brings a damaged or lost ``pylock.toml`` back from the lock of the installed files, which says the same of its making."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.environment.marker import read_marker, write_marker
from amlwizard.core.lock import lock_digest, readable_lock
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.records import write_text_atomically
from amlwizard.core.wish import lost_lock, recorded_in

if TYPE_CHECKING:
    from amlwizard.core.facts import EnvironmentFacts
    from amlwizard.core.paths import Workspace


def with_lock(state: EnvironmentFacts, workspace: Workspace) -> EnvironmentFacts:
    """Return the state of an environment; one that could not be repaired or rebuilt as it is, is damaged. Blocks."""
    lock = lost_lock(workspace) if state.state in {"ready", "stale"} else None
    if lock is None:
        return state
    reason = "environment.lock_damaged" if can_recover_lock(workspace) else "environment.lock_lost"
    return replace(state, state="damaged", reason=reason, arguments={"file": str(lock)})


def can_recover_lock(workspace: Workspace) -> bool:
    """Tell whether the lock of the installed files can take the place of the one with addresses. Blocks."""
    recorded = recorded_in(workspace.local_lock)
    if not recorded or readable_lock(workspace.local_lock) is None:
        return False
    marker = read_marker(workspace.venv)
    return marker is None or marker.digest == recorded["digest"]


def recover_lock(workspace: Workspace) -> None:
    """Put it there; the environment in place is the one that it tells of. Blocks for a moment.

    The lock goes last: until it is there, it shows as damaged, and the next repair does all of this again.
    """
    text = read_plain_text(workspace.local_lock)
    marker = read_marker(workspace.venv)
    if marker is not None:
        write_marker(workspace.venv, replace(marker, lock=lock_digest(text)))
    write_text_atomically(workspace.lock, text)  # both lie in one folder, from which its paths count
