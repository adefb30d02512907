"""What a first installation was about to install, from its beginning to the lock that tells it: kept in the journal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.choices import IndexStrategy
from amlwizard.core.journal import Action, Journal, clear_journal, read_journal, write_journal
from amlwizard.core.wish import recorded_in

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices
    from amlwizard.core.paths import Workspace
    from amlwizard.core.wish import Wish

_WISHED: Final = ("requirements", "profile", "bundle", "bundle_sha256", "python", "accelerator")
_SOURCES: Final = ("index_url", "index_strategy")
_LISTED: Final = ("extra_index_urls", "find_links")
"""A repair is given no address: without these it would go to another index in silence."""


def note_begun(workspace: Workspace, choices: Choices, wish: Wish) -> None:
    """Note what is wished, and from where, so that ``repair`` can go on with it after a death. Blocks for a moment."""
    left = recorded_in(workspace.next_lock)
    if (left.get("kind"), left.get("name")) != (wish.kind, wish.name):
        workspace.next_lock.unlink(missing_ok=True)  # it tells of another wish
    values = {name: getattr(choices, name) for name in (*_WISHED, *_SOURCES)}
    wished = {name: str(value) for name, value in values.items() if value is not None}
    wished |= {name: "\n".join(getattr(choices, name)) for name in _LISTED if getattr(choices, name)}
    write_journal(workspace, Journal(Action.BEGIN, "", had_old=False, wished=wished))


def forget_begun(workspace: Workspace) -> None:
    """Take the note away where the installation ended without an environment, and said why. Blocks for a moment."""
    journal = read_journal(workspace)
    if journal is not None and journal.action is Action.BEGIN:
        clear_journal(workspace)


def begun_choices(workspace: Workspace, choices: Choices) -> Choices | None:
    """Return the choices with what an interrupted first installation was to install; None where nothing tells it.

    Raises:
        RefusedError: the journal was written by a newer amlwizard.
    """
    journal = read_journal(workspace)
    if journal is None or journal.action is not Action.BEGIN:
        return None
    wished = journal.wished
    return replace(
        choices,
        requirements=Path(wished["requirements"]) if "requirements" in wished else None,
        profile=wished.get("profile"),
        bundle=Path(wished["bundle"]) if "bundle" in wished else None,
        bundle_sha256=wished.get("bundle_sha256"),
        python=wished.get("python"),
        accelerator=wished.get("accelerator"),
        index_url=wished.get("index_url"),
        extra_index_urls=tuple(wished.get("extra_index_urls", "").splitlines()),
        index_strategy=next((each for each in IndexStrategy if each == wished.get("index_strategy")), None),
        find_links=tuple(wished.get("find_links", "").splitlines()),
    )
