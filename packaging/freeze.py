"""The frozen program: a folder that needs no Python, made by PyInstaller from the hashed lock.

Everything is made below .dev/package/. The same commit, lock and Python give the same files: times are the commit's, and
hash seeds are fixed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import devenv
from devenv import PACKAGE_LOCK, ROOT, STATE, SetUpError

PLACE = STATE / "package"
UNCOMPRESSED = {"PYINSTALLER_ZLIB_COMPRESSION_LEVEL": "0"}
"""The installers compress better what was not compressed before, and the program need not unpack it at each start."""


def freeze(place: Path = PLACE, icon: Path | None = None, source: Path = ROOT) -> Path:
    """Make the folder anew and return it; ``source`` is the tree that is frozen.

    Raises:
        SetUpError: a tool failed; its output stands above.
    """
    python = environment(place)
    uv = lay_uv_ready(python.with_name("uv.exe" if os.name == "nt" else "uv"), place)
    work, made = place / "work", place / "frozen"
    for folder in (work, made):
        shutil.rmtree(folder, ignore_errors=True)
    variables = {
        **os.environ,
        "PYTHONHASHSEED": "1",
        "SOURCE_DATE_EPOCH": str(commit_time()),
        "PYINSTALLER_CONFIG_DIR": str(place / "config"),
        "AML_FREEZE_UV": str(uv),
        **UNCOMPRESSED,
    }
    if icon is not None:
        variables["AML_FREEZE_ICON"] = str(icon)
    command = [str(python), "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", str(made), "--workpath", str(work), str(source / "packaging" / "amlwizard.spec")]
    run(command, variables)
    return made / "amlwizard"


def commit_time() -> int:
    """Return when the commit was made, in seconds since 1970: the time of every file that is made from it."""
    result = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SetUpError("a package is made from a commit, and git does not tell which this is")
    return int(result.stdout)


def unpack_commit(target: Path) -> bool:
    """Write the last commit into a new folder; tell whether there are changes besides, which are not in it."""
    target.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(target)], input=archive, check=True)
    return bool(subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True).stdout)


def version_of(tree: Path) -> str:
    """Return the version that a tree of sources has."""
    found = re.search(r'__version__ = "([^"]+)"', (tree / "amlwizard" / "__init__.py").read_text(encoding="utf-8"))
    if found is None:
        raise SetUpError("amlwizard/__init__.py names no version")
    return found[1]


def run(command: list[str], variables: dict[str, str] | None = None) -> None:
    """Run a tool with its output on standard error.

    Raises:
        SetUpError: it failed.
    """
    result = subprocess.run(command, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=2, check=False)
    if result.returncode:
        raise SetUpError(f"{Path(command[0]).name} failed (status {result.returncode}); the reason stands above")


def environment(place: Path = PLACE, lock: Path = PACKAGE_LOCK) -> Path:
    """Return the interpreter of an environment that holds a lock; kept while lock and interpreter stay the same."""
    digest = hashlib.sha256(f"{sys.version}\n{sys.base_prefix}\n".encode() + lock.read_bytes()).hexdigest()[:12]
    venv = place / f"venv-{digest}"
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = venv / "complete"
    if not done.exists():
        shutil.rmtree(venv, ignore_errors=True)
        run([sys.executable, "-m", "venv", str(venv)])
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(lock)], devenv.tool_environment())
        done.touch()
    return python


def install_into(target: Path, lock: Path, *options: str) -> None:
    """Install a lock's wheels into a folder, with uv; ``options`` name the platform and Python where they are others."""
    uv = str(devenv.ready("text").with_name("uv"))
    install = [uv, "pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:", "--link-mode", "copy"]
    run([*install, *options, "--target", str(target), "-r", str(lock)], devenv.tool_environment())


def lay_uv_ready(source: Path, place: Path) -> Path:
    """Return a copy of uv beside a note of its hash, which the program compares before it uses the copy."""
    folder = place / "uv"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / source.name
    shutil.copy2(source, target)
    note_uv(target)
    return target


def note_uv(uv: Path) -> None:
    """Write the hash of the uv in a program beside it."""
    digest = hashlib.sha256(uv.read_bytes()).hexdigest()
    uv.with_name("uv.sha256").write_text(f"{digest}  {uv.name}\n", encoding="ascii")
