"""Texts of others, such as the names of files, on one line and without what a terminal or a reader would obey."""

from __future__ import annotations

import re
from typing import Final

_HIDDEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""Control characters, line ends, invisible signs, those that turn the direction of writing, and bytes that are no text."""


def plain_text(value: str) -> str:
    """Return a text with those characters as escapes; a line break becomes a backslash and an n."""
    return _HIDDEN.sub(lambda match: _escape(match[0]), value)


def _escape(sign: str) -> str:
    undecodable = "\udc80" <= sign <= "\udcff"
    return f"\\x{ord(sign) - 0xDC00:02x}" if undecodable else sign.encode("unicode_escape").decode("ascii")
