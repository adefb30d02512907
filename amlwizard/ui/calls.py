"""What one window says to another one for the same workspace: one line of JSON each way. No Qt here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from amlwizard.core.data_text import parse_json

_FORMAT: Final = 1


@dataclass(frozen=True)
class Call:
    """The second window asks the first to come forward, and to open ``bundle``; ``token`` is the right to the focus."""

    bundle: str | None = None
    token: str = ""

    def line(self) -> bytes:
        """Return it as it is sent."""
        return _line({"bundle": self.bundle, "token": self.token})


@dataclass(frozen=True)
class Answer:
    """The first window came forward; ``opened`` tells whether it opened the bundle."""

    opened: bool = False

    def line(self) -> bytes:
        """Return it as it is sent."""
        return _line({"opened": self.opened})


def read_call(line: bytes) -> Call | None:
    """Return the call that was received, or None where this is none."""
    content = _content(line)
    if content is None:
        return None
    bundle, token = content.get("bundle"), content.get("token")
    return Call(bundle if isinstance(bundle, str) else None, token if isinstance(token, str) else "")


def read_answer(line: bytes) -> Answer | None:
    """Return the answer that was received, or None where this is none."""
    content = _content(line)
    return None if content is None else Answer(content.get("opened") is True)


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps({"format": _FORMAT, **content}).encode() + b"\n"


def _content(line: bytes) -> dict[str, Any] | None:
    try:
        content = parse_json(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) and content.get("format") == _FORMAT else None
