"""What the store holds, who needs it, and what is lacking."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.built_store import keep_built
from amlwizard.core.host import host_facts
from amlwizard.core.interpreters import Origin, note_origin
from amlwizard.core.lock import FileKind, LockedFile
from amlwizard.core.paths import Workspace, executable_name
from amlwizard.core.records import write_record
from amlwizard.core.source_fingerprint import fingerprint_of, read_sources
from amlwizard.core.store.ledger import Noted, note_files
from amlwizard.core.store.needs import NeededBy
from amlwizard.core.store.survey import CacheUse, StoreKind
from tests.core.store.support import PYTHON, fetched, freeable, look, package_of, write_local_lock, write_lock
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from amlwizard.core.store.survey import Survey

FOREIGN_TAG = "cp39-cp39-win32"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "aml")


def needed(found: Survey) -> dict[str, tuple[NeededBy, ...]]:
    return {held.path.name: held.needed_by for held in found.held}


def test_each_lock_keeps_its_own_files_and_the_rest_can_be_freed(workspace: Workspace) -> None:
    old, mid, new, both = (
        fetched(workspace, name, version) for name, version in [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1")]
    )
    waiting = fetched(workspace, "c")
    write_lock(workspace.previous_lock, package_of(mid), package_of(both))
    write_lock(workspace.lock, package_of(new), package_of(both))
    write_lock(workspace.next_lock, package_of(waiting))
    write_local_lock(workspace, new, both)
    found = look(workspace)
    assert needed(found) == {
        old.name: (),
        mid.name: (NeededBy.PREVIOUS,),
        new.name: (NeededBy.CURRENT,),
        both.name: (NeededBy.CURRENT, NeededBy.PREVIOUS),
        waiting.name: (NeededBy.NEXT,),
    }
    assert freeable(found) == [old.name]
    assert found.lacks == []
    assert found.complete


@pytest.mark.posix
def test_what_the_ledger_does_not_list_is_foreign_even_if_nothing_needs_it(workspace: Workspace, tmp_path: Path) -> None:
    used = fetched(workspace, "a")
    write_lock(workspace.lock, package_of(used))
    make_wheel(workspace.downloads, "mine")
    (workspace.downloads / "note.txt").write_text("note")
    (workspace.downloads / "data.json").write_text("{}")
    (workspace.downloads / f"{used.name}.json").write_text("{}")
    (workspace.downloads / "half.part").write_text("x")
    (workspace.downloads / "folder").mkdir()
    (workspace.downloads / "link.whl").symlink_to(used)
    note_files(workspace, {workspace.downloads / "link.whl": Noted(None, None)})
    (workspace.built / "mine").mkdir(parents=True)
    found = look(workspace)
    theirs = ("mine-1.0-py3-none-any.whl", "note.txt", "data.json", f"{used.name}.json", "half.part", "folder")
    assert {path.name for path, _ in found.foreign} == {*theirs, "link.whl", "mine"}
    assert found.freeable == []


def test_of_several_wheels_only_that_of_the_locks_python_is_needed_where_it_can_be_asked(workspace: Workspace) -> None:
    ours, theirs = fetched(workspace, "a"), fetched(workspace, "a", tag=FOREIGN_TAG)
    write_lock(workspace.lock, package_of(ours, theirs))
    assert freeable(look(workspace)) == [theirs.name]
    assert freeable(look(workspace, [])) == []
    ours.unlink()
    assert [lack.file for lack in look(workspace).lacks] == [ours.name]
    assert look(workspace, []).lacks == []  # nobody can tell that the other one will not do


def test_what_is_missing_cut_short_or_another_content_is_lacking(workspace: Workspace) -> None:
    gone, short, other = (fetched(workspace, name) for name in "abc")
    write_lock(workspace.lock, package_of(gone), package_of(short), package_of(other))
    write_lock(workspace.previous_lock, package_of(short))
    size = short.stat().st_size
    gone_size = gone.stat().st_size
    gone.unlink()
    short.write_bytes(short.read_bytes()[:100])
    note_files(workspace, {other: Noted("f" * 64, None)})  # fetched anew by a lock that is no more
    found = look(workspace)
    assert [(lack.file, lack.size, lack.found, lack.needed_by) for lack in found.lacks] == [
        (gone.name, gone_size, None, (NeededBy.CURRENT,)),
        (short.name, size, 100, (NeededBy.CURRENT, NeededBy.PREVIOUS)),
        (other.name, other.stat().st_size, other.stat().st_size, (NeededBy.CURRENT,)),
    ]
    assert not found.complete


def test_without_the_locks_python_only_what_is_needed_in_any_case_is_lacking(workspace: Workspace) -> None:
    used, gone, elsewhere = (fetched(workspace, name) for name in "abc")
    packages = [package_of(used), package_of(gone), {**package_of(elsewhere), "marker": "sys_platform == 'plan9'"}]
    write_lock(workspace.lock, *packages)
    write_lock(workspace.previous_lock, *packages)
    write_local_lock(workspace, used, gone)
    for wheel in (gone, elsewhere):
        wheel.unlink()
    expected = [(gone.name, (NeededBy.CURRENT, NeededBy.PREVIOUS))]
    for pythons in ([PYTHON], []):
        assert [(lack.file, lack.needed_by) for lack in look(workspace, pythons).lacks] == expected


def test_what_only_undo_lacks_leaves_the_rest_complete(workspace: Workspace) -> None:
    used, gone = fetched(workspace, "a", "2"), fetched(workspace, "a", "1")
    write_lock(workspace.lock, package_of(used))
    write_lock(workspace.previous_lock, package_of(gone))
    gone.unlink()
    found = look(workspace)
    assert [lack.needed_by for lack in found.lacks] == [(NeededBy.PREVIOUS,)]
    assert found.complete


def test_partial_files_tell_how_far_they_are_and_are_kept_while_they_are_needed(workspace: Workspace) -> None:
    wanted, unwanted, whole = (fetched(workspace, name) for name in "abc")
    write_lock(workspace.lock, package_of(wanted), package_of(whole))
    for wheel in (wanted, unwanted, whole):
        part = wheel.with_name(f"{wheel.name}.part")
        part.write_bytes(wheel.read_bytes()[:40])
        wheel.with_name(f"{wheel.name}.resume.part").write_text("{}")
    total = wanted.stat().st_size
    wanted.unlink()
    unwanted.unlink()
    found = look(workspace)
    parts = {held.path.name: held for held in found.held if held.kind is StoreKind.PARTIAL}
    assert (parts[f"{wanted.name}.part"].size, parts[f"{wanted.name}.part"].total) == (40, total)
    kept = {name for name, held in parts.items() if held.needed_by}
    assert kept == {f"{wanted.name}.part", f"{wanted.name}.resume.part"}
    assert len(parts) == 6


def archive(workspace: Workspace, version: str, **other: str) -> Path:
    """Put something like an interpreter's archive into the store, described for this computer or another one."""
    host = host_facts()
    system = {"linux": "linux", "windows": "windows", "macos": "darwin"}[host.system]
    major, minor, patch = map(int, version.split("."))
    entry: dict[str, Any] = {
        "name": "cpython",
        "arch": {"family": "aarch64" if host.machine == "arm64" else host.machine, "variant": None},
        "os": system,
        "libc": "gnu" if host.system == "linux" else "none",
        "major": major,
        "minor": minor,
        "patch": patch,
        "prerelease": "",
        **other,
    }
    file = workspace.downloads / f"cpython-{version}{''.join(other.values())}.tar.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"archive")
    note_files(workspace, {file: Noted(sha256_of(file), None)})
    described = {f"cpython-{version}": {**entry, "url": file.name, "sha256": sha256_of(file)}}
    file.with_name(f"{file.name}.json").write_text(json.dumps(described))
    return file


