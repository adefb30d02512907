"""What a workspace takes on the disk is counted once, part by part."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.disk_use import DiskUse, disk_use
from amlwizard.core.paths import Workspace

if TYPE_CHECKING:
    from pathlib import Path


def put(path: Path, size: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    return path


def test_each_part_has_its_size_and_a_linked_file_counts_for_the_environment(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    in_cache = put(workspace.cache / "archive" / "numpy" / "core.so", 1000)
    put(workspace.cache / "index.msgpack", 7)
    in_venv = workspace.venv / "lib" / "numpy" / "core.so"
    in_venv.parent.mkdir(parents=True)
    os.link(in_cache, in_venv)
    os.link(in_cache, workspace.venv / "again.so")
    put(workspace.venv / "pyvenv.cfg", 10)
    put(workspace.interpreters / "cpython" / "bin" / "python3", 500)
    put(workspace.tools / "uv", 300)
    put(workspace.downloads / "numpy.whl", 40)
    put(workspace.root / "notebooks" / "mine.ipynb", 9000)
    use = disk_use(workspace, threading.Event())
    assert use == DiskUse(environment=1010, tools=800, store=40, cache=7)
    assert use.total == 1857


def test_what_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert disk_use(Workspace(tmp_path / "nowhere"), threading.Event()).total == 0


@pytest.mark.posix
def test_what_lies_behind_a_link_takes_nothing_here(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "root")
    put(tmp_path / "elsewhere" / "big.whl", 5000)
    put(workspace.venv / "pyvenv.cfg", 10)
    workspace.downloads.symlink_to(tmp_path / "elsewhere")
    (workspace.venv / "loop").symlink_to(workspace.venv)
    use = disk_use(workspace, threading.Event())
    assert use.store == 0
    assert use.environment == 10 + len(str((workspace.venv / "loop").readlink()))


def test_it_ends_early_when_it_is_told_to(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    put(workspace.venv / "pyvenv.cfg", 10)
    stopped = threading.Event()
    stopped.set()
    assert disk_use(workspace, stopped).total == 0
