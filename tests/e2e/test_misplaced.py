"""What lies in a place of ours and is of another type: named, refused or set aside, and never a fault of our own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.opening.jupyter import LAUNCHER
from amlwizard.core.opening.servers import place_launcher
from amlwizard.core.opening.terminals import SCRIPT
from amlwizard.core.paths import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Computer, Result, Stock

pytestmark = pytest.mark.e2e

WHEEL = "tinyb-1.0-py3-none-any.whl"
HERE = Workspace(Path())
"""Paths in it are relative to that of the test."""
FILES = (
    *HERE.record_files,
    *(HERE.downloads / WHEEL, HERE.downloads / f"{WHEEL}.part", HERE.kit / "amlkit.py", HERE.jupyter / LAUNCHER),
    *(HERE.terminal / SCRIPT, HERE.uv, HERE.lock.with_name(f"{HERE.lock.name}.part"), HERE.venv / "marker"),
)
FOLDERS = (*HERE.record_folders, HERE.built, HERE.unchecked, HERE.staged, HERE.aside)
WHOLE = (HERE.runtime, HERE.tools, HERE.interpreters, HERE.downloads, HERE.cache, HERE.set_aside)
MINE = "mine"


@pytest.fixture
def used(stock: Stock) -> Iterator[Computer]:
    """A computer on which a second lock took the place of a first, and JupyterLab was opened."""

    def make(computer: Computer) -> None:
        computer.install("tinya==1.0\n")
        computer.install("tinyb\n")
        place_launcher(Workspace(computer.root))

    with stock.lend("used", make) as computer:
        yield computer


def misplace(computer: Computer, place: Path) -> Path:
    """Put something of the other type into a place; return where what is the user's lies then."""
    path = computer.root / place
    if place == HERE.venv / "marker":
        (path,) = path.parent.glob(".aml-ok-*")
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    mine = path
    if place in FILES:
        path.mkdir(parents=True)
        mine = path / "mine.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text(MINE)
    return mine


def told(result: Result) -> str:
    """Return all that a command said."""
    return str(result.events)


@pytest.mark.parametrize("place", [*FILES, *FOLDERS], ids=str)
def test_a_thing_of_another_type_is_named_refused_and_set_aside(used: Computer, place: Path) -> None:
    mine = misplace(used, place)
    path = mine.parent if place in FILES else mine
    verified = used.run("verify")
    assert verified.code in {0, 3}
    assert str(path) in told(verified) or verified.finished["code"] == "AML_NOT_READY"
    rebuilt = used.run("rebuild", "--offline")
    assert rebuilt.code == 2, rebuilt.finished
    assert str(path) in rebuilt.finished["message"]
    assert used.installed("tinyb") == "1.0"
    assert mine.read_text() == MINE
    repaired = used.run("repair")
    assert (repaired.code, repaired.finished["code"]) in {(0, "AML_REPAIRED"), (0, "AML_READY")}, repaired.finished
    (kept,) = (used.root / "set-aside").glob(f"*/{mine.relative_to(used.root)}")
    assert kept.read_text() == MINE
    assert str(path) not in told(used.run("verify"))


def test_all_of_it_at_once_is_set_aside_and_nothing_is_wrong_after_that(used: Computer) -> None:
    # in these lie others, or others are brought back from them; without its marker an environment is built anew
    kept_apart = {HERE.kit, HERE.jupyter, HERE.terminal, HERE.local_lock, HERE.uv_record, HERE.downloads / WHEEL}
    mines = [misplace(used, place) for place in (*FILES, *FOLDERS) if place not in kept_apart]
    repaired = used.run("repair", "--offline")
    assert (repaired.code, repaired.finished["code"]) == (0, "AML_READY"), repaired.finished
    again = used.run("repair", "--offline")
    assert again.finished["code"] == "AML_NOTHING_TO_REPAIR"
    rebuilt = used.run("rebuild", "--offline")
    assert rebuilt.code == 0, rebuilt.finished
    assert (used.root / "runtime" / "kit" / "amlkit.py").is_file()
    assert not list((used.root / "downloads").glob("*.part"))
    assert used.run("uninstall").code == 0
    assert not (used.root / ".venv").exists()
    for mine in mines:
        assert len(list((used.root / "set-aside").glob(f"*/{mine.relative_to(used.root)}"))) == 1


def test_an_uninstallation_leaves_what_is_not_ours_whatever_it_is_called(used: Computer) -> None:
    inside = {HERE.kit, HERE.jupyter, HERE.terminal, HERE.venv}  # those go as a whole
    refusing = {HERE.receipt, HERE.lock_file, HERE.use_lock_file}
    places = [place for place in (*FILES, *FOLDERS) if place.parent not in inside and place not in refusing]
    mines = [misplace(used, place) for place in (*places, HERE.cache, HERE.set_aside)]
    result = used.run("uninstall")
    assert (result.code, result.finished["code"]) == (0, "AML_UNINSTALLED"), result.finished
    assert [mine for mine in mines if mine.read_text() != MINE] == []
    for mine in mines:
        assert str(mine.relative_to(used.root).parts[0]) in told(result)
    assert not (used.root / ".venv").exists()


@pytest.mark.parametrize("place", [*WHOLE, HERE.receipt, HERE.lock_file, HERE.use_lock_file], ids=str)
def test_no_command_takes_it_for_a_fault_of_its_own(used: Computer, place: Path) -> None:
    mine = misplace(used, place)
    for command in (["verify"], ["rebuild", "--offline"], ["undo", "--offline"], ["store", "--prune"], ["uninstall"]):
        result = used.run(*command)
        assert result.finished["code"] not in {"AML_INTERNAL", "AML_CANNOT_WRITE"}, command
        assert mine.read_text() == MINE
    assert used.run("repair", "--offline").finished["code"] not in {"AML_INTERNAL", "AML_CANNOT_WRITE"}
