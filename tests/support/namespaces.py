"""Other circumstances for one command: no network, hidden folders, read-only, noexec or tiny file systems.

They are real: the command runs in Linux namespaces of its own, which takes root. They end with the command.
"""

from __future__ import annotations

import fnmatch
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PYTHON_AND_UV = ("python*", "pypy*", "uv", "uvx", "conda", "mamba", "micromamba", "pyenv", "pip", "pip[0-9]*")
_PROGRAM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_INTERPRETER_HOMES = (
    ".pyenv",
    ".local/share/uv",
    "miniconda3",
    "anaconda3",
    "mambaforge",
    "miniforge3",
    ".asdf",
    ".local/bin",
)


@dataclass(frozen=True)
class SmallFileSystem:
    """An empty file system in memory, put over an existing folder."""

    folder: Path
    size_bytes: int | None = None
    noexec: bool = False


@dataclass(frozen=True)
class Circumstances:
    """What is different for a command. Folders and files that are named have to exist.

    Attributes:
        network: without it only the loopback interface exists, and it is up.
        hidden: folders that appear empty, and files that appear as ones that cannot be run.
        read_only: folders that cannot be written, also by root.
        file_systems: what is mounted anew, in this order.
    """

    network: bool = True
    hidden: Sequence[Path] = field(default=())
    read_only: Sequence[Path] = field(default=())
    file_systems: Sequence[SmallFileSystem] = field(default=())

    def command(self, argv: Sequence[str]) -> list[str]:
        """Return the command that runs ``argv`` under these circumstances; its status and output are those of ``argv``."""
        lines = list(self._script())
        namespaces = ["--mount", "--propagation", "private", *([] if self.network else ["--net"])]
        return ["unshare", *namespaces, "/bin/sh", "-ec", "\n".join([*lines, 'exec "$@"']), "circumstances", *argv]

    def _script(self) -> Iterator[str]:
        if not self.network:
            yield "ip link set lo up"
        for system in self.file_systems:
            options = ["rw", *(["noexec"] if system.noexec else [])]
            if system.size_bytes is not None:
                options.append(f"size={system.size_bytes}")
            yield f"mount -t tmpfs -o {','.join(options)} tmpfs {_quoted(system.folder)}"
        for path in self.hidden:
            if path.is_dir():
                yield f"mount -t tmpfs -o ro,size=4k tmpfs {_quoted(path)}"
            else:
                yield f"mount --bind /dev/null {_quoted(path)}"
        for folder in self.read_only:
            yield f"mount --bind {_quoted(folder)} {_quoted(folder)}"
            yield f"mount -o remount,bind,ro {_quoted(folder)}"


def why_not_here() -> str:
    """Return why this system or user cannot have namespaces at all, or nothing."""
    if sys.platform != "linux":
        return "namespaces are a matter of Linux"
    if os.geteuid() != 0:
        return "namespaces need root"
    return ""


def prove_namespaces() -> None:
    """Make sure that root really gets namespaces, as it should.

    Raises:
        AssertionError: with what the system said.
    """
    trial = Circumstances(network=False).command(["true"])
    result = subprocess.run(trial, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert result.returncode == 0, f"root cannot make namespaces here: {result.stderr.strip()}"


def interpreters_and_uv() -> tuple[Path, ...]:
    """Return everything to be hidden on a machine that is to have neither Python nor uv, the running Python included."""
    folders = {Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part}
    folders |= {Path(part) for part in _PROGRAM_FOLDERS}
    files = {
        file.resolve()
        for folder in folders
        if folder.is_dir()
        for file in folder.iterdir()
        if any(fnmatch.fnmatch(file.name, pattern) for pattern in PYTHON_AND_UV) and file.is_file()
    }
    homes = {Path.home() / name for name in _INTERPRETER_HOMES if (Path.home() / name).is_dir()}
    files.add(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
    files.add(Path(sysconfig.get_path("stdlib")).resolve())  # that of this Python, wherever it is installed
    return (*sorted(homes), *sorted(file for file in files if not any(home in file.parents for home in homes)))


def bare_path(folder: Path) -> str:
    """Make a folder of links to the system's programs without any Python or uv; return it as a value for PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for place in map(Path, _PROGRAM_FOLDERS):
        for program in place.iterdir() if place.is_dir() else ():
            wanted = not any(fnmatch.fnmatch(program.name, pattern) for pattern in PYTHON_AND_UV)
            if wanted and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    assert shutil.which("python3", path=str(folder)) is None
    return str(folder)


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
