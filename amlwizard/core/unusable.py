"""Why a path that somebody named cannot be used: nothing there, something else there, or not to be reached at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.catalogue import Phrase
from amlwizard.core.plain_files import is_there
from amlwizard.core.system_errors import reason_of

if TYPE_CHECKING:
    from pathlib import Path


def why_no_file(path: Path | str) -> Phrase:
    """Return why a path is not that of a file."""
    return _why(path, "candidate.missing", "settings.not_a_file")


def why_no_folder(path: Path | str) -> Phrase:
    """Return why a path is not that of a folder."""
    return _why(path, "settings.no_folder", "settings.not_a_folder")


def _why(path: Path | str, missing: str, other: str) -> Phrase:
    try:
        return Phrase(other if is_there(path) else missing)
    except OSError as error:
        return Phrase("settings.out_of_reach", {"reason": reason_of(error)})
