"""Hints where the organisation has fixed what they would have the user change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amlwizard.core.errors import AmlError
    from amlwizard.core.organisation import Organisation

_PROPOSALS: Final = {
    "proxy": re.compile(r"--proxy\b|proxy(?:'s)? address|set the proxy|Use a proxy whose"),
    "indexUrl": re.compile(
        r"--index-url\b|AML_INDEX_URL|another index|index address|address of the index|an index that|the index that"
        r"|the index with|or choose another\b"
    ),
    "extraIndexUrls": re.compile(r"--extra-index-url\b"),
    "caFile": re.compile(r"--ca-file\b"),
    "pythonMirror": re.compile(r"\bpythonMirror\b"),
    "pythonDownloadsJson": re.compile(r"--python-downloads-json\b"),
}
"""The settings of the network, and the English words with which a hint proposes to change one."""


def note_locks(error: AmlError, organisation: Organisation | None) -> None:
    """Let the hint of an error know what nobody here can change."""
    if organisation is not None and organisation.locked:
        error.arguments.setdefault("locked", tuple(sorted(organisation.locked)))
        error.arguments.setdefault("locked_in", str(organisation.file))


def locked_proposals(hint: str, locked: Iterable[str]) -> list[str]:
    """Return the settings that an English hint proposes to change although they are locked."""
    return [key for key in locked if key in _PROPOSALS and _PROPOSALS[key].search(hint)]
