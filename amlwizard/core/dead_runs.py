"""Clears up after runs that died (kill -9, a power cut), before a new one touches anything (DESIGN 3.9, P2).

Where no run has left anything, this lists two folders and looks at nothing else.
"""

from __future__ import annotations

import os
import platform
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard.core.births import birth_of, is_alive, this_boot
from amlwizard.core.catalogue import text
from amlwizard.core.environment.removal import is_link, remove_tree
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import RefusedError
from amlwizard.core.journal import Action, read_journal
from amlwizard.core.run_record import PREFIX, RECORD, RunRecord, read_run_record
from amlwizard.core.running import Remains
from amlwizard.core.temporary import system_folder
from amlwizard.core.wording import moment_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from amlwizard.core.paths import Workspace
    from amlwizard.core.running import Runner

_NEW_SECONDS: Final = 60.0
"""A folder without a record may belong to a job that is just about to write one; after this time it does not."""


@dataclass(frozen=True)
class Cleared:
    """What was found of dead runs: when the last of them began (UTC), and how many processes were stopped."""

    since: str
    stopped: int

    def in_words(self, language: str) -> str:
        """Return it as a sentence, with the time of this place."""
        key = {0: "runs.interrupted", 1: "runs.interrupted_one"}.get(self.stopped, "runs.interrupted_many")
        return text(key, language, since=moment_text(self.since), stopped=self.stopped)


@dataclass(frozen=True)
class _Found:
    """The records that were found, by the folder that holds them."""

    dead: dict[Path, RunRecord]
    living: dict[Path, RunRecord]


def left_by_dead_runs(workspace: Workspace) -> bool:
    """Tell whether there is something for ``clear_dead_runs``; changes nothing and needs no lock."""
    return any(not _is_living(record, holds_lock=False) for record in _records(workspace).values())


def is_interrupted(workspace: Workspace) -> bool:
    """Tell whether a dead run left something, or half an exchange; changes nothing and needs no lock.

    Raises:
        RefusedError: a newer amlwizard left it.
    """
    journal = read_journal(workspace)  # the note of a beginning stays for repair to go on from
    return (journal is not None and journal.action is not Action.BEGIN) or left_by_dead_runs(workspace)


async def clear_dead_runs(workspace: Workspace, runner: Runner) -> Cleared | None:
    """End the processes of dead runs and remove their private folders; the caller holds the workspace's lock alone.

    Returns:
        What was cleared up, or None where no run had died.

    Raises:
        RefusedError: a newer amlwizard left a record.
    """
    found = await run_whole(_find, workspace, runner.run_tag)
    await run_whole(_remove_unfinished, workspace)
    if not found.dead:
        return None
    remains = _remains(workspace, found.dead.values())
    stopped = await runner.end_remains(remains) if remains is not None else 0
    await run_whole(_remove, workspace, found)
    return Cleared(max(record.since for record in found.dead.values()), stopped)


def _find(workspace: Workspace, own_tag: str) -> _Found:
    found = _Found({}, {})
    for place, record in _records(workspace).items():
        living = record.tag == own_tag or _is_living(record, holds_lock=place.parent == workspace.runs)
        (found.living if living else found.dead)[place] = record
    return found


def _records(workspace: Workspace) -> dict[Path, RunRecord]:
    """Return the records of all runs on this workspace by the folders that hold them."""
    records = {}
    for place in _places(workspace):
        here = place.parent == workspace.runs
        try:
            record = read_run_record(place) if here or _is_own(place) else None
        except RefusedError:
            if here:
                raise
            continue  # of a newer amlwizard, on whatever workspace
        if record is not None and (here or record.root == str(workspace.root)):
            records[place] = record
    return records


def _places(workspace: Workspace) -> list[Path]:
    """Return the folders that may hold a record: in the workspace, and ours in the system's temporary folder."""
    found: list[Path] = []
    for parent, prefix in ((workspace.runs, ""), (system_folder(), PREFIX)):
        with suppress(OSError), os.scandir(parent) as entries:
            found += [
                parent / entry.name
                for entry in entries
                if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False)
            ]
    return found


