"""How far a removal is, and where it stops when it is told to."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

import pytest

from amlwizard.core import receipt
from amlwizard.core.paths import Workspace
from amlwizard.core.store.ledger import Noted, note_files
from amlwizard.core.uninstall import Removal, remove_listed, remove_records

if TYPE_CHECKING:
    from pathlib import Path


class StopsAt(threading.Event):
    """Is set as soon as a path is gone."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def is_set(self) -> bool:
        return not os.path.lexists(self._path)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """What a managed installation leaves: two archives and an empty folder in the cache, 9 files and a link in all."""
    workspace = Workspace(tmp_path)
    folders = (workspace.tools, workspace.interpreters, workspace.downloads, workspace.cache, workspace.venv)
    files = (
        "tools/uv",
        "python/cpython-3.11/bin/python3.11",
        "downloads/a.whl",
        "downloads/b.whl",
        "cache/archive/one/a.py",
        "cache/archive/one/deep/b.py",
        "cache/archive/two/c.py",
        ".venv/pyvenv.cfg",
        ".venv/lib/a.py",
    )
    for file in files:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "cache" / "empty").mkdir()
    (tmp_path / "cache" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "keep").touch()
    receipt.note_created(workspace, *folders, kind="folder")
    note_files(workspace, {workspace.downloads / name: Noted(None, 0) for name in ("a.whl", "b.whl")})
    return workspace


@pytest.mark.posix
def test_every_file_is_counted_and_no_link_is_followed(workspace: Workspace) -> None:
    removal = Removal()
    remove_listed(workspace, removal, threading.Event())
    assert (removal.done, removal.total, removal.stuck) == (10, 10, [])
    assert sorted(path.name for path in workspace.root.iterdir()) == ["elsewhere", "runtime"]
    assert (workspace.root / "elsewhere" / "keep").exists()


@pytest.mark.posix
@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ("cache/archive/one", ["cache/archive/two/c.py", ".venv/lib/a.py", "downloads/a.whl", "python/cpython-3.11"]),
        (".venv/pyvenv.cfg", ["downloads/a.whl", "python/cpython-3.11"]),
        ("downloads/a.whl", ["downloads/b.whl", "python/cpython-3.11"]),
    ],
)
def test_a_cancel_takes_effect_between_parts_and_never_leaves_half_an_environment(
    workspace: Workspace, gone: str, left: list[str]
) -> None:
    removal = Removal()
    remove_listed(workspace, removal, StopsAt(workspace.root / gone))
    assert [name for name in left if not (workspace.root / name).exists()] == []
    assert workspace.venv.exists() is (".venv/lib/a.py" in left)
    assert removal.total is not None
    assert 0 < removal.done < removal.total
    remove_listed(workspace, removal, threading.Event())
    assert sorted(path.name for path in workspace.root.iterdir()) == ["elsewhere", "runtime"]


@pytest.mark.posix
def test_what_others_put_into_our_folders_stays_with_its_folder_and_is_named(workspace: Workspace) -> None:
    root = workspace.root
    theirs = [
        *("downloads/my.bin", "downloads/mine/deep.txt", "downloads/built/mine"),
        *("tools/mine", "python/mine/a.py", "runtime/mine", "runtime/pylock.mine.toml"),
    ]
    ours = [
        *("downloads/b.whl.part", "downloads/built/0123456789abcdef/a.whl", "downloads/unchecked/a", "tools/uv.part"),
        *(
            "runtime/jupyter/token",
            "runtime/terminal/bashrc",
            "python/.lock",
            "runtime/logs/a.log",
            "runtime/uv.json",
            "runtime/pylock.toml.12.part",
            "runtime/lock.use",
        ),
    ]
    for name in (*theirs, *ours):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}" if name.endswith(".json") else "")
    receipt.note_created(workspace, workspace.runtime, kind="folder")
    removal = Removal()
    remove_listed(workspace, removal, threading.Event())
    remove_records(workspace, removal)
    left = [path for path in root.rglob("*") if path.is_file() and path.parent.name != "elsewhere"]
    assert sorted(path.relative_to(root).as_posix() for path in left) == sorted(theirs)
    assert removal.stuck == []
    assert removal.done == removal.total
    assert not workspace.cache.exists()
    named = ("downloads/built", "downloads/mine", "downloads/my.bin", "elsewhere", "python/mine", "runtime/mine")
    assert removal.kept == sorted(root / name for name in (*named, "runtime/pylock.mine.toml", "tools/mine"))


@pytest.mark.posix
def test_links_of_uv_to_its_interpreters_go_and_those_of_others_stay(workspace: Workspace) -> None:
    (workspace.interpreters / "cpython-3.11-linux").symlink_to("cpython-3.11.9-linux")
    (workspace.tools / "mine").symlink_to(workspace.root / "elsewhere")
    removal = Removal()
    remove_listed(workspace, removal, threading.Event())
    assert not workspace.interpreters.exists()
    assert (workspace.tools / "mine").is_symlink()
    assert removal.done == removal.total


@pytest.mark.posix
def test_names_that_none_can_have_and_that_lead_elsewhere_remove_nothing(workspace: Workspace, tmp_path: Path) -> None:
    elsewhere = tmp_path.parent / "elsewhere"
    elsewhere.mkdir()
    names = ["a\0b", "\ud800", "x" * 5000, "../elsewhere", str(elsewhere), "jobs/../../elsewhere", "cache/../../elsewhere"]
    entries = {name: {"kind": "folder", "created": "2026-01-01T00:00:00Z"} for name in (*names, "cache")}
    workspace.receipt.write_text(json.dumps({"format": 1, "created": entries}), encoding="utf-8")
    removal = Removal()
    remove_listed(workspace, removal, threading.Event())
    remove_records(workspace, removal)
    assert elsewhere.is_dir()
    assert not workspace.cache.exists()
