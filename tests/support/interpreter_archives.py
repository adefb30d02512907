"""A relocatable interpreter archive, of the shape that uv installs, made from the Python that runs the tests."""

from __future__ import annotations

import gzip
import hashlib
import json
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_BUILD = "20260101"
_SAYS_ANOTHER = """
import sys as _sys
_names = ("major", "minor", "micro", "releaselevel", "serial")
_parts = {{name: property(lambda all, place=place: all[place]) for place, name in enumerate(_names)}}
_sys.version_info = type("version_info", (tuple,), _parts)({numbers})
_sys.version = _sys.version.replace("{old}", "{new}", 1)
_sys.hexversion += {step}
"""
"""What every start of an interpreter runs, so that all who ask get another version."""
_LEFT_OUT_FOLDERS = {
    "__pycache__",
    "test",
    "tests",
    "idle_test",
    "idlelib",
    "tkinter",
    "turtledemo",
    "site-packages",
    "dist-packages",
}
_LEFT_OUT_FILES = ("_test*.so", "_ctypes_test*.so", "xxlimited*.so", "*.a", "EXTERNALLY-MANAGED")


def windows_entry(version: str, url: str, sha256: str) -> dict[str, Any]:
    """Return how uv's list of downloads describes a CPython for Windows."""
    major, minor, patch = map(int, version.split("."))
    return {
        "name": "cpython",
        "arch": {"family": "x86_64", "variant": None},
        "os": "windows",
        "libc": "none",
        "major": major,
        "minor": minor,
        "patch": patch,
        "prerelease": "",
        "url": url,
        "sha256": sha256,
        "variant": None,
        "build": _BUILD,
    }


@dataclass(frozen=True)
class InterpreterArchive:
    """An interpreter in a tar file, everything under ``python/``; ``version`` is like ``3.11.7``."""

    file: Path
    version: str
    sha256: str

    @property
    def minor(self) -> str:
        """Return the version as ``3.11``."""
        return self.version.rpartition(".")[0]

    @property
    def key(self) -> str:
        """Return uv's name of it."""
        return f"cpython-{self.version}-linux-{platform.machine()}-gnu"

    def downloads_json(self, target: Path, url: str | None = None, sha256: str | None = None) -> Path:
        """Write the list of downloads that ``uv python install --python-downloads-json-url`` takes.

        ``url`` is where the archive is served (default: the file itself); ``sha256`` can be a wrong one.
        """
        major, minor, patch = map(int, self.version.split("."))
        entry: dict[str, Any] = {
            "name": "cpython",
            "arch": {"family": platform.machine(), "variant": None},
            "os": "linux",
            "libc": "gnu",
            "major": major,
            "minor": minor,
            "patch": patch,
            "prerelease": "",
            "url": url or self.file.as_uri(),
            "sha256": sha256 or self.sha256,
            "variant": None,
            "build": _BUILD,
        }
        target.write_text(json.dumps({self.key: entry}), encoding="utf-8")
        return target

    def older(self, folder: Path) -> InterpreterArchive:
        """Make an archive of the same Python that says of itself that it is the patch before, and return it."""
        return self._as_patch(folder, -1)

    def later(self, folder: Path) -> InterpreterArchive:
        """Make one that says of itself that it is the patch after this one, and return it."""
        return self._as_patch(folder, 1)

    def broken(self, folder: Path) -> InterpreterArchive:
        """Make one of the same version that does not start, and return it."""
        program = self.unpack(folder)
        program.write_text("#!/bin/sh\nexit 3\n")
        return _packed(folder, program.parents[1], self.version)

    def _as_patch(self, folder: Path, step: int) -> InterpreterArchive:
        major, minor, patch = map(int, self.version.split("."))
        numbers = (major, minor, patch + step)
        version = ".".join(map(str, numbers))
        tree = self.unpack(folder).parents[1]
        says = _SAYS_ANOTHER.format(old=self.version, new=version, numbers=(*numbers, "final", 0), step=step << 8)
        with (tree / "lib" / f"python{self.minor}" / "encodings" / "__init__.py").open("a", encoding="utf-8") as start:
            start.write(says)
        return _packed(folder, tree, version)

    def unpack(self, folder: Path) -> Path:
        """Unpack the archive and return the interpreter, which works at that place without any other Python."""
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "-xzf", self.file, "-C", folder], check=True)
        return folder / "python" / "bin" / f"python{self.minor}"


def make_interpreter(folder: Path) -> InterpreterArchive:
    """Make the archive in a folder, from the installation that this Python belongs to (a shared or a static build).

    Left out is what tests of amlwizard do not need: the standard library's tests, its graphical parts, bytecode and
    whatever is installed beside it. ensurepip stays.
    """
    version = platform.python_version()
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
    tree = folder / "python"
    program = tree / "bin" / f"python{minor}"
    program.parent.mkdir(parents=True)
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    shutil.copy2(base, program)
    for name in ("python", "python3"):
        (program.parent / name).symlink_to(program.name)
    stdlib = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(stdlib, tree / "lib" / stdlib.name, symlinks=False, ignore=_left_out, ignore_dangling_symlinks=True)
    (tree / "lib" / stdlib.name / "site-packages").mkdir()
    headers = Path(sysconfig.get_path("include"))
    if headers.is_dir():
        shutil.copytree(headers, tree / "include" / headers.name, symlinks=False)
    libraries = [
        Path(sysconfig.get_config_var("LIBDIR")) / name for name in _tool("patchelf", "--print-needed", program).split()
    ]
    shared = [library for library in libraries if library.name.startswith("libpython")]
    for library in shared:
        shutil.copy2(library, tree / "lib" / library.name)
    _strip([program, *(tree / "lib" / library.name for library in shared)])
    if shared:
        _tool("patchelf", "--set-rpath", "$ORIGIN/../lib", program)
    return _packed(folder, tree, version)


def _packed(folder: Path, tree: Path, version: str) -> InterpreterArchive:
    file = folder / f"cpython-{version}+{_BUILD}-{platform.machine()}-unknown-linux-gnu-install_only.tar.gz"
    with gzip.open(file, "wb", compresslevel=1) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(tree, "python")
    shutil.rmtree(tree)
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return InterpreterArchive(file, version, digest)


def _left_out(folder: str, names: list[str]) -> set[str]:
    dropped = {name for name in names if name in _LEFT_OUT_FOLDERS or name.startswith("config-")}
    return dropped | shutil.ignore_patterns(*_LEFT_OUT_FILES)(folder, names)


def _strip(files: Sequence[Path]) -> None:
    """Remove debug information where the tool is installed; it only makes the archive smaller."""
    strip = shutil.which("strip")
    if strip:
        subprocess.run([strip, "--strip-debug", *files], check=True, capture_output=True)


def _tool(name: str, *arguments: str | Path) -> str:
    """Run a program of the development environment and return its output."""
    program = Path(sys.executable).with_name(name)
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
