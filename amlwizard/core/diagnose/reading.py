"""Reads a piece of a file that others may have put there, and says why where it cannot."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from amlwizard.core.plain_files import open_plain

if TYPE_CHECKING:
    from pathlib import Path

CUT: Final = "[...]"
"""Stands where something was left out."""


def last_lines(path: Path, limit: int) -> str:
    """Return the end of a file, at most ``limit`` bytes of whole lines, so that nothing is cut where a secret may stand.

    Raises:
        OSError: it cannot be read.
    """
    with open_plain(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, size - limit))
        content = stream.read(limit)
    if size <= limit:
        return _decoded(content)
    whole = content.partition(b"\n")[2]  # what stands before may be half a word, and half a secret is not recognised
    return f"{CUT}\n{_decoded(whole)}"


def first_lines(path: Path, limit: int) -> str:
    """Return the beginning of a file in the same way.

    Raises:
        OSError: it cannot be read.
    """
    with open_plain(path) as stream:
        content = stream.read(limit + 1)
    if len(content) <= limit:
        return _decoded(content)
    return _decoded(content[:limit].rpartition(b"\n")[0]) + f"\n{CUT}"


def _decoded(content: bytes) -> str:
    """Return the text; one of 16 bits is not to keep its secrets from being seen for what they are."""
    return content.decode("utf-8", "replace").replace("\0", "")
