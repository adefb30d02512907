"""Turns the bytes of a child's output into decoded lines, as they come."""

from __future__ import annotations

import codecs
import locale
import sys
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

PIECE_BYTES: Final = 1024 * 1024
"""A line longer than this is delivered in pieces of this size."""


@cache
def fallback_encodings() -> tuple[str, ...]:
    """Return the encodings of tools that do not write UTF-8, the likeliest first.

    Windows tools write the ANSI or the OEM code page. Elsewhere it is the locale's encoding; where that is UTF-8 as well,
    the code page of Chinese Windows, whose text reaches such systems in file names and compiler messages.
    """
    if sys.platform == "win32":
        return ("mbcs", "oem")
    system = codecs.lookup(locale.getencoding()).name
    return ("gbk",) if system in {"utf-8", "ascii"} else (system,)


class LineSplitter:
    """Splits and decodes one stream.

    Lines end in ``\\n`` or ``\\r\\n``. A lone ``\\r`` takes the line back to its beginning, as on a terminal: of a progress
    line only the last state counts. A line is UTF-8, or else in one of the ``encodings``; what fits none is replaced.
    """

    def __init__(self, encodings: Sequence[str] | None = None, piece_bytes: int = PIECE_BYTES) -> None:
        self._encodings = tuple(encodings) if encodings is not None else fallback_encodings()
        self._piece_bytes = piece_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[str]:
        """Take the next bytes; return the lines that they complete."""
        end = data.rfind(b"\n") + 1
        if not end:
            return self._keep(data)
        block = b"".join((*self._parts, data[:end]))
        self._parts, self._size = [], 0
        lines = self._decode_block(block)
        return lines + self._keep(data[end:]) if end < len(data) else lines

    def flush(self) -> list[str]:
        """Return what is left at the end of the stream as a last line."""
        rest = b"".join(self._parts)
        self._parts, self._size = [], 0
        return self._decode_block(rest + b"\n") if rest else []

    def _keep(self, data: bytes) -> list[str]:
        """Keep the beginning of a line; return the pieces of it that are too long to be kept."""
        # Returns at the very end may belong to a line end that is still to come; they overwrite nothing yet. One says as
        # much as many.
        text = data.rstrip(b"\r")
        open_end = len(text) < len(data)
        if not text and self._parts and self._parts[-1].endswith(b"\r"):
            return []
        overwritten = text.rfind(b"\r") + 1
        if overwritten or (text and self._parts and self._parts[-1].endswith(b"\r")):
            self._parts, self._size = [], 0
        data = text[overwritten:] + (b"\r" if open_end else b"")
        if data:
            self._parts.append(data)
            self._size += len(data)
        if self._size - open_end <= self._piece_bytes:
            return []
        rest = b"".join(self._parts)
        pieces = []
        while len(rest) - open_end > self._piece_bytes:
            cut = _character_start(rest, self._piece_bytes)
            pieces.append(self._decode_line(rest[:cut]))
            rest = rest[cut:]
        self._parts, self._size = [rest], len(rest)
        return pieces

    def _decode_block(self, block: bytes) -> list[str]:
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n")
            if b"\r" in block:
                block = b"\n".join(line.rstrip(b"\r").rpartition(b"\r")[2] for line in block.split(b"\n"))
        if len(block) <= self._piece_bytes:
            try:
                lines = block.decode().split("\n")
            except UnicodeDecodeError:
                lines = [self._decode_line(line) for line in block.split(b"\n")]
            lines.pop()  # what stands behind the last line end
            return lines
        lines = []
        for line in block[:-1].split(b"\n"):
            while len(line) > self._piece_bytes:
                cut = _character_start(line, self._piece_bytes)
                lines.append(self._decode_line(line[:cut]))
                line = line[cut:]  # noqa: PLW2901 - the rest of the same line
            lines.append(self._decode_line(line))
        return lines

    def _decode_line(self, line: bytes) -> str:
        for encoding in ("utf-8", *self._encodings):
            try:
                return line.decode(encoding)
            except UnicodeDecodeError:
                continue
        return line.decode(self._encodings[0] if self._encodings else "utf-8", errors="replace")


def _character_start(data: bytes, position: int) -> int:
    """Return the place, at most three bytes before ``position``, where a UTF-8 character begins; else ``position``."""
    for start in range(position, max(position - 4, 0), -1):
        if data[start] & 0xC0 != 0x80:
            return start
    return position