def _is_own(place: Path) -> bool:
    """Tell whether a folder belongs to this user: in a folder that all share, anybody may write records."""
    try:
        return os.name == "nt" or place.lstat().st_uid == os.getuid()
    except OSError:  # its run has just ended
        return False


def _is_living(record: RunRecord, *, holds_lock: bool) -> bool:
    """Tell whether a run goes on, or might. That no other run goes on here the workspace's lock has proven already."""
    if holds_lock and not record.shared:
        return False
    if record.machine != (platform.node() or "?"):
        return True  # another computer uses the same folder, and nothing can be known of it
    return record.birth.boot == this_boot() and is_alive(record.pid, record.birth)


def _remove_unfinished(workspace: Workspace) -> None:
    """Remove folders whose runs died before they had written their records; what holds anything else stays."""
    for place in _places(workspace):
        with suppress(OSError):
            if not (place / RECORD).exists() and _is_given_up(place):
                _remove_empty(place)


def _is_given_up(place: Path) -> bool:
    """Tell whether nobody is about to write a record into a folder; some tell in their names who made them."""
    made_by = re.fullmatch(rf"{PREFIX}(\d+)-\w+", place.name)
    if made_by is not None and birth_of(int(made_by[1])) is None:
        return True
    return time.time() - place.stat().st_mtime > _NEW_SECONDS


def _remove_empty(folder: Path) -> None:
    """Remove a folder in which there is at most the beginning of a record.

    Raises:
        OSError: there is more in it, or it is not there.
    """
    for part in folder.glob(f"{RECORD}.*.part"):
        part.unlink()
    folder.rmdir()


def _remains(workspace: Workspace, dead: Iterable[RunRecord]) -> Remains | None:
    """Return what may live on of these runs; None where the system was restarted since."""
    here = [record for record in dead if record.birth.boot == this_boot()]
    if not here:
        return None
    places = [*(folder for record in here for folder in _private(workspace, record)), workspace.staged, workspace.cache]
    return Remains(
        tags=frozenset(record.tag for record in here),
        children=frozenset(child for record in here for child in record.children),
        # the system tells where a process works without the links that lead there, its arguments may name them
        places=tuple(dict.fromkeys([*places, *(place.resolve() for place in places)])),
        not_before=min(record.birth.at for record in here),
    )


def _private(workspace: Workspace, record: RunRecord) -> list[Path]:
    """Return the private folders of a run, and nothing else that a damaged record calls so."""
    system = system_folder()
    return [
        folder
        for folder in record.folders
        if folder.name != ".."
        and (folder.parent == workspace.tmp or (folder.parent == system and folder.name.startswith(PREFIX)))
    ]


def _remove(workspace: Workspace, found: _Found) -> None:
    """Remove the private folders, and at last the records, so that an interruption leaves what leads here again."""
    kept = {folder for record in found.living.values() for folder in record.folders}
    for record in found.dead.values():
        for folder in _private(workspace, record):
            if folder.parent == workspace.tmp or _is_own_of(folder, record):
                _remove_folder(folder)
    with suppress(OSError):
        for folder in workspace.tmp.iterdir():  # the workspace may have been moved since
            if folder not in kept:
                _remove_folder(folder)
    for place in found.dead:
        _remove_folder(place)


def _is_own_of(folder: Path, record: RunRecord) -> bool:
    """Tell whether a folder in the system's temporary folder is that run's own: it holds no other's record.

    It may hold none at all, where the run died before it was written, or while the folder was being removed.
    """
    try:
        inside = read_run_record(folder)
    except RefusedError:
        return False
    return _is_own(folder) and (inside is None or inside.tag == record.tag)


def _remove_folder(folder: Path) -> None:
    with suppress(OSError):
        if folder.is_dir() and not is_link(folder):
            remove_tree(folder)
        else:
            folder.unlink()
