"""Real and made-up interpreters for tests of detection."""

from __future__ import annotations

import ensurepip
import functools
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from amlwizard.core.detection.interpreter import ARGUMENTS


def real_interpreter() -> Path:
    """Return the interpreter that these tests stand on, outside of any virtual environment."""
    return Path(sys.executable).resolve()


def probe_environment() -> dict[str, str]:
    """Return an environment for probes; the library path serves copies of interpreters that have a shared library."""
    return {"PATH": os.defpath, "LD_LIBRARY_PATH": str(Path(sys.base_prefix) / "lib")}


def stub(folder: Path, name: str, body: str) -> Path:
    """Write a shell script in the place of a program."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def link_interpreter(folder: Path, name: str = "python3") -> Path:
    """Link the real interpreter into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.symlink_to(real_interpreter())
    return path


@functools.cache
def _real_answer() -> str:
    argv = [real_interpreter(), *ARGUMENTS]
    return subprocess.run(argv, env=probe_environment(), capture_output=True, text=True, check=True).stdout


def fake_interpreter(folder: Path, name: str = "python3", **changes: str) -> Path:
    """Write a program that answers a probe as the real interpreter does, but for some values."""
    folder.mkdir(parents=True, exist_ok=True)
    said = json.loads(_real_answer()) | {
        "executable": str(folder / name),
        "base_prefix": str(folder),
        "prefix": str(folder),
    }
    text = json.dumps(said | changes)
    assert "'" not in text
    return stub(folder, name, f"echo '{text}'")


def make_environment(folder: Path) -> None:
    """Make a real virtual environment."""
    subprocess.run([real_interpreter(), "-m", "venv", "--without-pip", folder], check=True)


def give_pip(library: Path) -> None:
    """Put the pip of this environment into a library; ensurepip would compile all of it first."""
    shutil.copytree(str(importlib.metadata.distribution("pip").locate_file("pip")), library / "pip")


def interpreter_with_ready_pip(folder: Path) -> Path:
    """Copy the real interpreter; it has a pip, and the environments that it makes get a copy of that.

    The real ensurepip, which runs here once, installs from an archive and compiles all of it, which takes some seconds.
    """
    subprocess.run([real_interpreter(), "-I", "-m", "venv", folder / "pattern"], check=True)
    (pattern,) = (folder / "pattern" / "lib").glob("python*/site-packages")
    (library,) = pattern.glob("pip-*.dist-info")
    recorded = (library / "RECORD").read_text(encoding="utf-8").splitlines(keepends=True)
    (library / "RECORD").write_text("".join(line for line in recorded if not line.startswith("../")), encoding="utf-8")
    python = copied_interpreter(folder / "copy", without=("ensurepip",))
    (stdlib,) = (folder / "copy" / "lib").iterdir()
    (stdlib / "site-packages").mkdir()
    (stdlib / "ensurepip").mkdir()
    (stdlib / "ensurepip" / "_bundled").symlink_to(Path(ensurepip.__file__).with_name("_bundled"))
    (stdlib / "ensurepip" / "__init__.py").touch()
    (stdlib / "ensurepip" / "__main__.py").write_text(_READY_PIP.format(folders=[str(library), str(pattern / "pip")]))
    for each in (library, pattern / "pip"):
        (stdlib / "site-packages" / each.name).symlink_to(each)
    return python


_READY_PIP = """
import os, shutil, sysconfig
for folder in {folders}:
    shutil.copytree(folder, os.path.join(sysconfig.get_path("purelib"), os.path.basename(folder)))
"""


def python_2() -> Path | None:
    """Return a real Python 2 where this computer has one that runs."""
    beside = [str(path) for path in Path(sys.base_prefix).parent.glob("2.7*/bin/python2.7")]
    found = next(iter(beside), None) or shutil.which("python2.7")
    if found is None:
        return None
    done = subprocess.run([found, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def copied_interpreter(folder: Path, *, without: tuple[str, ...] = ()) -> Path:
    """Copy the real interpreter with links to its library, some modules left out."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    library = folder / "lib" / stdlib.name
    library.mkdir(parents=True)
    for entry in stdlib.iterdir():
        if entry.name not in {*without, "site-packages", "__pycache__"}:
            (library / entry.name).symlink_to(entry)
    (folder / "bin").mkdir()
    return Path(shutil.copy2(real_interpreter(), folder / "bin" / "python3"))
