"""Puts the parts of a report into one zip that stays small, whatever they hold."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.diagnose.reading import CUT

if TYPE_CHECKING:
    from amlwizard.core.diagnose.redaction import Redactor

ROOM: Final = 900_000
"""Bytes of all texts together, before they are compressed: so that the file stays under 1 MB even where nothing shrinks."""
_JSON_ROOM: Final = 120_000
_LONGEST_LIST: Final = 400
_LONGEST_TEXT: Final = 4000


class Packer:
    """Takes the parts in the order of their weight: what comes when the room is used up is named, and left out."""

    def __init__(self, redactor: Redactor) -> None:
        self._content = BytesIO()
        self._archive = zipfile.ZipFile(self._content, "w", zipfile.ZIP_DEFLATED)
        self._redactor = redactor
        self._room = ROOM

    def add(self, name: str, value: Any, *, newest_last: bool = False) -> None:
        """Add a part: JSON values where its name says so, a text otherwise."""
        if name.endswith(".json"):
            self._add_json(name, value)
        else:
            self._add_text(name, str(value), newest_last=newest_last)

    def _add_text(self, name: str, text: str, *, newest_last: bool) -> None:
        """Add a text, redacted; a log that is too long loses its oldest lines, any other text its last ones."""
        content = self._redactor.text(text).encode("utf-8", "backslashreplace")
        if len(content) > self._room:
            content = _shortened(content, self._room, from_end=newest_last)
        self._room -= len(content)
        self._archive.writestr(self._redactor.text(name), content)

    def _add_json(self, name: str, value: Any) -> None:
        """Add JSON values, redacted; long lists are shortened until they fit."""
        clean = self._redactor.value(value)
        longest = _LONGEST_LIST
        room = min(self._room, _JSON_ROOM)
        text = _dumped(_limited(clean, longest))
        while len(text) > room and longest > 1:
            longest //= 2
            text = _dumped(_limited(clean, longest))
        if len(text) > room:
            text = _dumped({"left_out": f"{len(text)} bytes"})
        self._room -= len(text)
        self._archive.writestr(name, text)

    def finish(self) -> bytes:
        """Return the whole zip; nothing can be added any more."""
        self._archive.close()
        return self._content.getvalue()


def _shortened(content: bytes, room: int, *, from_end: bool) -> bytes:
    room -= len(CUT) + 1
    if room <= 0:
        return b""
    mark = CUT.encode()
    if from_end:
        return mark + b"\n" + content[-room:].partition(b"\n")[2]
    return content[:room].rpartition(b"\n")[0] + b"\n" + mark


def _dumped(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _limited(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + CUT
    if isinstance(value, list):
        kept = [_limited(entry, longest) for entry in value[:longest]]
        return kept if len(value) <= longest else [*kept, f"{CUT} {len(value) - longest} more"]
    if isinstance(value, dict):
        entries = list(value.items())
        kept_entries = {key: _limited(entry, longest) for key, entry in entries[: max(longest, 30)]}
        more = len(entries) - len(kept_entries)
        return kept_entries if not more else {**kept_entries, CUT: f"{more} more"}
    return value
