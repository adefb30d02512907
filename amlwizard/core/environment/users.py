"""Which processes use an environment at this moment, besides jobs, which hold its lock (DESIGN, promise P1).

On POSIX they only get later imports from the new environment, and are told about; on Windows files in use keep a folder
from being renamed, so they are told before anything is built. A mere open file is told there by the refused rename.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK_RENAME = os.name == "nt"
"""Whether files in use keep their folder from being renamed on this system."""


@dataclass(frozen=True)
class User:
    """A process that uses a folder."""

    pid: int
    name: str


def environment_users(environment: Path) -> list[User]:
    """Return the processes whose program, working folder, open files or environment lie in a folder.

    This process and those that it belongs to are left out, and so is what this account may not look at. Blocks for as
    long as there are many processes: call it in a thread.
    """
    folder = os.path.normcase(environment)
    real = os.path.normcase(environment.resolve())
    own = psutil.Process()
    left_out = {own.pid, *(process.pid for process in own.parents())}
    found = []
    for process in psutil.process_iter(["name"]):
        if process.pid in left_out:
            continue
        if any(_is_inside(path, folder) or _is_inside(path, real) for path in _places(process)):
            found.append(User(process.pid, str(process.info.get("name") or "?")))
    return sorted(found, key=lambda user: user.pid)


def in_words(users: list[User]) -> str:
    """Return users as ``name (pid), name (pid)``."""
    return ", ".join(f"{user.name} ({user.pid})" for user in users)


def _places(process: psutil.Process) -> Iterator[str]:
    """Yield the paths that a process uses, the cheap ones first; a look that is refused yields nothing."""

    def of_command() -> list[str]:
        return process.cmdline()[:1]

    def of_activation() -> list[str]:
        # started by its bare name in an activated shell: the program itself lies elsewhere
        command = process.cmdline()[:1]
        is_python = bool(command) and Path(command[0]).name.lower().startswith("python")
        return [process.environ().get("VIRTUAL_ENV", "")] if is_python else []

    def of_open_files() -> list[str]:
        # On Windows the look takes seconds for each process and may never end; a rename that is refused tells it as well.
        return [file.path for file in process.open_files()] if os.name != "nt" else []

    def of_libraries() -> list[str]:
        return [part.path for part in process.memory_maps()] if os.name == "nt" else []

    def of_program() -> list[str]:
        return [process.exe()]

    def of_folder() -> list[str]:
        return [process.cwd()]

    for look in (of_program, of_folder, of_command, of_activation, of_open_files, of_libraries):
        try:
            yield from look()
        except (psutil.Error, OSError):
            continue


def _is_inside(path: str, folder: str) -> bool:
    normal = os.path.normcase(path)
    return normal == folder or normal.startswith(folder + os.sep)
