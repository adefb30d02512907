"""Where candidates may lie: the folders of PATH and what both searches share."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.plain_files import is_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from amlwizard.core.paths import Workspace

SOURCE_SETTING: Final = "setting"
SOURCE_WORKSPACE: Final = "workspace"
SOURCE_RECORD: Final = "record"
SOURCE_PATH: Final = "path"
SOURCE_LAUNCHER: Final = "launcher"
SOURCE_REGISTRY: Final = "registry"
SOURCE_MANAGED: Final = "managed"
SOURCE_USUAL: Final = "usual"
SOURCE_BUNDLED: Final = "bundled"


@dataclass(frozen=True)
class Place:
    """One path that is to be looked at, and why."""

    path: Path
    source: str


@dataclass(frozen=True)
class Surroundings:
    """What the search needs to know of the system, so that it can be tried for another one."""

    system: str
    environ: Mapping[str, str]
    home: Path
    workspace: Workspace
    root: Path = Path("/")
    """The root of the file system, on POSIX."""

    def program(self, name: str) -> str:
        """Return the file name of a program."""
        return f"{name}.exe" if self.system == "windows" else name

    def folder(self, variable: str) -> Path | None:
        """Return the folder that a variable names, if it is an absolute one."""
        value = self.environ.get(variable, "")
        return Path(value) if Path(value).is_absolute() else None

    def path_folders(self) -> Iterator[Path]:
        """Yield the folders of PATH, each once; relative ones depend on where one stands and are left out."""
        separator = ";" if self.system == "windows" else ":"
        value = next((self.environ[name] for name in self.environ if name.upper() == "PATH"), "")
        folders = (Path(entry.strip('"')) for entry in value.split(separator) if entry)
        yield from dict.fromkeys(folder for folder in folders if folder.is_absolute())


def is_program(path: Path) -> bool:
    """Tell whether a file is there that may be started, as ``plain_files.exists`` does."""
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113


def names_in(folder: Path) -> list[str]:
    """Return the sorted names in a folder; none where it cannot be listed."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names alone are wanted, thousands of them
    except (OSError, ValueError):
        return []


def subfolders(folder: Path) -> list[Path]:
    """Return the visible folders in a folder, links to folders included, the highest version first."""
    names = [name for name in names_in(folder) if not name.startswith(".")]
    return [path for path in (folder / name for name in sorted(names, key=by_version, reverse=True)) if is_folder(path)]


def by_version(name: str) -> tuple[tuple[int, ...], str]:
    """Return a sorting key that compares the numbers in a name as numbers."""
    return tuple(map(int, re.findall(r"\d+", name)[:8])), name


def first_file(folder: Path, names: Iterable[str]) -> Path | None:
    """Return the first of these files that is in the folder, dangling links included."""
    return next((folder / name for name in names if os.path.lexists(folder / name)), None)
