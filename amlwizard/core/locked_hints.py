"""Hints where the organisation has fixed what they would have the user change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amlwizard.core.errors import AmlError
    from amlwizard.core.organisation import Organisation


def note_locks(error: AmlError, organisation: Organisation | None) -> None:
    """Let the hint of an error know what nobody here can change."""
    if organisation is not None and organisation.locked:
        error.arguments.setdefault("locked", tuple(sorted(organisation.locked)))
        error.arguments.setdefault("locked_in", str(organisation.file))
