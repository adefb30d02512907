from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.environment import commit, exchange
from amlwizard.core.environment.marker import Marker, read_marker
from amlwizard.core.errors import RefusedError
from amlwizard.core.journal import Action, Journal, read_journal, write_journal
from amlwizard.core.paths import Workspace
from tests.core.environment.support import make_fake_environment

if TYPE_CHECKING:
    from pathlib import Path

KILLED_COMMIT = """
import os, signal, sys
from pathlib import Path
from amlwizard.core.environment import commit, exchange
from amlwizard.core.environment.marker import Marker
from amlwizard.core.paths import Workspace

root, point, atomic = sys.argv[1:]
if atomic == "no":
    exchange.exchange = lambda first, second: False
workspace = Workspace(Path(root))

def die_there(reached):
    if reached == point:
        os.kill(os.getpid(), signal.SIGKILL)

marker = Marker("0" * 12, root, "3.11.7", "a" * 64, "new")
commit.commit_staged(workspace, marker, die_there)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "work space")


def content(workspace: Workspace) -> str:
    return (workspace.venv / "content").read_text()


def new_marker(workspace: Workspace) -> Marker:
    return Marker("0" * 12, str(workspace.root), "3.11.7", "a" * 64, "new")


@pytest.mark.parametrize("atomic", [True, False])
def test_a_commit_exchanges_and_then_removes_the_old_one(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, atomic: bool
) -> None:
    if not atomic:
        monkeypatch.setattr(exchange, "exchange", lambda first, second: False)
    make_fake_environment(workspace.venv, "old", workspace, "old")
    make_fake_environment(workspace.staged, "new", workspace)
    commit.commit_staged(workspace, new_marker(workspace))
    assert content(workspace) == "new"
    assert commit.remove_old(workspace)
    assert not workspace.aside.exists()
    assert not workspace.staged.exists()
    assert read_journal(workspace) is None


def test_a_first_commit_needs_no_old_environment(workspace: Workspace) -> None:
    make_fake_environment(workspace.staged, "new", workspace)
    commit.commit_staged(workspace, new_marker(workspace))
    assert content(workspace) == "new"
    assert read_journal(workspace) is None


@pytest.mark.posix
@pytest.mark.parametrize("had_old", [True, False])
@pytest.mark.parametrize(
    ("atomic", "point"),
    [
        ("yes", "marked"),
        ("yes", "journal"),
        ("yes", "exchanged"),
        ("yes", "placed"),
        ("no", "marked"),
        ("no", "journal"),
        ("no", "gap"),
        ("no", "placed"),
    ],
)
def test_a_commit_killed_anywhere_leaves_old_or_new(workspace: Workspace, atomic: str, point: str, had_old: bool) -> None:
    if had_old:
        make_fake_environment(workspace.venv, "old", workspace, "old")
    make_fake_environment(workspace.staged, "new", workspace)
    write_journal(workspace, Journal(Action.STAGE, "new", had_old))
    child = subprocess.run([sys.executable, "-c", KILLED_COMMIT, str(workspace.root), point, atomic], timeout=60)
    reached = had_old or point not in ("exchanged", "gap")
    assert child.returncode == (-signal.SIGKILL if reached else 0)
    if had_old and atomic == "yes":
        assert content(workspace) in ("old", "new")
    commit.recover(workspace)
    if point == "marked":
        assert workspace.venv.exists() == had_old
        assert not had_old or content(workspace) == "old"
    else:
        assert content(workspace) == "new"
        marker = read_marker(workspace.venv)
        assert marker is not None
        assert marker.build == "new"
    assert not workspace.staged.exists()
    assert not workspace.aside.exists()
    assert read_journal(workspace) is None
    assert commit.recover(workspace) is None


def test_an_in_place_build_is_undone_to_the_old_environment(workspace: Workspace) -> None:
    make_fake_environment(workspace.venv, "old", workspace, "old")
    commit.begin_in_place(workspace)
    assert not workspace.venv.exists()
    make_fake_environment(workspace.venv, "half", workspace)
    assert commit.recover(workspace) == "recover.old_restored"
    assert content(workspace) == "old"
    assert not workspace.aside.exists()


def test_an_in_place_build_interrupted_before_the_rename_keeps_the_old_one(workspace: Workspace) -> None:
    make_fake_environment(workspace.venv, "old", workspace, "old")
    write_journal(workspace, Journal(Action.IN_PLACE, "new", had_old=True))
    commit.recover(workspace)
    assert content(workspace) == "old"


def test_an_in_place_build_that_was_marked_is_kept(workspace: Workspace) -> None:
    make_fake_environment(workspace.venv, "old", workspace, "old")
    journal = commit.begin_in_place(workspace)
    make_fake_environment(workspace.venv, "new", workspace)
    marker = Marker("0" * 12, str(workspace.root), "3.11.7", "a" * 64, journal.build)
    commit.commit_in_place(workspace, marker)
    assert commit.recover(workspace) == "recover.finished"
    assert content(workspace) == "new"
    assert not workspace.aside.exists()


def test_an_old_environment_aside_comes_back_although_the_journal_is_gone(workspace: Workspace) -> None:
    make_fake_environment(workspace.aside, "old", workspace, "old")
    assert commit.recover(workspace) == "recover.old_restored"
    assert content(workspace) == "old"


@pytest.mark.posix
def test_a_link_at_the_environments_place_is_refused_and_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "keep.txt").write_text("keep")
    make_fake_environment(workspace.staged, "new", workspace)
    workspace.venv.symlink_to(precious)
    with pytest.raises(RefusedError) as caught:
        commit.commit_staged(workspace, new_marker(workspace))
    assert caught.value.code == "AML_VENV_LINK"
    assert (precious / "keep.txt").read_text() == "keep"
    assert workspace.venv.is_symlink()


def test_a_foreign_folder_is_refused(workspace: Workspace) -> None:
    workspace.venv.mkdir(parents=True)
    (workspace.venv / "keep.txt").write_text("keep")
    with pytest.raises(RefusedError) as caught:
        commit.begin_stage(workspace)
    assert caught.value.code == "AML_VENV_FOREIGN"
    assert (workspace.venv / "keep.txt").read_text() == "keep"


@pytest.mark.posix
def test_write_protected_folders_are_removed_and_links_in_them_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep.txt").write_text("keep")
    make_fake_environment(workspace.aside, "old", workspace, "old")
    inner = workspace.aside / "inner"
    inner.mkdir()
    (inner / "file").write_text("x")
    (inner / "link").symlink_to(outside)
    inner.chmod(0o555)
    assert commit.remove_old(workspace)
    assert not workspace.aside.exists()
    assert (outside / "keep.txt").read_text() == "keep"


@pytest.mark.parametrize("action", [Action.STAGE, Action.IN_PLACE, Action.COMMIT])
def test_no_environment_is_spoken_of_where_there_never_was_one(workspace: Workspace, action: Action) -> None:
    write_journal(workspace, Journal(action, "new", had_old=False))
    assert commit.recover(workspace) == "recover.first_removed"
    assert read_journal(workspace) is None


def test_the_environment_beside_an_interrupted_build_is_spoken_of(workspace: Workspace) -> None:
    make_fake_environment(workspace.venv, "old", workspace, "old")
    write_journal(workspace, Journal(Action.STAGE, "new", had_old=True))
    assert commit.recover(workspace) == "recover.stage_removed"
