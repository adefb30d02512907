"""How much a run has written so far."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from amlwizard.core.paths import Workspace
from amlwizard.core.written import written_bytes

if TYPE_CHECKING:
    from pathlib import Path


def test_what_runs_write_counts_and_a_link_to_it_does_not_count_again(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "aml")
    assert written_bytes(workspace) == 0
    cached = workspace.cache / "archive" / "module.py"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(bytes(1000))
    workspace.staged.mkdir()
    os.link(cached, workspace.staged / "module.py")
    (workspace.staged / "link").symlink_to("/")
    assert written_bytes(workspace) == 1000
    (workspace.staged / "more").write_bytes(bytes(500))
    (workspace.root / "datasets").mkdir()
    (workspace.root / "datasets" / "data").write_bytes(bytes(9000))
    assert written_bytes(workspace) == 1500
