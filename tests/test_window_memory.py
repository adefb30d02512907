"""What the window remembers, on a real disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amlwizard.core.choices import Choices
from amlwizard.window_memory import Last, WindowMemory


@pytest.fixture
def memory(tmp_path: Path) -> WindowMemory:
    return WindowMemory(tmp_path / "config")


def record(folder: Path) -> Path:
    return folder / "config" / "window.json"


def test_workspaces_are_known_until_they_are_forgotten(memory: WindowMemory, tmp_path: Path) -> None:
    assert memory.known() == ()
    one, other = tmp_path / "one", tmp_path / "其他 \udcff"
    for root in (one, other, one):
        memory.add(root)
    assert memory.known() == (one, other)
    assert json.loads(record(tmp_path).read_text(encoding="utf-8"))["format"] == 1
    assert memory.last() == Last(str(one))
    memory.forget(other)
    assert (memory.known(), memory.last()) == ((one,), Last(str(one)))
    memory.forget(one)
    assert (memory.known(), memory.last()) == ((), Last())
    assert list(record(tmp_path).parent.iterdir()) == [record(tmp_path)]


def test_the_oldest_of_too_many_workspaces_go(memory: WindowMemory, tmp_path: Path) -> None:
    for number in range(101):
        memory.add(tmp_path / str(number))
    known = memory.known()
    assert (len(known), known[0].name, known[-1].name) == (100, "100", "1")


def test_what_is_set_up_is_the_last_choice_until_it_is_there(memory: WindowMemory, tmp_path: Path) -> None:
    root, file, bundle = tmp_path / "aml", tmp_path / "requirements.txt", tmp_path / "a.amlbundle"
    for choices, last in (
        (Choices(root=root, profile="pytorch"), Last(str(root), "pytorch")),
        (Choices(root=root, requirements=file), Last(str(root), None, str(file))),
        (Choices(root=root, bundle=bundle), Last(str(root))),
    ):
        memory.remember(choices)
        assert memory.last() == last
        assert memory.known() == ()
    memory.remember(Choices(root=root, profile="pytorch"))
    memory.add(root)
    assert memory.last() == Last(str(root))


def test_no_login_is_written(memory: WindowMemory, tmp_path: Path) -> None:
    credentials = {"https://index.example.org": ("mei", "secret")}
    memory.remember(Choices(root=tmp_path, credentials=credentials, index_url="https://index.example.org/simple"))
    memory.add(tmp_path)
    assert not {"mei", "secret", "index.example.org"} & set(record(tmp_path).read_text(encoding="utf-8").split('"'))
    assert "example" not in record(tmp_path).read_text(encoding="utf-8")


def test_the_size_is_kept_beside_the_rest(memory: WindowMemory, tmp_path: Path) -> None:
    assert memory.geometry() == ""
    memory.add(tmp_path)
    memory.keep_geometry("AdnQ")
    memory.forget(tmp_path)
    assert memory.geometry() == "AdnQ"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": "1"}', '{"format": 1, "workspaces": 7, "last": [], "geometry": {}}', "[" * 100_000],
)
def test_a_record_that_cannot_be_read_counts_as_absent(memory: WindowMemory, tmp_path: Path, text: str) -> None:
    record(tmp_path).parent.mkdir()
    record(tmp_path).write_text(text, encoding="utf-8")
    assert (memory.known(), memory.last(), memory.geometry()) == ((), Last(), "")
    memory.add(tmp_path)
    assert memory.known() == (tmp_path,)


def test_of_a_record_only_what_makes_sense_counts(memory: WindowMemory, tmp_path: Path) -> None:
    record(tmp_path).parent.mkdir()
    root = str(tmp_path / "aml")
    content = {"format": 1, "workspaces": [3, "relative", f"{root}\0", root, root, ""]}
    record(tmp_path).write_text(json.dumps({**content, "last": {"root": root, "profile": 3, "requirements": "x"}}))
    assert (memory.known(), memory.last()) == ((Path(root),), Last(root))


def test_a_record_of_a_newer_amlwizard_stays_as_it_is(memory: WindowMemory, tmp_path: Path) -> None:
    record(tmp_path).parent.mkdir()
    text = json.dumps({"format": 2, "workspaces": [str(tmp_path)]})
    record(tmp_path).write_text(text)
    assert memory.known() == ()
    memory.add(tmp_path / "aml")
    memory.keep_geometry("AdnQ")
    assert record(tmp_path).read_text() == text


def test_what_changes_nothing_is_not_written(memory: WindowMemory, tmp_path: Path) -> None:
    memory.add(tmp_path)
    written = record(tmp_path).stat().st_ino
    memory.add(tmp_path)
    memory.forget(tmp_path / "other")
    assert record(tmp_path).stat().st_ino == written  # writing replaces the file


def test_a_folder_is_looked_at_as_it_is(memory: WindowMemory, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for gone in (tmp_path / "gone", file, file / "below"):
        assert memory.look(gone) is None
    (tmp_path / "empty").mkdir()
    seen = memory.look(tmp_path / "empty")
    assert seen is not None
    assert seen.state == "absent"
    assert sorted(tmp_path.iterdir()) == [tmp_path / "empty", file]
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.posix
def test_a_folder_that_cannot_be_reached_has_not_gone(memory: WindowMemory, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="name"):
        memory.look(tmp_path / ("x" * 300))


def test_a_new_workspace_gets_a_folder_that_is_not_there(memory: WindowMemory, tmp_path: Path) -> None:
    root = tmp_path / "aml"
    assert memory.new_folder(root) == tmp_path / "aml-2"
    (tmp_path / "aml-2").mkdir()
    (tmp_path / "aml-3").touch()
    assert memory.new_folder(root) == tmp_path / "aml-4"
