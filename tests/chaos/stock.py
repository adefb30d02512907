"""What is installed: two sets of packages, an old and a new one, and a source archive whose build starts wild processes."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.wheels import make_wheel

PROJECT = Path(__file__).resolve().parents[2]
CHILDREN = PROJECT / "tests" / "support" / "children.py"
KINDS = ("stay", "session", "daemon", "orphan", "forgetful", "stubborn", "respawn")
_REAL = ("rich\nrequests\njinja2\npyyaml\n", "rich\nrequests\nclick\npackaging\nplatformdirs\n")
"""They differ in what they hold, not in versions: any index has one version of these, not all have two."""
_REAL_MODULES = ("rich", "requests", "pygments", "urllib3")


@dataclass(frozen=True)
class Stock:
    """A folder of wheels, the requirements of the two sets, and the modules that both hold."""

    folder: Path
    sets: tuple[str, str]
    modules: tuple[str, ...]


def made_stock(folder: Path) -> Stock:
    """Make small wheels with some hundred files each."""
    for version in ("1.0", "2.0"):
        for name, requires, count in (("manya", [], 200), ("manyb", ["manya"], 100)):
            content = {f"{name}/part{n}.py": f"VALUE = {n}\n# {version}\n".encode() * 40 for n in range(count)}
            make_wheel(folder, name, version, requires=requires, files=content)
    return Stock(folder, ("manya==1.0\nmanyb==1.0\n", "manya==2.0\nmanyb==2.0\n"), ("manya", "manyb"))


def real_stock(kept: Path) -> Stock:
    """Return real wheels, fetched from the configured index into ``kept`` when they are asked for first."""
    if not kept.is_dir():
        part = kept.with_name(f"{kept.name}.part")
        part.mkdir(parents=True, exist_ok=True)
        for wanted in _REAL:
            with tempfile.TemporaryDirectory() as folder:
                requirements = Path(folder, "requirements.txt")
                requirements.write_text(wanted, encoding="utf-8")
                command = [sys.executable, "-m", "amlwizard", "install", "--root", str(Path(folder, "aml"))]
                command += ["--requirements", str(requirements), "--python", sys.executable]
                subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
                shutil.copytree(Path(folder, "aml", "downloads"), part, dirs_exist_ok=True)
        part.replace(kept)
    return Stock(kept, _REAL, _REAL_MODULES)


def add_wild_source(folder: Path, traces: Path, seconds: float = 0.5) -> str:
    """Write a source archive whose build starts processes of every kind, and takes so long; return the requirement for it.

    Each of them leaves a file of its id in ``traces``, so they are known although they hide from their parents.
    """
    wheel = make_wheel(traces.parent / "wild", "wild", "1.0")
    backend = _BACKEND.format(
        python=sys.executable, children=str(CHILDREN), traces=str(traces), kinds=KINDS, wheel=str(wheel), seconds=seconds
    )
    members = {
        "backend.py": backend,
        "pyproject.toml": (
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            '[project]\nname = "wild"\nversion = "1.0"\n'
        ),
        "PKG-INFO": "Metadata-Version: 2.2\nName: wild\nVersion: 1.0\n",
    }
    part = folder / "wild-1.0.part"
    with tarfile.open(part, "w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(f"wild-1.0/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    os.replace(part, folder / "wild-1.0.tar.gz")  # noqa: PTH105
    return "wild\n"


_BACKEND = """
import os, shutil, subprocess, time
def get_requires_for_build_wheel(config_settings=None):
    return []
def build_wheel(folder, config_settings=None, metadata_directory=None):
    os.makedirs({traces!r}, exist_ok=True)
    quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.Popen([{python!r}, "-S", {children!r}, "tree", {traces!r}, *{kinds!r}], **quiet)
    time.sleep({seconds})
    shutil.copy({wheel!r}, folder)
    return os.path.basename({wheel!r})
"""
