"""Bringing a damaged lock back, also where that was cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from amlwizard.core.environment.marker import Marker, read_marker, write_marker
from amlwizard.core.lock import local_lock, lock_digest
from amlwizard.core.lock_recovery import can_recover_lock, recover_lock
from amlwizard.core.paths import Workspace
from amlwizard.core.wish import lost_lock

DIGEST = "0123456789ab"


class DeathError(BaseException):
    """The run ends here."""


def damaged_workspace(root: Path) -> Workspace:
    """A workspace whose lock was cut off."""
    workspace = Workspace(root)
    workspace.venv.mkdir(parents=True)
    workspace.runtime.mkdir()
    about = {"kind": "profile", "name": "default", "digest": DIGEST, "python": "3.11.7"}
    workspace.local_lock.write_text(local_lock([], [], lock=workspace.local_lock, about=about))
    workspace.lock.write_text('lock-version = "1.')
    write_marker(workspace.venv, Marker(DIGEST, str(root), "3.11.7", "0" * 64, "build"))
    return workspace


@pytest.mark.parametrize("done", [0, 1, 2])
def test_the_next_start_mends_what_a_death_left_at_each_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    workspace = damaged_workspace(tmp_path)
    left, replace = done, Path.replace

    def put_in_place(part: Path, target: Path) -> Path:
        nonlocal left
        if not left:
            raise DeathError
        left -= 1
        return replace(part, target)

    with monkeypatch.context() as dying:
        dying.setattr(Path, "replace", put_in_place)
        if done < 2:
            with pytest.raises(DeathError):
                recover_lock(workspace)
        else:
            recover_lock(workspace)
            assert not left  # all files that it writes were counted
    if lost_lock(workspace) is not None:  # as a repair asks
        assert can_recover_lock(workspace)
        recover_lock(workspace)
    marker = read_marker(workspace.venv)
    assert lost_lock(workspace) is None
    assert marker is not None
    assert marker.lock == lock_digest(workspace.lock.read_text())
