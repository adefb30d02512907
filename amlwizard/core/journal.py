"""``journal.json``: what is under way with the environment, so that the next start can finish or undo it (DESIGN 3.9).

The journal is written and flushed before the first act that cannot simply be forgotten and removed after the last one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from amlwizard.core.held_files import remove_file
from amlwizard.core.records import read_record, sync_folder, write_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.paths import Workspace


class Action(StrEnum):
    """What is under way."""

    BEGIN = "begin"
    """A first installation is under way, and no lock tells yet what it is to install."""
    STAGE = "stage"
    """A new environment is being built beside the old one; it can be thrown away at any time."""
    COMMIT = "commit"
    """The staged environment is verified and takes the place of the old one."""
    IN_PLACE = "in_place"
    """The environment is being built at its final path; the old one waits aside."""


@dataclass(frozen=True)
class Journal:
    """One entry.

    ``build`` is the identity that the new environment's marker carries. ``had_old`` tells whether ``.venv`` existed when
    the entry was written. ``wished`` says what an installation that has just begun is to install, by the names of choices.
    """

    action: Action
    build: str
    had_old: bool
    wished: Mapping[str, str] = field(default_factory=dict)


def read_journal(workspace: Workspace) -> Journal | None:
    """Return what is under way, or None where nothing is.

    Raises:
        RefusedError: the journal was written by a newer amlwizard.
    """
    record = read_record(workspace.journal)
    if record is None:
        return None
    try:
        wished = {str(name): str(value) for name, value in record.get("wished", {}).items()}
        return Journal(Action(record["action"]), str(record["build"]), record["had_old"] is True, wished)
    except (KeyError, ValueError, AttributeError):
        return None


def write_journal(workspace: Workspace, journal: Journal) -> None:
    """Write and flush what is going to be done."""
    content: dict[str, object] = {"action": journal.action.value, "build": journal.build, "had_old": journal.had_old}
    write_record(workspace.journal, content | ({"wished": dict(journal.wished)} if journal.wished else {}))


def clear_journal(workspace: Workspace) -> None:
    """Say that nothing is under way any more."""
    try:
        remove_file(workspace.journal)
    except FileNotFoundError:
        return
    sync_folder(workspace.runtime)