def test_archives_of_installed_interpreters_and_of_the_locks_python_are_needed(workspace: Workspace) -> None:
    write_lock(workspace.lock, package_of(fetched(workspace, "a")), python="3.12.4")
    installed, gone = archive(workspace, "3.10.1"), archive(workspace, "3.10.2")
    older, newest = archive(workspace, "3.12.4"), archive(workspace, "3.12.9")
    foreign = archive(workspace, "3.12.9", os="plan9")
    for file in (installed, gone):
        name = file.name.removesuffix(".tar.gz")
        note_origin(workspace, Origin(name, name.split("-")[1], file.name, sha256_of(file), "key", {}))
    (workspace.interpreters / "cpython-3.10.1").mkdir(parents=True)
    found = look(workspace)
    kept = {held.path.name for held in found.held if held.needed_by == (NeededBy.PYTHON,)}
    assert kept == {f"{file.name}{end}" for file in (installed, newest) for end in ("", ".json")}
    freed = {f"{file.name}{end}" for file in (gone, older, foreign) for end in ("", ".json")}
    assert set(freeable(found)) == freed
    assert {held.kind for held in found.held if "cpython" in held.path.name} == {StoreKind.PYTHON}
    assert found.needs.has_archive
    installed.unlink()
    found = look(workspace)
    assert [(lack.file, lack.needed_by) for lack in found.lacks] == [(installed.name, (NeededBy.PYTHON,))]
    assert not found.complete


