"""Where a report may go."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amlwizard.core.diagnose.place import Place
from amlwizard.core.errors import RefusedError
from amlwizard.core.paths import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "aml")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refusal(out: Path, workspace: Workspace) -> str:
    with pytest.raises(RefusedError) as caught:
        Place(out, workspace)
    return caught.value.code


def test_is_empty_until_it_is_put(tmp_path: Path, workspace: Workspace) -> None:
    out = tmp_path / "report.zip"
    with Place(out, workspace) as place:
        assert not out.exists()
        place.put(b"content")
    assert out.read_bytes() == b"content"
    assert names(tmp_path) == ["report.zip"]
    if os.name != "nt":
        assert out.stat().st_mode & 0o077 == 0


def test_leaves_nothing_where_it_was_given_up(tmp_path: Path, workspace: Workspace) -> None:
    with pytest.raises(ValueError, match="given up"), Place(tmp_path / "report.zip", workspace):
        raise ValueError("given up")
    assert names(tmp_path) == []


def test_takes_the_place_of_nothing(tmp_path: Path, workspace: Workspace) -> None:
    out = tmp_path / "report.zip"
    out.write_bytes(b"mine")
    assert refusal(out, workspace) == "AML_DIAGNOSE_EXISTS"
    assert refusal(tmp_path, workspace) == "AML_DIAGNOSE_IS_FOLDER"
    assert refusal(out / "report.zip", workspace) == "AML_DIAGNOSE_NO_FOLDER"
    assert refusal(tmp_path / "absent" / "report.zip", workspace) == "AML_DIAGNOSE_NO_FOLDER"
    assert names(tmp_path) == ["report.zip"]
    assert out.read_bytes() == b"mine"


@pytest.mark.posix
def test_follows_no_link_that_waits_there(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "report.zip").symlink_to(tmp_path / "elsewhere")
    assert refusal(tmp_path / "report.zip", workspace) == "AML_DIAGNOSE_EXISTS"


def test_what_came_there_meanwhile_stays(tmp_path: Path, workspace: Workspace) -> None:
    out = tmp_path / "report.zip"
    with Place(out, workspace) as place:
        out.write_bytes(b"of another")
        with pytest.raises(RefusedError) as caught:
            place.put(b"content")
    assert caught.value.code == "AML_DIAGNOSE_EXISTS"
    assert out.read_bytes() == b"of another"
    assert names(tmp_path) == ["report.zip"]


@pytest.mark.linux
def test_a_name_or_a_file_system_that_takes_no_file_is_refused(tmp_path: Path, workspace: Workspace) -> None:
    assert refusal(tmp_path / ("x" * 300), workspace) == "AML_DIAGNOSE_NOT_WRITABLE"
    assert refusal(Path("/proc/self/report.zip"), workspace) == "AML_DIAGNOSE_NOT_WRITABLE"


@pytest.mark.parametrize("name", [".venv", "runtime/logs", "downloads"])
def test_not_among_our_own_files(workspace: Workspace, name: str) -> None:
    (workspace.root / name).mkdir(parents=True)
    assert refusal(workspace.root / name / "report.zip", workspace) == "AML_DIAGNOSE_INSIDE"


def test_the_users_own_folders_in_the_workspace_will_do(workspace: Workspace) -> None:
    (workspace.root / "notebooks").mkdir(parents=True)
    with Place(workspace.root / "notebooks" / "report.zip", workspace):
        pass


@pytest.mark.posix
def test_a_workspace_among_links_in_a_circle_is_in_no_ones_way(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    with Place(tmp_path / "report.zip", Workspace(tmp_path / "one")):
        pass
