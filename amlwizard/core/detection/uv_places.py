"""Where uv lies, per system; nothing is started here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from amlwizard.core.detection.places import (
    SOURCE_PATH,
    SOURCE_RECORD,
    SOURCE_USUAL,
    SOURCE_WORKSPACE,
    Place,
    Surroundings,
)
from amlwizard.core.plain_files import is_path
from amlwizard.core.records import read_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOOLS_DEPTH: Final = 3
_BIN_NAMES: Final = ("bin", "Scripts")


def uv_places(around: Surroundings) -> Iterator[Place]:
    """Yield every place in the order of preference.

    Raises:
        RefusedError: ``uv.json`` was written by a newer amlwizard.
    """
    recorded = recorded_uv(around)
    private = private_uvs(around)
    if recorded is not None:
        yield Place(recorded, SOURCE_RECORD)
    for path in private:
        yield Place(path, SOURCE_WORKSPACE)
    for folder in around.path_folders():
        path = folder / around.program("uv")
        if os.path.lexists(path):
            yield Place(path, SOURCE_PATH)
    for folder in _usual_folders(around):
        path = folder / around.program("uv")
        if os.path.lexists(path):
            yield Place(path, SOURCE_USUAL)


def private_uvs(around: Surroundings) -> list[Path]:
    """Return what is named uv in the workspace's ``tools/``: in folders to a depth of 3 and in their bin and Scripts."""
    name = around.program("uv")
    found: list[Path] = []
    folders = [(around.workspace.tools, 0)]
    while folders:
        folder, depth = folders.pop(0)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = folder / entry.name
            if entry.name == name and not entry.is_dir():
                found.append(path)
            elif entry.is_dir(follow_symlinks=False) and _is_looked_into(entry.name, depth + 1):
                folders.append((path, depth + 1))
    return found


def _is_looked_into(name: str, depth: int) -> bool:
    return depth <= TOOLS_DEPTH or (depth == TOOLS_DEPTH + 1 and name in _BIN_NAMES)


def recorded_uv(around: Surroundings) -> Path | None:
    """Return the path that ``uv.json`` names, wherever it is."""
    record = read_record(around.workspace.uv_record)
    path = record.get("uvPath") if record is not None else None
    if not isinstance(path, str) or not path or not is_path(path):
        return None
    return around.workspace.root / path


def _usual_folders(around: Surroundings) -> list[Path]:
    home = around.home
    chosen = [around.folder(name) for name in ("UV_INSTALL_DIR", "XDG_BIN_HOME")]
    folders = [folder for folder in chosen if folder is not None]
    folders += [home / ".local" / "bin", (around.folder("CARGO_HOME") or home / ".cargo") / "bin"]
    if around.system == "windows":
        local = around.folder("LOCALAPPDATA") or home / "AppData" / "Local"
        scoop = around.folder("SCOOP") or home / "scoop"
        chocolatey = around.folder("CHOCOLATEYINSTALL")
        folders += [local / "Microsoft" / "WinGet" / "Links", scoop / "shims", local / "Programs" / "uv"]
        folders += [chocolatey / "bin"] if chocolatey is not None else []
    else:
        folders += [
            around.root / place
            for place in ("opt/homebrew/bin", "usr/local/bin", "home/linuxbrew/.linuxbrew/bin", "usr/bin", "snap/bin")
        ]
    return folders
