"""Small real environments for the tests of this folder."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core import receipt
from amlwizard.core.environment.marker import Marker, write_marker
from amlwizard.core.uv_cli import UvCli
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.paths import Workspace

BASE_PYTHON = Path(os.path.realpath(sys.executable))


def uv_for(workspace: Workspace) -> UvCli:
    """Return the uv that is installed beside the interpreter of the tests, or the one on PATH."""
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    assert found is not None, "the tests need uv"
    return UvCli(Path(found), workspace)


def variables(uv: UvCli) -> dict[str, str]:
    """Return a whole environment for children."""
    base = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    return base | {"PYTHONUTF8": "1"} | uv.environment(offline=True)


def write_lock(workspace: Workspace, wheels: Mapping[str, Path], place: Path | None = None) -> Path:
    """Write a local lock of wheels in the store, that in use unless another is named; the keys are ``name version``."""
    place = place or workspace.local_lock
    lines = ['lock-version = "1.0"\ncreated-by = "tests"\n']
    for key, wheel in wheels.items():
        name, version = key.split()
        lines.append(
            f'\n[[packages]]\nname = "{name}"\nversion = "{version}"\nwheels = [{{ name = "{wheel.name}", '
            f'path = "../downloads/{wheel.name}", hashes = {{ sha256 = "{sha256_of(wheel)}" }} }}]\n'
        )
    workspace.runtime.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(lines))
    return place


def make_store(workspace: Workspace, *names: str) -> dict[str, Path]:
    """Put a tiny wheel for each name into the store."""
    return {f"{name} 1.0": make_wheel(workspace.downloads, name) for name in names}


def make_fake_environment(folder: Path, content: str, workspace: Workspace, build: str = "") -> None:
    """Make a folder that stands for an environment where only its identity matters."""
    folder.mkdir(parents=True)
    (folder / "content").write_text(content)
    receipt.note_created(workspace, workspace.venv, workspace.staged, workspace.aside, kind="environment")
    if build:
        write_marker(folder, Marker("0" * 12, str(workspace.root), "3.11.7", "a" * 64, build))
