"""Uninstalling: what the receipt lists goes, everything else stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.opening.jupyter import JupyterState
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_use
from amlwizard.window_opening import WindowOpening
from tests.support.fake_labapp import put_jupyterlab_into
from tests.support.processes import is_alive
from tests.support.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e


@pytest.fixture
def installed(older: Computer) -> Computer:
    """The computer of most of these tests."""
    return older


def listing(folder: Path) -> list[str]:
    """Everything in a folder, by relative path."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_nothing_is_left_of_a_workspace_that_the_user_put_nothing_into(computer: Computer) -> None:
    computer.extra["AML_ROOT"] = str(computer.folder / "new" / "folders" / "aml")
    requirements = computer.requirements("tinya\n")
    before = listing(computer.folder)
    assert computer.run("install", "--requirements", requirements).code == 0
    result = computer.run("uninstall")
    assert result.code == 0, result.finished
    assert result.finished["state"] == "done"
    assert result.finished["code"] == "AML_UNINSTALLED"
    assert result.states() == {"uninstall": "done"}
    *_, last = [event for event in result.events if event.get("state") == "progress"]
    assert last["unit"] == "files"
    assert last["done"] == last["total"] > 20
    assert [path for path in listing(computer.folder) if path not in before and path != "home"] == []


def test_everything_that_an_installation_creates_is_listed(installed: Computer) -> None:
    listed = json.loads((installed.root / "runtime" / "receipt.json").read_text())["created"]
    assert {entry.name for entry in installed.root.iterdir()} <= set(listed)
    assert "." in listed


def test_a_jupyterlab_that_runs_is_stopped_and_its_notebook_stays(
    installed: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "true")
    workspace, opening = Workspace(installed.root), WindowOpening(os.environ)
    put_jupyterlab_into(workspace)
    opening.start_jupyter(installed.root, "en")
    wait_for(lambda: opening.jupyter(installed.root) is JupyterState.RUNNING)
    (note,) = workspace.jupyter.glob("jpserver-*.json")
    told = json.loads(note.read_text(encoding="utf-8"))
    result = installed.run("uninstall")
    assert (result.code, result.finished["code"]) == (0, "AML_UNINSTALLED")
    assert "JupyterLab" in "".join(event["line"] for event in result.events if event["event"] == "log")
    assert opening.jupyter(installed.root) is JupyterState.STOPPED
    assert not is_alive(told["kernel"])
    assert listing(installed.root) == ["notebooks", "notebooks/Start here.ipynb"]


def test_what_is_the_users_stays_and_is_named(installed: Computer) -> None:
    root = installed.root
    (root / "models" / "best.bin").write_text("weights")
    (root / "mine").mkdir()
    (root / "mine" / "keep.txt").write_text("keep")
    (root / "note.txt").write_text("note")
    result = installed.run("uninstall")
    assert result.code == 0, result.finished
    assert listing(root) == ["mine", "mine/keep.txt", "models", "models/best.bin", "note.txt"]
    for name in ("mine", "models", "note.txt"):
        assert str(root / name) in result.finished["detail"]
    again = installed.run("uninstall")
    assert again.code == 2
    assert again.finished["code"] == "AML_NOTHING_TO_UNINSTALL"


def test_folders_that_were_there_before_stay(computer: Computer) -> None:
    (computer.root / "cache").mkdir(parents=True)
    (computer.root / "cache" / "theirs").write_text("theirs")
    (computer.root / "models").mkdir()
    assert computer.run("install", "--requirements", computer.requirements("tinya\n")).code == 0
    assert computer.run("uninstall").code == 0
    assert (computer.root / "cache" / "theirs").read_text() == "theirs"
    assert sorted(entry.name for entry in computer.root.iterdir()) == ["cache", "models"]


def test_an_empty_folder_that_was_there_before_stays_as_it_was(computer: Computer) -> None:
    computer.root.mkdir()
    assert computer.run("install", "--requirements", computer.requirements("tinya\n")).code == 0
    assert computer.run("uninstall").code == 0
    assert list(computer.root.iterdir()) == []


@pytest.mark.posix
def test_b65_links_are_never_followed(installed: Computer) -> None:
    real = installed.folder / "real"
    places = [installed.root / name for name in (".venv", "downloads", "cache", "models")]
    for place in places:
        target = real / place.name
        target.mkdir(parents=True)
        (target / "keep.txt").write_text("precious")
        place.rename(installed.folder / f"aside{place.name}")
        place.symlink_to(target)
    result = installed.run("uninstall")
    assert result.code == 0, result.finished
    for place in places:
        assert (real / place.name / "keep.txt").read_text() == "precious"
        assert place.is_symlink()
        assert str(place) in result.finished["detail"]


def test_a_receipt_cannot_lead_elsewhere(installed: Computer) -> None:
    outside = installed.folder / "outside"
    outside.mkdir()
    precious = [outside / "keep.txt", installed.root / "models" / "best.bin", installed.root / "notebooks" / "a.ipynb"]
    for file in precious:
        file.write_text("precious")
    receipt = installed.root / "runtime" / "receipt.json"
    content = json.loads(receipt.read_text())
    for name in ("../outside", str(outside), "models/best.bin", "notebooks", "tools/../notebooks"):
        content["created"][name] = {"kind": "environment", "created": "2026-01-01T00:00:00Z"}
    receipt.write_text(json.dumps(content))
    assert installed.run("uninstall").code == 0
    assert [file.read_text() for file in precious] == ["precious"] * 3


def test_a_job_in_the_way_is_named_and_nothing_is_removed(installed: Computer) -> None:
    before = listing(installed.root / ".venv")
    with hold_use(Workspace(installed.root), "run train.py"):
        result = installed.run("uninstall")
    assert result.code == 4
    assert result.finished["state"] == "busy"
    assert "run train.py" in result.finished["message"]
    assert str(os.getpid()) in result.finished["message"]
    assert listing(installed.root / ".venv") == before


def test_without_a_workspace_nothing_is_created(computer: Computer) -> None:
    result = computer.run("uninstall")
    assert result.code == 2
    assert result.finished["code"] == "AML_NOTHING_TO_UNINSTALL"
    assert not computer.root.exists()


KILLED = """
import os, signal, sys, threading
from pathlib import Path
from amlwizard.core import uninstall
from amlwizard.core.environment import removal
from amlwizard.core.paths import Workspace

def strike(original, matches):
    def remove(*arguments):
        if matches(*arguments):
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments)
    return remove

name = sys.argv[2]
uninstall._remove = strike(uninstall._remove, lambda workspace, path, *rest: name in {path.name, path.parent.name})
removal.remove_tree = strike(removal.remove_tree, lambda path, *rest: path.name == name)
workspace = Workspace(Path(sys.argv[1]))
removed = uninstall.Removal()
uninstall.remove_listed(workspace, removed, threading.Event())
uninstall.remove_records(workspace, removed)
"""


@pytest.mark.posix
@pytest.mark.parametrize("at", ["downloads", "site-packages", "logs"])
def test_an_interrupted_uninstallation_is_finished_by_the_next(installed: Computer, at: str) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(installed.root), at], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    if at == "site-packages":  # half of it is gone
        assert installed.run("detect").events[0]["environment"]["state"] == "damaged"
    assert (installed.root / "runtime" / "receipt.json").is_file()
    result = installed.run("uninstall")
    assert result.code == 0, result.finished
    assert not installed.root.exists()
