"""The copy of uv that came with this program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amlwizard.core.facts import Facts


def find_bundled_uv() -> Path | None:
    """Return the uv of the installed ``uv`` package, or None where this program came without one."""
    try:
        from uv import find_uv_bin
    except ImportError:
        return None
    try:
        return Path(find_uv_bin())
    except FileNotFoundError:
        return None


def uv_at_hand(facts: Facts) -> Path | None:
    """Return the uv that was found, else the copy that came with this program, with which one can ask at least."""
    return facts.uv.path if facts.uv is not None else find_bundled_uv()
