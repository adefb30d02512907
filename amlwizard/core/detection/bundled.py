"""The copy of uv that came with this program."""

from __future__ import annotations

from pathlib import Path


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