def test_the_wheel_of_the_uv_in_use_is_needed_and_others_are_not(workspace: Workspace) -> None:
    from packaging.tags import platform_tags

    here = f"py3-none-{next(iter(platform_tags()))}"
    write_lock(workspace.lock, package_of(fetched(workspace, "a")))
    write_record(workspace.uv_record, {"version": "0.13.9", "uvPath": str(workspace.tools / executable_name("uv"))})
    own = fetched(workspace, "uv", "0.13.9", tag=here)
    fetched(workspace, "uv", "0.13.8", tag=here)
    fetched(workspace, "uv", "0.13.9", tag="py3-none-plan9_1")
    found = look(workspace)
    assert [held.path for held in found.held if held.needed_by == (NeededBy.UV,)] == [own]
    assert len(freeable(found)) == 2
    assert {held.kind for held in found.held} == {StoreKind.WHEELS, StoreKind.UV}


def test_a_uv_that_is_gone_is_lacking_where_nothing_brings_it_back(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lock(workspace.lock, package_of(fetched(workspace, "a")))
    private = workspace.tools / executable_name("uv")
    write_record(workspace.uv_record, {"version": "0.13.9", "uvPath": str(private)})
    assert look(workspace).complete  # by the copy that came with this program
    monkeypatch.setattr("amlwizard.core.store.needs.find_bundled_uv", lambda: None)
    found = look(workspace)
    assert [(lack.name, lack.needed_by) for lack in found.lacks] == [("uv", (NeededBy.UV,))]
    assert not found.complete
    private.parent.mkdir()
    private.touch()
    assert look(workspace).complete


# -- what was built here

SDIST = LockedFile(
    "d", "4.0", FileKind.SDIST, "https://files.example.org/d-4.0.tar.gz", None, "d-4.0.tar.gz", size=7, sha256="d" * 64
)


def sdist_package() -> dict[str, Any]:
    source = {"url": SDIST.url, "size": SDIST.size, "hashes": {"sha256": SDIST.sha256}}
    return {"name": "d", "version": "4.0", "sdist": source}


def test_a_built_wheel_stands_for_its_source(workspace: Workspace, tmp_path: Path) -> None:
    write_lock(workspace.lock, sdist_package())
    lack = look(workspace).lacks
    assert [(each.file, each.size, each.build) for each in lack] == [("d-4.0.tar.gz", 7, False)]
    archive = workspace.downloads / "d-4.0.tar.gz"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"1234567")
    assert [(each.size, each.build) for each in look(workspace).lacks] == [(None, True)]
    kept = keep_built(workspace, SDIST, PYTHON, make_wheel(tmp_path, "d", "4.0"))
    found = look(workspace)
    assert found.lacks == []
    assert needed(found) == {archive.name: (NeededBy.CURRENT,), kept.path.parent.name: (NeededBy.CURRENT,)}
    assert [(each.wheel.name, each.wheel.version, each.changed) for each in found.built] == [("d", "4.0", False)]
    kept.path.unlink()
    assert len(look(workspace).lacks) == 1


