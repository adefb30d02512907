"""What of an environment came from the user's own hand, and which requirements keep it."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.environment.by_hand import ByHand, find_by_hand, wanted_by_user
from amlwizard.core.lock import StoredWheel, local_lock
from amlwizard.core.paths import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace whose lock has ``locked`` 1.0 and an environment that holds it."""
    workspace = Workspace(tmp_path / "aml")
    lock = workspace.local_lock
    lock.parent.mkdir(parents=True)
    wheel = StoredWheel("locked", "1.0", workspace.downloads / "locked-1.0-py3-none-any.whl", 1, "0" * 64)
    lock.write_text(local_lock([wheel], [], lock=lock), encoding="utf-8")
    install(workspace, "locked", "1.0")
    return workspace


def site(workspace: Workspace) -> Path:
    """The folder of the packages."""
    return workspace.venv / ("Lib/site-packages" if os.name == "nt" else "lib/python3.11/site-packages")


def install(
    workspace: Workspace,
    name: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    installer: str = "pip",
    requested: bool = False,
    origin: dict[str, Any] | str | None = None,
) -> Path:
    """Write the metadata that an installer leaves."""
    folder = site(workspace) / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    lines = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}", encoding="utf-8")
    (folder / "INSTALLER").write_text(f"{installer}\n", encoding="utf-8")
    if requested:
        (folder / "REQUESTED").touch()
    if origin is not None:
        (folder / "direct_url.json").write_text(origin if isinstance(origin, str) else json.dumps(origin), encoding="utf-8")
    return folder


def kept(workspace: Workspace) -> list[str]:
    """The requirements that keep what was added."""
    return [package.requirement for package in wanted_by_user(find_by_hand(workspace))]


def test_what_the_lock_has_and_what_every_environment_has_was_not_added(workspace: Workspace) -> None:
    install(workspace, "pip", "25.0", requested=True)
    install(workspace, "setuptools", "80.0")
    assert find_by_hand(workspace) == ()


def test_an_environment_of_which_nothing_is_known_holds_no_additions(workspace: Workspace) -> None:
    install(workspace, "new", "2.0")
    workspace.local_lock.unlink()
    assert find_by_hand(workspace) == ()


def test_the_lock_with_addresses_tells_it_as_well(workspace: Workspace) -> None:
    workspace.local_lock.rename(workspace.lock)
    install(workspace, "new", "2.0")
    assert kept(workspace) == ["new"]


def test_a_missing_environment_holds_no_additions(workspace: Workspace) -> None:
    shutil.rmtree(workspace.venv)
    assert find_by_hand(workspace) == ()


def test_a_new_package_is_kept_by_its_name_and_a_changed_version_as_it_is(workspace: Workspace) -> None:
    shutil.rmtree(site(workspace) / "locked-1.0.dist-info")
    install(workspace, "locked", "2.0rc1", requested=True)
    install(workspace, "New_Package", "2.0", requested=True)
    found = find_by_hand(workspace)
    assert [(package.name, package.version, package.locked) for package in found] == [
        ("locked", "2.0rc1", "1.0"),
        ("new-package", "2.0", None),
    ]
    assert kept(workspace) == ["locked==2.0rc1", "new-package"]


def test_another_spelling_of_the_version_is_no_change(workspace: Workspace) -> None:
    shutil.rmtree(site(workspace) / "locked-1.0.dist-info")
    install(workspace, "locked", "1.0.0")
    assert find_by_hand(workspace) == ()


def test_two_copies_of_a_locked_package_are_damage_and_no_addition(workspace: Workspace) -> None:
    install(workspace, "locked", "2.0")
    assert find_by_hand(workspace) == ()


