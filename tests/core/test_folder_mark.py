"""The mark by which a window sees that somebody else has changed a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.folder_mark import folder_mark
from amlwizard.core.journal import Action, Journal, clear_journal, write_journal
from amlwizard.core.paths import Workspace

if TYPE_CHECKING:
    from pathlib import Path


def test_the_mark_follows_the_marker_and_the_journal(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "ws")
    seen = [folder_mark(workspace)]
    assert seen == [()]
    assert not workspace.root.exists()
    workspace.venv.mkdir(parents=True)
    workspace.marker("a" * 64).write_text("{}")
    seen.append(folder_mark(workspace))
    assert folder_mark(workspace) == seen[-1]
    write_journal(workspace, Journal(Action.STAGE, "build", had_old=True))
    seen.append(folder_mark(workspace))
    clear_journal(workspace)
    assert folder_mark(workspace) == seen[1]
    workspace.marker("a" * 64).rename(workspace.marker("b" * 64))
    seen.append(folder_mark(workspace))
    assert len(set(seen)) == len(seen)
