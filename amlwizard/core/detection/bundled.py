"""The copy of uv that came with this program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.resources import frozen_root

if TYPE_CHECKING:
    from amlwizard.core.facts import Facts

FROZEN_HASH: Final = "uv.sha256"
"""The note of its SHA-256 beside the copy in a frozen program."""


def find_bundled_uv() -> Path | None:
    """Return the uv of the installed ``uv`` package, or a frozen program's own; None where it came without one."""
    frozen = frozen_root()
    if frozen is not None:
        program = frozen / "uv" / ("uv.exe" if os.name == "nt" else "uv")
        return program if program.is_file() else None
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
