"""The name of a shared lock; it loads nothing, so that a window can offer it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def file_name(root: Path) -> str:
    """Return the name under which the lock of a workspace is saved: ``pylock.NAME.toml``, which uv and pip insist on."""
    name = re.sub(r"[^\w-]+", "-", root.name).strip("-")
    return f"pylock.{name}.toml" if name else "pylock.toml"
