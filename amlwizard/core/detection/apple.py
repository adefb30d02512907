"""Apple's placeholders: without the developer tools, starting some programs of /usr/bin opens a dialog on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Final

XCODE_SELECT: Final = Path("usr/bin/xcode-select")
SYSTEM_FOLDER: Final = Path("usr/bin")
PROGRAMS: Final = frozenset({"python", "python3", "pip3", "git", "clang", "cc", "make", "gcc", "ld", "install_name_tool"})


def may_be_placeholder(system: str, path: Path, system_folder: Path) -> bool:
    """Tell whether a program must not be started before ``xcode-select -p`` has said that the tools are there."""
    if system != "macos" or path.name not in PROGRAMS:
        return False
    return path.parent == system_folder or path.resolve().parent == system_folder.resolve()
