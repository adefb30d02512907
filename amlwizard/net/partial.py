"""The part of a file that has arrived, and the note beside it that tells a later attempt, or run, how to go on with it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from amlwizard.core.data_text import parse_json
from amlwizard.core.plain_files import read_plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amlwizard.core.fetching import Download
    from amlwizard.net.crew import Stop

CHUNK = 512 * 1024
WORTH_A_NOTE = 1024 * 1024
"""Partial files below this size are not worth a second file that tells how to resume them."""
_WHILE_SCANNED = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Pauses in seconds between attempts at a rename: on Windows a virus scanner holds a new file for a moment."""


class PartialFile:
    """The ``.part`` and ``.resume.part`` beside a download's target."""

    def __init__(self, download: Download) -> None:
        self._download = download
        target = download.target
        self.path = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.resume.part")

    def resume(self, url: str, digest: hashlib._Hash, stop: Stop) -> int:
        """Hash what is there where it can be gone on with, and remove it otherwise; return its length."""
        for path in (self.path, self._note):
            if path.is_fifo():
                path.unlink()  # or opening it for writing would wait for a reader
        if not self.path.is_file():
            return 0
        if self._download.sha256 is None:
            usable = bool(self.validator(url))
        else:
            usable = self._read_note().get("sha256", self._download.sha256) == self._download.sha256
        limit = self._download.size
        if not usable or (limit is not None and self.path.stat().st_size > limit):
            self.discard()
            return 0
        return hash_file(self.path, digest, stop)

    def validator(self, url: str) -> str | None:
        """Return what names the version of the file that an address had, for If-Range."""
        note = self._read_note()
        return note.get("validator") if note.get("address") == _known_by(url) else None

    def write_note(self, headers: Mapping[str, str], url: str) -> None:
        """Note which version of the file an address gives."""
        etag = headers.get("ETag", "")
        validator = etag if etag.startswith('"') else headers.get("Last-Modified", "")
        note = {"address": _known_by(url), "validator": validator}
        if self._download.sha256:
            note["sha256"] = self._download.sha256
        self._note.unlink(missing_ok=True)
        self._note.write_text(json.dumps(note), encoding="utf-8")

    def put_in_place(self, stop: Stop) -> None:
        """Give the file its final name.

        It is not flushed to the disk: Commit does that for the whole store at once, and what a power cut before it leaves
        behind is found by its hash.
        """
        for pause in _WHILE_SCANNED:
            try:
                self.path.replace(self._download.target)
                break
            except PermissionError:
                stop.pause(pause)
        else:
            self.path.replace(self._download.target)
        self._note.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove what is there."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _read_note(self) -> dict[str, str]:
        try:
            note = parse_json(read_plain_text(self._note))
        except (OSError, ValueError):
            return {}
        return {k: v for k, v in note.items() if isinstance(v, str)} if isinstance(note, dict) else {}


def hash_file(path: Path, digest: hashlib._Hash, stop: Stop) -> int:
    """Hash a file and return its length."""
    length = 0
    with path.open("rb", buffering=0) as stream:
        while piece := stream.read(CHUNK):
            stop.check()
            digest.update(piece)
            length += len(piece)
    return length


def _known_by(url: str) -> str:
    """Return by what a note knows an address: a secret that stands in an address must not lie in the store."""
    return hashlib.sha256(url.encode()).hexdigest()
