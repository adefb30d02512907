"""A copy of an environment by hard links."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.environment.clone import clone_environment

if TYPE_CHECKING:
    from pathlib import Path


def make(folder: Path) -> Path:
    """Make an environment of two distributions, of which one has its bytecode."""
    site = folder / "lib" / "python3.11" / "site-packages"
    for name in ("tinya", "tinyb"):
        (site / name / "inner").mkdir(parents=True)
        (site / name / "inner" / "code.py").write_text(name)
        (site / name / "inner" / "__pycache__").mkdir()
        (site / name / "inner" / "__pycache__" / "code.cpython-311.pyc").write_text(name)
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "RECORD").write_text(f"{name}/inner/code.py,,\n../../../bin/{name},,\n{name}-1.0.dist-info/RECORD,,\n")
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / name).write_text(name)
    (site / "by_hand.py").write_text("mine")
    (folder / ".aml-ok-000000000000").write_text("{}")
    return site


def listing(folder: Path) -> set[str]:
    """The files of a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


@pytest.mark.posix
def test_everything_but_the_damaged_distribution_and_the_marker_is_shared(tmp_path: Path) -> None:
    source, target = tmp_path / "old", tmp_path / "new"
    make(source)
    clone_environment(source, target, {"tinya"})
    gone = {path for path in listing(source) if "tinya" in path}
    assert listing(target) == listing(source) - gone - {".aml-ok-000000000000"}
    assert not list(target.rglob("tinya*"))
    assert all((target / path).samefile(source / path) for path in listing(target))


@pytest.mark.posix
def test_links_are_taken_over_and_not_followed(tmp_path: Path) -> None:
    source, target = tmp_path / "old", tmp_path / "new"
    make(source)
    (source / "lib64").symlink_to("lib")
    (source / "bin" / "python").symlink_to("/nowhere/python3.11")
    clone_environment(source, target, set())
    assert os.readlink(target / "lib64") == "lib"  # noqa: PTH115 - the text of the link
    assert os.readlink(target / "bin" / "python") == "/nowhere/python3.11"  # noqa: PTH115


def test_where_links_are_refused_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    source, target = tmp_path / "old", tmp_path / "new"
    site = make(source)
    monkeypatch.setattr(os, "link", refuse)
    clone_environment(source, target, {"tinyb"})
    copy = target / site.relative_to(source) / "by_hand.py"
    assert copy.read_text() == "mine"
    assert not copy.samefile(site / "by_hand.py")
    assert "bin/tinya" in listing(target)
