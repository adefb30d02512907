"""Where the trials work: a fence, the workspace in it, and around that what a user has and what must stay as it is."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amlwizard.core.paths import Workspace

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "the user's own\n"


@dataclass
class Place:
    """Folders of one trial; ``clear`` makes them anew."""

    fence: Path

    @property
    def root(self) -> Path:
        """The workspace, the only folder that may be changed."""
        return self.fence / "root"

    @property
    def files(self) -> Path:
        """Where the user's own input lies."""
        return self.fence / "files"

    @property
    def home(self) -> Path:
        """The user's home folder."""
        return self.fence / "home"

    @property
    def tmp(self) -> Path:
        """The system's temporary folder."""
        return self.fence / "tmp"

    @property
    def private(self) -> Path:
        """A folder in the system's temporary folder that a run notes as its own."""
        return self.tmp / "aml-1-x"

    @property
    def workspace(self) -> Workspace:
        """The workspace."""
        return Workspace(self.root)

    def clear(self) -> None:
        """Make every folder anew, with a file in it that nobody may touch."""
        for folder in (self.root, self.files, self.home, self.tmp):
            _remove(folder)
            folder.mkdir(parents=True)
            if folder != self.root:
                (folder / "keep.txt").write_text(TEXT, encoding="utf-8")

    def surroundings(self) -> dict[str, tuple[int, int, int]]:
        """Return what lies around the workspace: kind, size and time of the last change of everything, by its path."""
        found: dict[str, tuple[int, int, int]] = {}
        folders = [str(self.fence)]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.path in {str(self.root), str(self.private)}:
                        continue
                    status = entry.stat(follow_symlinks=False)
                    moment = 0 if entry.path == str(self.tmp) else status.st_mtime_ns
                    found[entry.path] = (status.st_mode, status.st_size, moment)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        return found

    def put(self, path: Path, content: bytes | None) -> None:
        """Write an input, where there is one."""
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _remove(folder: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
