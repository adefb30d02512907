"""What amlwizard put into the store is listed, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.built_store import built_wheels
from amlwizard.core.errors import RefusedError
from amlwizard.core.paths import Workspace
from amlwizard.core.store.ledger import Noted, forget_files, note_files, noted_files, store_place
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "aml")


def test_files_of_the_store_are_listed_and_others_are_not(workspace: Workspace, tmp_path: Path) -> None:
    known = Noted("a" * 64, 5)
    places = [workspace.downloads / "a.whl", workspace.built / "b.whl", tmp_path / "c.whl", workspace.runtime / "d"]
    note_files(workspace, dict.fromkeys(places, known))
    assert noted_files(workspace) == {"a.whl": known}


def test_of_two_wheels_with_one_name_the_second_gets_a_folder_of_its_own(workspace: Workspace, tmp_path: Path) -> None:
    def put(init: str) -> Path:
        made = make_wheel(tmp_path / init, "a", init=init)
        place = store_place(workspace, made.name, sha256_of(made))
        note_files(workspace, {place: Noted(sha256_of(made), made.stat().st_size)})
        place.parent.mkdir(parents=True, exist_ok=True)
        made.rename(place)
        return place

    first, second = put("'1'"), put("'2'")
    assert first == workspace.downloads / first.name
    assert second == workspace.built / sha256_of(second)[:16] / first.name
    assert list(noted_files(workspace)) == [first.name]
    assert [(wheel.name, wheel.file, wheel.was_built) for wheel in built_wheels(workspace)] == [("a", first.name, False)]
    for place in (first, second):
        assert store_place(workspace, place.name, sha256_of(place)) == place
    right = sha256_of(first)
    first.write_bytes(b"damaged")
    assert store_place(workspace, first.name, right) == first  # where it is put right
    first.unlink()
    assert store_place(workspace, first.name, "b" * 64) == first
    assert store_place(workspace, second.name, sha256_of(second)) == second


def test_a_file_that_somebody_put_there_is_taken_where_it_is_the_right_one(workspace: Workspace) -> None:
    wheel = make_wheel(workspace.downloads, "a")
    assert store_place(workspace, wheel.name, sha256_of(wheel)) == wheel
    assert store_place(workspace, wheel.name, "b" * 64) != wheel
    note_files(workspace, {wheel: Noted("b" * 64, None)})
    assert store_place(workspace, wheel.name, sha256_of(wheel)) == wheel
    source = workspace.downloads / "a-1.0.tar.gz"  # what is built of it is kept, and it can be had again
    source.write_bytes(b"source")
    assert store_place(workspace, source.name, "b" * 64) == source


def test_the_latest_word_counts_and_what_is_listed_already_is_not_written_again(workspace: Workspace) -> None:
    place = workspace.downloads / "a.whl"
    note_files(workspace, {place: Noted("a" * 64, None)})
    note_files(workspace, {place: Noted("a" * 64, 5)})
    before = workspace.store_record.stat().st_ino
    note_files(workspace, {place: Noted("a" * 64, None)})
    assert workspace.store_record.stat().st_ino == before
    assert noted_files(workspace) == {"a.whl": Noted("a" * 64, 5)}
    note_files(workspace, {place: Noted("b" * 64, 7), workspace.downloads / "b.whl": Noted(None, None)})
    assert noted_files(workspace) == {"a.whl": Noted("b" * 64, 7), "b.whl": Noted(None, None)}
    forget_files(workspace, ["a.whl", "nothing"])
    assert list(noted_files(workspace)) == ["b.whl"]


@pytest.mark.parametrize("text", ["", "{", '{"format": 1, "files": []}', '{"format": 1, "files": {"a.whl": "x"}}'])
def test_a_list_that_is_damaged_lists_nothing(workspace: Workspace, text: str) -> None:
    workspace.runtime.mkdir(parents=True)
    workspace.store_record.write_text(text)
    assert noted_files(workspace) == {}


def test_a_list_of_a_newer_amlwizard_is_refused(workspace: Workspace) -> None:
    workspace.runtime.mkdir(parents=True)
    workspace.store_record.write_text('{"format": 99}')
    with pytest.raises(RefusedError, match="AML_FORMAT_TOO_NEW"):
        noted_files(workspace)
