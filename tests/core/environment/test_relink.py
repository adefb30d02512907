"""Mending what a move made stale, interrupted anywhere."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.environment.layout import read_pyvenv_cfg
from amlwizard.core.environment.marker import Marker, read_marker, write_marker
from amlwizard.core.environment.relink import is_relocatable, relink_base, relink_moved
from amlwizard.core.paths import Workspace

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.posix

KILLED = """
import os, signal, sys
from pathlib import Path
from amlwizard.core.environment import relink
from amlwizard.core.paths import Workspace

left = int(sys.argv[2])
replace = Path.replace
def count(self, target):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
Path.replace = count
relink.relink_moved(Workspace(Path(sys.argv[1])))
"""


def make(root: Path, home: Path, *, relocatable: bool = True) -> Workspace:
    """Make what counts of a workspace with an environment on a managed interpreter."""
    workspace = Workspace(root)
    real = workspace.interpreters / "cpython-3.11.7-linux-x86_64-gnu"
    (real / "bin").mkdir(parents=True)
    (real / "bin" / "python3.11").write_text("#!/bin/sh\n")
    library = real / "lib" / "python3.11"
    library.mkdir(parents=True)
    (library / "_sysconfigdata__linux_x86_64-linux-gnu.py").write_text(f"build_time_vars = {{'prefix': '{real}'}}\n")
    link = workspace.interpreters / "cpython-3.11-linux-x86_64-gnu"
    link.symlink_to(real)
    folder = workspace.venv / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(home / "python3.11")
    config = f"home = {home}\nimplementation = CPython\n" + ("relocatable = true\n" if relocatable else "")
    (workspace.venv / "pyvenv.cfg").write_text(config)
    (workspace.venv / "pip.conf").write_text(f"[global]\ncert = {root}/ca.pem\nfind-links = {root}-other/wheels\n")
    (workspace.venv / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    workspace.runtime.mkdir()
    workspace.uv_record.write_text(json.dumps({"format": 1, "uvPath": f"{root}/tools/uv", "version": "0.13.9"}))
    write_marker(workspace.venv, Marker("0" * 12, str(root), "3.11.7", "a" * 64, "build"))
    return workspace


@pytest.fixture
def moved(tmp_path: Path) -> tuple[Workspace, Path]:
    """A workspace that was moved, and where it was."""
    old = tmp_path / "old"
    make(old, old / "python" / "cpython-3.11-linux-x86_64-gnu" / "bin")
    new = tmp_path / "new place"
    old.rename(new)
    return Workspace(new), old


def stale(workspace: Workspace, old: Path) -> list[str]:
    """The files and links that still name the old place."""
    found = []
    for path in workspace.root.rglob("*"):
        named = str(path.readlink()) if path.is_symlink() else path.read_text() if path.is_file() else ""
        if f"{old}/" in named or named.endswith(str(old)) or f'"{old}"' in named:
            found.append(str(path))
    return found


def test_every_stale_place_is_mended_and_nothing_else(moved: tuple[Workspace, Path]) -> None:
    workspace, old = moved
    assert len(stale(workspace, old)) == 7
    assert relink_moved(workspace)
    assert stale(workspace, old) == []
    assert (workspace.venv / "bin" / "python").exists()
    assert f"find-links = {old}-other/wheels" in (workspace.venv / "pip.conf").read_text()
    marker = read_marker(workspace.venv)
    assert marker is not None
    assert marker.root == str(workspace.root)
    assert marker.build == "build"


def test_an_interruption_anywhere_is_made_good_by_doing_it_again(tmp_path: Path) -> None:
    for point in range(7):
        old = tmp_path / str(point) / "old"
        make(old, old / "python" / "cpython-3.11-linux-x86_64-gnu" / "bin")
        workspace = Workspace(old.with_name("new"))
        old.rename(workspace.root)
        child = subprocess.run([sys.executable, "-c", KILLED, str(workspace.root), str(point)], timeout=60, check=False)
        assert child.returncode == -signal.SIGKILL
        marker = read_marker(workspace.venv)
        assert marker is not None
        assert marker.root == str(old)
        assert relink_moved(workspace)
        assert [path for path in stale(workspace, old) if not path.endswith(".part")] == []
        assert (workspace.venv / "bin" / "python").exists()


def test_an_interpreter_of_the_system_stays_where_it_is(tmp_path: Path) -> None:
    old = tmp_path / "old"
    home = tmp_path / "old-python" / "bin"  # begins like the workspace
    make(old, home)
    workspace = Workspace(tmp_path / "new")
    old.rename(workspace.root)
    assert relink_moved(workspace)
    assert (workspace.venv / "bin" / "python").readlink() == home / "python3.11"
    assert (read_pyvenv_cfg(workspace.venv) or {})["home"] == str(home)


def test_what_cannot_be_moved_is_not_touched(tmp_path: Path) -> None:
    old = tmp_path / "old"
    make(old, old / "python" / "cpython-3.11-linux-x86_64-gnu" / "bin", relocatable=False)
    workspace = Workspace(tmp_path / "new")
    old.rename(workspace.root)
    before = stale(workspace, old)
    assert not is_relocatable(workspace.venv)
    assert not relink_moved(workspace)
    assert stale(workspace, old) == before


def test_an_editable_package_in_the_workspace_needs_a_rebuild(moved: tuple[Workspace, Path]) -> None:
    workspace, old = moved
    site = workspace.venv / "lib" / "python3.11" / "site-packages"
    (site / "__editable__.mine.pth").write_text(f"{old}/notebooks/mine\n")
    assert not relink_moved(workspace)


def test_another_interpreter_takes_the_place_of_one_that_is_gone(moved: tuple[Workspace, Path], tmp_path: Path) -> None:
    workspace, _ = moved
    base = tmp_path / "other" / "bin" / "python3.11"
    base.parent.mkdir(parents=True)
    base.write_text("#!/bin/sh\n")
    relink_base(workspace, base, "3.11.9")
    assert (workspace.venv / "bin" / "python").readlink() == base
    config = read_pyvenv_cfg(workspace.venv) or {}
    assert config["home"] == str(base.parent)
    assert config["implementation"] == "CPython"
    marker = read_marker(workspace.venv)
    assert marker is not None
    assert (marker.python, marker.build) == ("3.11.9", "build")


@pytest.mark.parametrize("root", ["/", ".", "", "aml"])
def test_a_marker_that_names_no_place_is_not_believed(tmp_path: Path, root: str) -> None:
    workspace = make(tmp_path / "aml", tmp_path / "python" / "bin")
    write_marker(workspace.venv, Marker("0" * 12, root, "3.11.7", "a" * 64, "build"))
    before = {path: path.read_bytes() for path in workspace.root.rglob("*") if path.is_file()}
    assert not relink_moved(workspace)
    assert {path: path.read_bytes() for path in workspace.root.rglob("*") if path.is_file()} == before


def test_an_environment_without_its_programs_is_linked_anew_as_well(moved: tuple[Workspace, Path]) -> None:
    workspace, old = moved
    shutil.rmtree(workspace.venv / "bin")
    assert relink_moved(workspace)
    assert stale(workspace, old) == []
