"""What makes a local folder count as changed, and what does not."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.source_fingerprint import fingerprint_after_build, fingerprint_of, read_sources
from tests.support.sources import commit_all

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small source tree."""
    (tmp_path / "tinyd" / "pkg" / "data").mkdir(parents=True)
    (tmp_path / "tinyd" / "pkg" / "__init__.py").write_text("x = 1\n")
    (tmp_path / "tinyd" / "pkg" / "data" / "table.csv").write_text("1,2\n")
    (tmp_path / "tinyd" / "pyproject.toml").write_text("[project]\n")
    return tmp_path / "tinyd"


def of(folder: Path) -> str | None:
    sources = read_sources(folder)
    return None if sources is None else fingerprint_of(sources)


def test_content_counts_and_times_do_not(folder: Path) -> None:
    before = of(folder)
    os.utime(folder / "pkg" / "__init__.py", (1, 1))
    assert of(folder) == before
    (folder / "pkg" / "__init__.py").write_text("x = 2\n")
    assert of(folder) != before


@pytest.mark.parametrize("change", ["new", "gone", "renamed", "data", pytest.param("mode", marks=pytest.mark.posix)])
def test_every_change_of_a_file_counts(folder: Path, change: str) -> None:
    before = of(folder)
    match change:
        case "new":
            (folder / "pkg" / "more.py").touch()
        case "gone":
            (folder / "pkg" / "data" / "table.csv").unlink()
        case "renamed":
            (folder / "pkg" / "data" / "table.csv").rename(folder / "pkg" / "data" / "other.csv")
        case "data":
            (folder / "pkg" / "data" / "table.csv").write_text("1,3\n")
        case "mode":
            (folder / "pkg" / "__init__.py").chmod(0o755)
    assert of(folder) != before


def test_caches_environments_and_bytecode_do_not_count(folder: Path) -> None:
    before = of(folder)
    signs = {
        ".venv": "pyvenv.cfg",
        ".tool_cache": "CACHEDIR.TAG",
        "aml": "runtime/receipt.json",
        "pkg/__pycache__": "x.pyc",
    }
    for name, sign in signs.items():
        (folder / name / sign).parent.mkdir(parents=True)
        (folder / name / sign).touch()
        (folder / name / "more.py").touch()
    (folder / "pkg" / "left.pyc").touch()
    assert of(folder) == before


@pytest.mark.posix
def test_a_link_to_another_folder_makes_it_unknown(folder: Path, tmp_path: Path) -> None:
    (folder / "pkg" / "readme").symlink_to(folder / "pyproject.toml")
    assert of(folder) is not None
    (folder / "elsewhere").symlink_to(tmp_path)
    assert of(folder) is None


@pytest.mark.posix
def test_what_cannot_be_read_makes_it_unknown(folder: Path) -> None:
    (folder / "broken").symlink_to(folder / "nothing")
    assert of(folder) is None
    assert of(folder / "nothing") is None


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_of_git_only_the_place_of_branches_counts(folder: Path) -> None:
    commit_all(folder.parent)
    first = of(folder)
    (folder.parent / ".git" / "index").write_bytes(b"another")
    assert of(folder) == first
    (folder.parent / ".git" / "index").unlink()
    (folder.parent / "other").touch()
    commit_all(folder.parent)
    assert of(folder) != first
    shutil.rmtree(folder.parent / ".git")
    (folder.parent / ".git").write_text("gitdir: elsewhere\n")
    assert of(folder) is None


def test_what_a_build_leaves_in_folders_of_its_own_makes_no_difference(folder: Path) -> None:
    before = read_sources(folder)
    (folder / "build" / "lib").mkdir(parents=True)
    (folder / "build" / "lib" / "x.py").touch()
    (folder / "pkg.egg-info").mkdir()
    (folder / "pkg.egg-info" / "PKG-INFO").touch()
    noted = fingerprint_after_build(before, read_sources(folder))
    assert noted == of(folder)


@pytest.mark.parametrize("meanwhile", ["changed", "added"])
def test_what_somebody_did_during_the_build_is_a_change(folder: Path, meanwhile: str) -> None:
    before = read_sources(folder)
    (folder / "build").mkdir()
    (folder / "build" / "x.py").touch()
    (folder / "pkg" / ("__init__.py" if meanwhile == "changed" else "more.py")).write_text("x = 2\n")
    noted = fingerprint_after_build(before, read_sources(folder))
    assert noted is not None
    assert noted != of(folder)
    assert fingerprint_after_build(None, before) is None
