"""Wheels that were built here: found again for the same source and interpreter, and for no other."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from amlwizard.core.built_store import built_wheels, find_built, keep_built
from amlwizard.core.lock import FileKind, LockedFile
from amlwizard.core.paths import Workspace
from amlwizard.core.source_fingerprint import fingerprint_of, read_sources
from tests.support.interpreters import probe
from tests.support.wheels import make_wheel, sha256_of

SDIST = LockedFile("tinyd", "4.0", FileKind.SDIST, "https://index.example.org/tinyd-4.0.tar.gz", None, sha256="a" * 64)
COMMIT = LockedFile("tinyd", None, FileKind.VCS, "https://git.example.org/tinyd", None, vcs="git", commit="b" * 40)
PYTHON, _ = probe(Path(sys.executable))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "aml")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return make_wheel(tmp_path / "out", "tinyd", "4.0")


@pytest.mark.parametrize("source", [SDIST, COMMIT])
def test_a_kept_wheel_is_found_with_its_hash(workspace: Workspace, wheel: Path, source: LockedFile) -> None:
    assert find_built(workspace, source, PYTHON) is None
    kept = keep_built(workspace, source, PYTHON, wheel)
    assert find_built(workspace, source, PYTHON) == kept
    assert (kept.name, kept.version, kept.sha256) == ("tinyd", "4.0", sha256_of(wheel))
    assert kept.path.read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize(
    "other",
    [
        replace(SDIST, sha256="c" * 64),
        replace(SDIST, subdirectory="python"),
        replace(SDIST, name="other"),
        replace(COMMIT, commit="a" * 40),
    ],
)
def test_another_source_is_built_anew(workspace: Workspace, wheel: Path, other: LockedFile) -> None:
    keep_built(workspace, SDIST, PYTHON, wheel)
    assert find_built(workspace, other, PYTHON) is None


def test_another_interpreter_gets_a_wheel_of_its_own(workspace: Workspace, wheel: Path) -> None:
    keep_built(workspace, SDIST, PYTHON, wheel)
    major, minor, _ = PYTHON.version
    assert find_built(workspace, SDIST, replace(PYTHON, version=(major, minor + 1, 0))) is None
    assert find_built(workspace, SDIST, replace(PYTHON, free_threaded=True)) is None
    assert find_built(workspace, SDIST, replace(PYTHON, version=(major, minor, 99))) is not None


def test_a_wheel_that_was_changed_or_whose_record_leads_elsewhere_is_not_used(workspace: Workspace, wheel: Path) -> None:
    kept = keep_built(workspace, SDIST, PYTHON, wheel)
    record = kept.path.parent / "source.json"
    whole = record.read_text()
    outside = workspace.root / wheel.name
    outside.write_bytes(wheel.read_bytes())
    record.write_text(whole.replace(f'"{wheel.name}"', f'"../../../{wheel.name}"'))
    assert find_built(workspace, SDIST, PYTHON) is None
    record.write_text(whole)
    kept.path.write_bytes(b"changed")
    assert find_built(workspace, SDIST, PYTHON) is None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A local folder that a wheel is built from."""
    source = tmp_path / "tinyd"
    (source / "tinyd").mkdir(parents=True)
    (source / "tinyd" / "__init__.py").write_text("x = 1\n")
    (source / "pyproject.toml").write_text("[project]\n")
    return source


def fingerprint(folder: Path) -> str:
    sources = read_sources(folder)
    assert sources is not None
    return fingerprint_of(sources)


def test_a_local_folder_is_found_again_while_its_files_are_what_they_were(
    workspace: Workspace, wheel: Path, folder: Path, tmp_path: Path
) -> None:
    file = LockedFile("tinyd", None, FileKind.DIRECTORY, None, folder)
    kept = keep_built(workspace, file, PYTHON, wheel, fingerprint(folder))
    assert find_built(workspace, file, PYTHON) == kept
    assert find_built(workspace, replace(file, path=folder / ".." / "tinyd"), PYTHON) == kept
    (folder / "tinyd" / "__init__.py").write_text("x = 2\n")
    assert find_built(workspace, file, PYTHON) is None
    newer = make_wheel(tmp_path / "out", "tinyd", "5.0")
    assert keep_built(workspace, file, PYTHON, newer, fingerprint(folder)).path.is_file()
    assert not kept.path.exists()
    assert [(each.name, each.version) for each in built_wheels(workspace)] == [("tinyd", "5.0")]


def test_of_a_local_folder_that_is_gone_the_wheel_is_left(workspace: Workspace, wheel: Path, folder: Path) -> None:
    file = LockedFile("tinyd", None, FileKind.DIRECTORY, None, folder)
    kept = keep_built(workspace, file, PYTHON, wheel, fingerprint(folder))
    shutil.rmtree(folder)
    assert find_built(workspace, file, PYTHON) == kept
    kept.path.write_bytes(b"changed")
    assert find_built(workspace, file, PYTHON) is None


def test_a_local_folder_whose_content_cannot_be_told_is_built_each_time(
    workspace: Workspace, wheel: Path, folder: Path
) -> None:
    file = LockedFile("tinyd", None, FileKind.DIRECTORY, None, folder)
    keep_built(workspace, file, PYTHON, wheel)
    assert find_built(workspace, file, PYTHON) is None


def test_records_tell_the_source_without_its_credentials(workspace: Workspace, wheel: Path) -> None:
    secret = replace(SDIST, url="https://user:hunter2@index.example.org/tinyd-4.0.tar.gz")
    kept = keep_built(workspace, secret, PYTHON, wheel)
    assert "hunter2" not in (kept.path.parent / "source.json").read_text()
    (built,) = built_wheels(workspace)
    assert (built.name, built.version, built.file, built.size) == ("tinyd", "4.0", wheel.name, kept.size)
    assert built.source["url"] == SDIST.url
    assert built.is_of(SDIST)
    assert not built.is_of(COMMIT)
    assert not built.is_of(replace(SDIST, sha256="c" * 64))
    kept.path.unlink()
    assert built_wheels(workspace)[0].size is None


@pytest.mark.posix
def test_what_no_record_tells_of_is_no_wheel_of_ours(workspace: Workspace, tmp_path: Path) -> None:
    assert built_wheels(workspace) == []
    (workspace.built / "0123456789abcdef").mkdir(parents=True)
    (workspace.built / "notes.txt").write_text("mine")
    (workspace.built / "link").symlink_to(tmp_path)
    assert built_wheels(workspace) == []


@pytest.mark.parametrize("key", ["name", "file", "source"])
@pytest.mark.parametrize("value", [None, 5, ["x"], {"a": "x" * 5000}, "", "x" * 5000, "../x.whl", "a\0b"])
def test_a_record_of_another_form_tells_of_no_wheel_that_is_there(
    workspace: Workspace, wheel: Path, key: str, value: object
) -> None:
    kept = keep_built(workspace, SDIST, PYTHON, wheel)
    record = kept.path.with_name("source.json")
    record.write_text(json.dumps({**json.loads(record.read_text()), key: value}), encoding="utf-8")
    for found in built_wheels(workspace):
        assert (found.folder / found.file).parent == found.folder
        assert isinstance(found.name, str)
        if key == "file":
            assert found.size is None