def test_dependencies_follow_unless_they_were_asked_for(workspace: Workspace) -> None:
    install(workspace, "top", "1.0", requested=True, requires=["follows", "asked>1", 'other; extra == "more"'])
    install(workspace, "follows", "1.0", requires=["deep"])
    install(workspace, "deep", "1.0")
    install(workspace, "asked", "2.0", requested=True)
    install(workspace, "other", "1.0")  # by an extra, which no metadata tells
    assert kept(workspace) == ["asked", "other", "top"]


def test_uv_notes_everything_as_asked_for_so_that_only_the_top_counts(workspace: Workspace) -> None:
    install(workspace, "top", "1.0", installer="uv", requested=True, requires=["follows"])
    install(workspace, "follows", "1.0", installer="uv", requested=True)
    assert kept(workspace) == ["top"]


def test_packages_that_need_each_other_are_not_lost(workspace: Workspace) -> None:
    install(workspace, "one", "1.0", requires=["two"])
    install(workspace, "two", "1.0", requires=["one", "three"])
    install(workspace, "three", "1.0")
    assert kept(workspace) == ["one"]


def test_an_environment_without_its_marker_still_tells_its_additions(workspace: Workspace) -> None:
    (workspace.venv / "pyvenv.cfg").write_text("version_info = 3.11.7.final.0\n", encoding="utf-8")
    install(workspace, "top", "1.0", requires=['follows; python_version >= "3"'])
    install(workspace, "follows", "1.0")
    assert kept(workspace) == ["top"]


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        ({"url": "file:///home/me/my%20code", "dir_info": {"editable": True}}, "-e file:///home/me/my%20code"),
        ({"url": "file:///home/me/code", "dir_info": {}}, "new @ file:///home/me/code"),
        (
            {"url": "file:///home/me/new-1.0-py3-none-any.whl", "archive_info": {}},
            "new @ ../downloads/new-1.0-py3-none-any.whl",
        ),
        ({"url": "file:///home/me/new-1.0.tar.gz", "archive_info": {}}, "new @ file:///home/me/new-1.0.tar.gz"),
        (
            {"url": "https://user:secret@files.example.org/new.zip", "archive_info": {}, "subdirectory": "python"},
            "new @ https://files.example.org/new.zip#subdirectory=python",
        ),
        (
            {
                "url": "https://git.example.org/new",
                "vcs_info": {"vcs": "git", "commit_id": "abc", "requested_revision": "main"},
            },
            "new @ git+https://git.example.org/new@abc",
        ),
        (
            {"url": "file:///home/me/repo", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "new @ git+file:///home/me/repo@abc",
        ),
        ({"url": 5}, "new"),
        ("no json", "new"),
        ("[]", "new"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="the addresses are those of other systems")
def test_where_it_came_from_is_kept_as_well(workspace: Workspace, origin: dict[str, Any] | str, line: str) -> None:
    install(workspace, "new", "1.0", requested=True, origin=origin)
    assert kept(workspace) == [line]


@pytest.mark.parametrize("info", [{"hashes": {"sha256": "ab"}}, {"hash": "sha256=ab"}])
def test_the_hash_that_the_installer_noted_is_known(info: dict[str, Any]) -> None:
    origin = {"url": "file:///home/me/new-1.0-py3-none-any.whl", "archive_info": info}
    assert ByHand("new", "1.0", None, asked=True, requires=frozenset(), origin=origin).sha256 == "ab"


@pytest.mark.parametrize("origin", [{"url": "https://[::1/x.whl"}, {"url": "file://[x/y.whl"}, {"url": 5}, [], 5, {}])
def test_an_address_that_is_none_counts_as_none(workspace: Workspace, origin: object) -> None:
    install(workspace, "new", "2.0", requested=True)
    (site(workspace) / "new-2.0.dist-info" / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    assert kept(workspace) == ["new"]


def test_what_needs_nothing_that_can_be_understood_needs_nothing(workspace: Workspace) -> None:
    install(workspace, "top", "1.0", requested=True, requires=["other; os_name ~= 'x'", "other[", "follows"])
    install(workspace, "follows", "1.0")
    assert kept(workspace) == ["top"]
