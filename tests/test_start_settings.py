"""What the window starts with where settings cannot be used."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.start_settings import read_defaults
from amlwizard.window_memory import WindowMemory

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.ui.services import Defaults

INDEX = "https://index.example.org/simple"


class Desk:
    """The settings of one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {"HOME": str(folder), "USERPROFILE": str(folder), "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}

    def write(self, who: str, text: str = "", **record: object) -> Path:
        """Write the settings file of the ``user`` or the ``machine``."""
        file = self.folder / who / "settings.json"
        file.parent.mkdir()
        file.write_text(text or json.dumps({"format": 1, **record}), encoding="utf-8")
        return file

    def read(self) -> Defaults:
        """Return what the window would start with."""
        return read_defaults(self.environ, self.folder, self.folder / "user", self.folder / "machine")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_sound_settings_count_and_nothing_is_said(desk: Desk) -> None:
    desk.write("user", language="zh_CN", root="/srv/aml")
    found = desk.read()
    assert (found.language, str(found.choices.root), found.problem, found.file) == ("zh_CN", "/srv/aml", None, None)


def test_the_folder_of_the_command_line_comes_first(desk: Desk) -> None:
    desk.write("user", root="/srv/aml")
    found = read_defaults(desk.environ, desk.folder, desk.folder / "user", desk.folder / "machine", root="mine")
    assert (found.choices.root, found.problem) == (desk.folder / "mine", None)


def test_a_language_that_there_is_not_is_that_of_the_system(desk: Desk) -> None:
    desk.write("user", language="tlh")
    assert desk.read().language is None


def test_nothing_takes_the_place_of_a_users_file_that_is_refused(desk: Desk) -> None:
    file = desk.write("user", indexUrl="https://mei:hush@index.example.org/simple", root="/srv/aml", language="zh_CN")
    desk.write("machine", indexUrl=INDEX)
    found = desk.read()
    assert found.problem is not None
    assert (found.problem.code, found.file) == ("AML_URL_HAS_CREDENTIALS", file)
    assert (found.language, str(found.choices.root), found.choices.index_url) == ("zh_CN", "/srv/aml", None)


def test_nothing_takes_the_place_of_a_variable_that_is_refused(desk: Desk) -> None:
    desk.write("user", root="/srv/aml", indexUrl=INDEX, language="en")
    desk.environ["AML_INDEX_URL"] = "nonsense"
    found = desk.read()
    assert found.problem is not None
    assert (found.problem.code, found.file) == ("AML_INDEX_URL_INVALID", None)
    assert (str(found.choices.root), found.choices.index_url, found.language) == ("/srv/aml", None, "en")


@pytest.mark.parametrize("who", ["user", "machine"])
@pytest.mark.parametrize("text", ["{", "[]", '{"root": ["/srv/aml"]}'])
@pytest.mark.parametrize(
    ("named", "variable", "root"),
    [({}, "", "aml"), ({}, "mine", "mine"), ({"root": "other"}, "mine", "other"), ({"bundle": "a.amlbundle"}, "", "aml")],
)
def test_the_folder_that_was_named_stays_where_a_file_cannot_be_read(
    desk: Desk, who: str, text: str, named: dict[str, str], variable: str, root: str
) -> None:
    file = desk.write(who, text)
    desk.environ["AML_ROOT"] = variable
    found = read_defaults(desk.environ, desk.folder, desk.folder / "user", desk.folder / "machine", **named)
    assert found.problem is not None
    assert found.problem.code == ("AML_SETTING_INVALID" if "root" in text else "AML_SETTINGS_UNREADABLE")
    assert found.file == file
    assert found.choices.root == desk.folder / root
    assert found.choices.bundle == (desk.folder / named["bundle"] if "bundle" in named else None)


def test_the_last_choices_are_taken_where_nothing_else_names_a_folder(desk: Desk) -> None:
    memory = WindowMemory(desk.folder / "user")
    wanted = Choices(root=desk.folder / "speech", profile="pytorch")
    memory.remember(wanted)
    memory.keep_geometry("AdnQ")
    found = desk.read()
    assert (found.choices.root, found.choices.profile, found.geometry) == (desk.folder / "speech", "pytorch", "AdnQ")
    file = desk.folder / "requirements.txt"
    memory.remember(replace(wanted, profile=None, requirements=file))
    assert desk.read().choices.requirements == file
    desk.environ["AML_ROOT"] = str(desk.folder / "mine")
    found = desk.read()
    assert (found.choices.root, found.choices.requirements) == (desk.folder / "mine", None)


@pytest.mark.parametrize("named", [{"root": "mine"}, {"bundle": "a.amlbundle"}])
def test_the_last_choices_give_way_to_what_is_named(desk: Desk, named: dict[str, str]) -> None:
    WindowMemory(desk.folder / "user").remember(Choices(root=desk.folder / "speech", profile="pytorch"))
    found = read_defaults(desk.environ, desk.folder, desk.folder / "user", desk.folder / "machine", **named)
    assert found.choices.root == desk.folder / named.get("root", "aml")
    assert found.choices.profile is None


def test_a_last_folder_that_is_not_allowed_any_more_is_left_alone(desk: Desk) -> None:
    WindowMemory(desk.folder / "user").remember(Choices(root=desk.folder / "speech", profile="pytorch"))
    desk.write("machine", allowedRoots=[str(desk.folder / "allowed")])
    choices = desk.read().choices
    assert (choices.root, choices.profile) == (desk.folder / "allowed" / "aml", None)
