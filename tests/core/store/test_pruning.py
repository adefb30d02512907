"""Freeing: what nothing needs goes, with its records; nothing else is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.built_store import built_wheels, keep_built
from amlwizard.core.errors import RefusedError
from amlwizard.core.interpreters import Origin, note_origin, origins
from amlwizard.core.lock import FileKind, LockedFile
from amlwizard.core.moving import Moving, StoppedError
from amlwizard.core.paths import Workspace
from amlwizard.core.store.ledger import Noted, note_files, noted_files, store_place
from amlwizard.core.store.pruning import Freed, free_files, refuse_unknown
from tests.core.store.support import PYTHON, fetched, look, package_of, write_lock
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "aml")


def free(workspace: Workspace) -> Freed:
    freed = Freed()
    free_files(workspace, look(workspace).freeable, freed, Moving())
    return freed


def test_what_nothing_needs_goes_with_its_records(workspace: Workspace, tmp_path: Path) -> None:
    used, old = fetched(workspace, "a", "2"), fetched(workspace, "a", "1")
    write_lock(workspace.lock, package_of(used))
    mine = workspace.downloads / "mine.whl"
    mine.write_text("mine")
    part = workspace.downloads / f"{old.name}.part"
    part.write_text("1234")
    given_up = workspace.downloads / "b-1.0-py3-none-any.whl"
    note_files(workspace, {given_up: Noted("b" * 64, 5)})
    given_up.with_name(f"{given_up.name}.part").write_text("12")
    used.with_name(f"{used.name}.part").write_text("123")
    archive = workspace.downloads / "cpython-3.10.2.tar.gz"
    archive.write_text("archive")
    note_files(workspace, {archive: Noted(None, None)})
    note_origin(workspace, Origin("cpython-3.10.2", "3.10.2", archive.name, "0" * 64, "key", {}))
    source = LockedFile("d", "4.0", FileKind.SDIST, None, None, "d-4.0.tar.gz", sha256="d" * 64)
    keep_built(workspace, source, PYTHON, make_wheel(tmp_path, "d", "4.0"))
    size = 5 + sum(file.stat().st_size for file in (old, part, archive, *workspace.built.rglob("*.*")))
    freed = free(workspace)
    assert (freed.files, freed.bytes, freed.stuck) == (6, size, [])
    assert sorted(path.name for path in workspace.downloads.iterdir()) == [used.name, "built", mine.name]
    assert list(noted_files(workspace)) == [used.name]
    assert origins(workspace) == {}
    assert built_wheels(workspace) == []
    assert free(workspace).files == 0


def test_of_wheels_with_one_name_that_which_no_lock_needs_goes(workspace: Workspace, tmp_path: Path) -> None:
    usual = fetched(workspace, "a")
    made = [make_wheel(tmp_path / init, "a", init=init) for init in ("'2'", "'3'")]
    others = [store_place(workspace, wheel.name, sha256_of(wheel)) for wheel in made]
    note_files(workspace, {place: Noted(sha256_of(wheel), None) for place, wheel in zip(others, made, strict=True)})
    for place, wheel in zip(others, made, strict=True):
        wheel.rename(place)
    write_lock(workspace.previous_lock, package_of(usual))
    write_lock(workspace.lock, package_of(others[0]))
    assert look(workspace).lacks == []
    assert free(workspace).files == 1
    assert usual.is_file()
    assert [place.is_file() for place in others] == [True, False]
    assert [each.folder for each in built_wheels(workspace)] == [others[0].parent]
    others[0].unlink()
    assert [lack.file for lack in look(workspace).lacks] == [usual.name]


def test_a_stop_leaves_records_that_fit_what_is_there(workspace: Workspace) -> None:
    write_lock(workspace.lock, package_of(fetched(workspace, "z")))
    for name in "ab":
        fetched(workspace, name)
    moving = Moving()
    moving.stop()
    freed = Freed()
    with pytest.raises(StoppedError):
        free_files(workspace, look(workspace).freeable, freed, moving)
    assert freed.files == 1
    assert set(noted_files(workspace)) == {path.name for path in workspace.downloads.iterdir()}
    assert len(noted_files(workspace)) == 2


def test_what_cannot_be_removed_is_named_and_stays_listed(workspace: Workspace) -> None:
    write_lock(workspace.lock, package_of(fetched(workspace, "z")))
    stuck = fetched(workspace, "a")
    found = look(workspace)
    stuck.unlink()
    stuck.mkdir()  # no file any more: unlink refuses it on every system
    freed = Freed()
    free_files(workspace, found.freeable, freed, Moving())
    assert freed == Freed(stuck=[stuck])
    assert stuck.name in noted_files(workspace)


@pytest.mark.parametrize(
    ("damage", "code"), [("no lock", "AML_STORE_NO_LOCK"), ("unreadable", "AML_STORE_LOCK_UNREADABLE")]
)
def test_nothing_is_freed_where_it_is_not_known_what_is_needed(workspace: Workspace, damage: str, code: str) -> None:
    write_lock(workspace.previous_lock, package_of(fetched(workspace, "a")))
    if damage == "unreadable":
        workspace.lock.write_text("lost")
    with pytest.raises(RefusedError, match=code):
        refuse_unknown(look(workspace))
    write_lock(workspace.lock)
    refuse_unknown(look(workspace))
