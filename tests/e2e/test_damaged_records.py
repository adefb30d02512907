"""Damaged records of a workspace: they are named, brought back, and never lead to another environment."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.paths import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result

pytestmark = pytest.mark.e2e


def _replaced(lock: Path) -> None:
    lock.write_text("junk")


def _cut_short(lock: Path) -> None:
    lock.write_bytes(lock.read_bytes()[:-40])


def _no_lock(lock: Path) -> None:
    lock.write_text(lock.read_text().replace('lock-version = "1.0"', 'lock-version = ""'))


def _removed(lock: Path) -> None:
    lock.unlink()


def remarks(result: Result) -> str:
    return "\n".join(event["line"] for event in result.events if event["event"] == "log")


@pytest.mark.parametrize("damage", [_replaced, _cut_short, _no_lock, _removed])
def test_a_damaged_lock_is_named_and_never_leads_to_another_environment(
    older: Computer, damage: Callable[[Path], None]
) -> None:
    workspace = Workspace(older.root)
    assert older.run("add", "tinyb").code == 0
    before = workspace.lock.read_text()
    damage(workspace.lock)
    told = older.run("detect").events[0]["environment"]
    assert (told["state"], told["action"]) == ("damaged", "repair")
    assert str(workspace.lock) in told["reason"]
    verified = older.run("verify")
    assert (verified.code, verified.finished["code"]) == (3, "AML_LOCK_DAMAGED")
    assert verified.finished["environment"]["state"] == "damaged"
    commands = (["rebuild"], ["rebuild", "--refresh"], ["add", "tinyc"], ["remove", "tinyb"], ["undo"])
    refused = [older.run(*command) for command in commands]
    if damage is not _no_lock:  # its notes are whole there: nothing is wanted but what is installed
        refused += [older.run("install"), older.run("plan")]
    for result in refused:
        assert (result.code, result.finished["code"]) == (2, "AML_LOCK_DAMAGED")
    assert older.installed("tinyb") == "1.0"

    older.index.close()
    result = older.run("repair")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert str(workspace.lock) in remarks(result)
    assert [older.installed(name) for name in ("tinya", "tinyb")] == ["1.0", "1.0"]
    assert older.run("verify").finished["code"] == "AML_VERIFIED"
    assert older.run("install").finished["code"] == "AML_ALREADY_READY"
    assert older.run("rebuild", "--offline").code == 0
    assert older.run("remove", "tinyb", "--offline").code == 0
    assert 'name = "tinyb"' in before
    assert 'name = "tinyb"' not in workspace.lock.read_text()


def _both_replaced(workspace: Workspace) -> None:
    for lock in (workspace.lock, workspace.local_lock):
        lock.write_text("junk")


def _both_removed(workspace: Workspace) -> None:
    for lock in (workspace.lock, workspace.local_lock):
        lock.unlink()


def _no_records(workspace: Workspace) -> None:
    shutil.rmtree(workspace.runtime)


@pytest.mark.parametrize("damage", [_both_replaced, _both_removed, _no_records])
def test_a_lock_that_nothing_brings_back_is_asked_for_from_the_first_word(
    older: Computer, damage: Callable[[Workspace], None]
) -> None:
    workspace = Workspace(older.root)
    damage(workspace)
    told = older.run("detect").events[0]["environment"]
    assert (told["state"], told["action"]) == ("damaged", "rebuild")
    for command, code in (("verify", 3), ("install", 2), ("repair", 2), ("rebuild", 2)):
        result = older.run(command)
        assert (result.code, result.finished["code"]) == (code, "AML_LOCK_LOST"), command
        assert result.finished["environment"]["action"] == "rebuild", command
    assert older.installed("tinya") == "1.0"
    rebuilt = older.run("rebuild", "--requirements", older.requirements("tinya==1.0\n"))  # as the hint says
    assert (rebuilt.code, rebuilt.finished["code"]) == (0, "AML_READY"), rebuilt.finished
    assert older.run("verify").finished["code"] == "AML_VERIFIED"


def test_a_lock_that_nothing_brings_back_is_made_anew_by_an_installation(older: Computer) -> None:
    _both_replaced(Workspace(older.root))
    older.install("tinya==2.0\n")
    assert older.installed("tinya") == "2.0"
    assert older.run("verify").finished["code"] == "AML_VERIFIED"


def test_an_environment_that_is_gone_with_its_lock_is_built_from_what_tells_the_same(older: Computer) -> None:
    workspace = Workspace(older.root)
    workspace.lock.write_text("junk")
    workspace.venv.rename(older.folder / "elsewhere")
    assert older.run("install").finished["code"] == "AML_LOCK_DAMAGED"
    assert older.run("repair", "--offline").code == 0
    assert older.installed("tinya") == "1.0"

    for file in (workspace.lock, workspace.local_lock):
        file.write_text("junk")
    workspace.venv.rename(older.folder / "elsewhere too")
    assert older.run("repair").finished["code"] == "AML_LOCK_LOST"


def test_a_damaged_lock_of_before_is_called_that(older: Computer) -> None:
    previous = Workspace(older.root).previous_lock
    assert older.run("add", "tinyb").code == 0
    previous.write_text("junk")
    undone = older.run("undo")
    assert (undone.code, undone.finished["code"]) == (2, "AML_PREVIOUS_LOCK_DAMAGED")
    for command in ("verify", "repair"):
        result = older.run(command)
        assert result.code == 0
        assert str(previous) in remarks(result), command
    assert older.run("remove", "tinyb").code == 0
    assert older.run("undo").code == 0
    assert older.installed("tinyb") == "1.0"


def test_a_damaged_receipt_is_named_written_anew_and_uninstalled_by(older: Computer) -> None:
    workspace = Workspace(older.root)
    mine = workspace.downloads / "mine.whl"
    mine.write_text("mine")
    workspace.receipt.write_text("junk")
    refused = older.run("uninstall")
    assert (refused.code, refused.finished["code"]) == (2, "AML_RECEIPT_DAMAGED")
    for command in ("verify", "store"):
        result = older.run(command)
        assert result.code == 0
        assert str(workspace.receipt) in remarks(result), command
        assert workspace.receipt.read_text() == "junk"
    repaired = older.run("repair")
    assert (repaired.code, repaired.finished["code"]) == (0, "AML_REPAIRED")
    assert str(workspace.receipt) in remarks(repaired)
    assert older.run("repair").finished["code"] == "AML_NOTHING_TO_REPAIR"
    assert older.run("uninstall").code == 0
    left = {path for path in older.root.rglob("*") if path.parent == older.root and path not in workspace.user_folders}
    assert left == {workspace.downloads}
    assert list(workspace.downloads.iterdir()) == [mine]
