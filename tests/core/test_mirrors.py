"""The list of mirrors: what comes with the program, and copies of people's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.errors import RefusedError
from amlwizard.core.mirrors import load_mirrors

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = {"id": "own", "names": {"en": "Own"}, "indexUrl": "https://index.example.org/simple"}


def write(folder: Path, *entries: object) -> Path:
    """Write a list of mirrors into a settings folder."""
    folder.mkdir(exist_ok=True)
    file = folder / "mirrors.json"
    file.write_text(json.dumps({"format": 1, "mirrors": entries}), encoding="utf-8")
    return file


def test_the_list_of_the_program_is_complete(tmp_path: Path) -> None:
    mirrors = load_mirrors(tmp_path, tmp_path)
    assert len({mirror.id for mirror in mirrors}) == len(mirrors) >= 5
    assert any(mirror.python_mirror for mirror in mirrors)
    for mirror in mirrors:
        assert all(mirror.names[language] for language in LANGUAGES)
        for address in filter(None, (mirror.index_url, mirror.python_mirror)):
            assert urlsplit(address).scheme == "https"
            assert not address.endswith("/")
    chinese = next(mirror for mirror in mirrors if "南京" in mirror.names["zh_CN"])
    assert chinese.name("zh_CN") != chinese.name("en") == chinese.name("tlh")


def test_a_copy_of_the_user_goes_before_the_computers_and_the_programs(tmp_path: Path) -> None:
    user, machine = tmp_path / "user", tmp_path / "machine"
    write(machine, ENTRY, {**ENTRY, "id": "second", "pythonMirror": "https://files.example.org/python"})
    assert [mirror.id for mirror in load_mirrors(user, machine)] == ["own", "second"]
    second = load_mirrors(user, machine)[1]
    assert second.python_mirror == "https://files.example.org/python"
    write(user)
    assert load_mirrors(user, machine) == []


@pytest.mark.parametrize(
    "entry",
    [
        5,
        {},
        {**ENTRY, "id": ""},
        {**ENTRY, "names": ["Own"]},
        {**ENTRY, "names": {"en": 5}},
        {**ENTRY, "indexUrl": None},
        {**ENTRY, "pythonMirror": 5},
        {**ENTRY, "indexUrl": "ftp://index.example.org"},
        {**ENTRY, "indexUrl": "https://mei:s3cr3t@index.example.org"},
    ],
)
def test_an_entry_that_cannot_be_used_is_refused_with_its_file(tmp_path: Path, entry: object) -> None:
    file = write(tmp_path, entry)
    with pytest.raises(RefusedError) as caught:
        load_mirrors(tmp_path, tmp_path)
    for language in LANGUAGES:
        said = " ".join(error_texts(caught.value, language))
        assert str(file) in said
        assert "s3cr3t" not in said


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("{", "AML_SETTINGS_UNREADABLE"),
        ("[]", "AML_SETTINGS_UNREADABLE"),
        ("{}", "AML_SETTING_INVALID"),
        ('{"mirrors": 5}', "AML_SETTING_INVALID"),
        ('{"format": 99, "mirrors": []}', "AML_FORMAT_TOO_NEW"),
    ],
)
def test_a_file_that_is_no_list_of_mirrors_is_refused(tmp_path: Path, content: str, code: str) -> None:
    write(tmp_path).write_text(content)
    with pytest.raises(RefusedError, match=code):
        load_mirrors(tmp_path, tmp_path)
