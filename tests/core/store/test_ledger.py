"""What amlwizard put into the store is listed, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.errors import RefusedError
from amlwizard.core.paths import Workspace
from amlwizard.core.store.ledger import Noted, forget_files, note_files, noted_files

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
