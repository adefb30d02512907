"""A CPython for Windows as uv's list of downloads offers it, packed from an installed one on any system.

``python -m tests.windows.interpreter PYTHON_FOLDER VERSION INTO`` writes ``downloads.json`` and the archive into a folder.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tarfile
from pathlib import Path

from tests.support.interpreter_archives import windows_entry

_LEFT_OUT = {
    "site-packages",
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "turtledemo",
    "tcl",
    "libs",
    "Scripts",
}


def offer(base: Path, version: str, folder: Path) -> Path:
    """Pack the CPython in ``base``, without the packages in it, and return the list of downloads that has it alone."""
    tree = folder / "python"
    shutil.copytree(base, tree, ignore=lambda parent, names: _dropped(base, Path(parent), names))
    (tree / "Lib" / "site-packages").mkdir()
    file = folder / f"cpython-{version}+20260101-x86_64-pc-windows-msvc-install_only.tar.gz"
    with tarfile.open(file, "w:gz", compresslevel=1) as archive:
        archive.add(tree, "python")
    shutil.rmtree(tree)
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    entry = windows_entry(version, file.as_uri(), digest)
    target = folder / "downloads.json"
    target.write_text(json.dumps({f"cpython-{version}-windows-x86_64-none": entry}), encoding="utf-8")
    return target


def _dropped(base: Path, parent: Path, names: list[str]) -> set[str]:
    return {name for name in names if name in _LEFT_OUT or (parent == base and name == "Doc")}


if __name__ == "__main__":
    offer(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