def test_what_was_built_from_another_source_or_for_another_python_can_be_freed(
    workspace: Workspace, tmp_path: Path
) -> None:
    wheel = make_wheel(tmp_path, "d", "4.0")
    write_lock(workspace.lock, sdist_package())
    own = keep_built(workspace, SDIST, PYTHON, wheel)
    major, minor, _ = PYTHON.version
    older = keep_built(workspace, SDIST, replace(PYTHON, version=(major, minor - 1, 0)), wheel)
    other = keep_built(workspace, replace(SDIST, sha256="e" * 64), PYTHON, wheel)
    assert set(freeable(look(workspace))) == {older.path.parent.name, other.path.parent.name}
    assert own.path.parent.name not in freeable(look(workspace))


def test_a_local_folder_that_changed_is_told_and_has_to_be_built(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "local"
    source.mkdir()
    (source / "pyproject.toml").write_text("[project]\n")
    sources = read_sources(source)
    assert sources is not None
    path = Path(os.path.relpath(source, workspace.runtime)).as_posix()
    write_lock(workspace.lock, {"name": "d", "directory": {"path": path}})
    file = LockedFile("d", None, FileKind.DIRECTORY, None, source)
    keep_built(workspace, file, PYTHON, make_wheel(tmp_path, "d", "4.0"), fingerprint_of(sources))
    found = look(workspace)
    assert (found.lacks, [each.changed for each in found.built]) == ([], [False])
    (source / "pyproject.toml").write_text("[project]\nname = 'd'\n")
    found = look(workspace)
    assert [(lack.name, lack.build, lack.size) for lack in found.lacks] == [("d", True, None)]
    assert [(each.changed, each.needed_by) for each in found.built] == [(True, (NeededBy.CURRENT,))]


# -- locks that tell nothing


def test_a_lock_that_cannot_be_read_is_told(workspace: Workspace) -> None:
    wheel = fetched(workspace, "a")
    write_lock(workspace.lock, package_of(wheel))
    fetched(workspace, "of-the-previous")
    workspace.previous_lock.write_text("lost")
    found = look(workspace)
    assert found.unreadable is not None
    assert freeable(found) == []
    assert (found.unreadable.which, found.unreadable.error) == (NeededBy.PREVIOUS, "AML_LOCK_INVALID")
    assert found.complete


def test_without_a_lock_nothing_is_complete(workspace: Workspace) -> None:
    fetched(workspace, "a")
    found = look(workspace)
    assert not found.complete
    assert not found.has_lock
    assert freeable(found) == []
    assert found.current is None


@pytest.mark.posix
def test_a_store_that_is_a_link_is_looked_at_and_never_freed(workspace: Workspace, tmp_path: Path) -> None:
    fetched(workspace, "a")
    write_lock(workspace.lock)
    workspace.downloads.rename(tmp_path / "elsewhere")
    workspace.downloads.symlink_to(tmp_path / "elsewhere")
    found = look(workspace)
    assert found.freeable == []
    assert found.foreign == [(workspace.downloads, 0)]
    assert [held.path.name for held in found.held] == ["a-1.0-py3-none-any.whl"]


# -- the cache


def test_what_the_cache_shares_with_the_environment_is_counted_once_and_told(workspace: Workspace) -> None:
    (workspace.cache / "archive").mkdir(parents=True)
    own, shared, twice = (workspace.cache / "archive" / name for name in ("own", "shared", "twice"))
    for file, size in ((own, 10), (shared, 100), (twice, 1000)):
        file.write_bytes(b"x" * size)
    (workspace.cache / "again").hardlink_to(twice)
    (workspace.root / "installed").hardlink_to(shared)
    assert look(workspace).cache == CacheUse(files=4, bytes=1110, shared_bytes=100)


@pytest.mark.posix
def test_an_archive_that_waits_for_its_check_is_partial_and_can_be_freed(workspace: Workspace, tmp_path: Path) -> None:
    used = fetched(workspace, "a")
    write_lock(workspace.lock, package_of(used))
    waiting = workspace.unchecked / "20260101" / "python.tar.gz.part"
    waiting.parent.mkdir(parents=True)
    waiting.write_bytes(b"half")
    (workspace.unchecked / "link").symlink_to(tmp_path)
    found = look(workspace)
    assert [(held.path, held.size) for held in found.held if held.kind is StoreKind.PARTIAL] == [(waiting, 4)]
    assert freeable(found) == [waiting.name]
    assert found.foreign == []
