"""What comes from elsewhere than the organisation's index, seen from the additions of a wish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.errors import RefusedError
from amlwizard.core.locked_sources import refuse_other_sources
from amlwizard.core.organisation import Organisation
from amlwizard.core.requirements import parse_closure
from amlwizard.core.wish import Wish

if TYPE_CHECKING:
    from pathlib import Path


def judge(folder: Path, *, added: tuple[str, ...] = (), wanted: str = "tinyb\n") -> None:
    file = folder / "requirements.txt"
    file.write_text(wanted)
    wish = Wish("file", str(file), parse_closure(file, {}), folder, added=added)
    choices = Choices(folder / "aml", index_url="https://index.example.org/simple")
    refuse_other_sources(wish, choices, Organisation(folder / "settings.json", frozenset({"indexUrl"})))


def test_an_addition_with_an_address_is_refused_by_its_line(tmp_path: Path) -> None:
    line = "tinya @ https://files.example.org/tinya-1.0-py3-none-any.whl"
    with pytest.raises(RefusedError) as caught:
        judge(tmp_path, added=(line,))
    assert (caught.value.code, caught.value.arguments["place"]) == ("AML_SETTING_LOCKED", line)
    judge(tmp_path, added=("tinya>=1", "tinya @ https://index.example.org/files/tinya-1.0-py3-none-any.whl", "-e /srv/x"))


@pytest.mark.parametrize("line", ["git+https://git.example.org/x", "x @ git+ssh://git@git.example.org/x"])
def test_a_repository_elsewhere_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(RefusedError) as caught:
        judge(tmp_path, wanted=f"{line}\n")
    assert caught.value.arguments["name"] == "indexUrl"


def test_what_lies_on_this_computer_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    judge(tmp_path, wanted=f"-e ./project\ny @ {(tmp_path / 'project').as_uri()}\n")
