"""The system's temporary folder, also where nothing can be written into it any more."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

_VARIABLES: Final = ("TMPDIR", "TEMP", "TMP")


def system_folder() -> Path:
    """Return the system's temporary folder.

    Python looks for one with room and knows none where the only disk is full, or cannot be written: then it is the folder
    that would be taken otherwise, for who only looks into it or can do without.
    """
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        named = [os.environ.get(name, "") for name in _VARIABLES]
        return Path(next((folder for folder in named if os.path.isabs(folder)), os.path.abspath("/tmp")))  # noqa: PTH100, PTH117, S108
