"""Links inside the environment that lead out of it: nothing is written or removed where they lead."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_repair import assert_mended, site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer

pytestmark = [pytest.mark.e2e, pytest.mark.posix]


def put_elsewhere(computer: Computer, place: Path) -> Path:
    """Let a link take the place of a folder, and let that lie outside of the workspace; return it."""
    outside = computer.folder / "outside" / place.name
    outside.parent.mkdir()
    shutil.move(place, outside)
    place.symlink_to(outside)
    return outside


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    """The files in a folder, with what tells one file from another of the same content."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.lstat().st_ino)
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


@pytest.mark.parametrize("record", [True, False])
def test_a_folder_of_a_package_that_is_a_link_is_replaced_and_its_target_left_alone(
    installed: Computer, *, record: bool
) -> None:
    link = site(installed) / "tinya"
    shutil.rmtree(link / "__pycache__", ignore_errors=True)
    outside = put_elsewhere(installed, link)
    (outside / "mine.py").write_text("x = 1\n")
    own = site(installed) / "mine"
    own.symlink_to(outside.parent)
    if not record:
        (site(installed) / "tinya-2.0.dist-info" / "RECORD").unlink()
    before = content(outside)
    found = installed.run("verify")
    assert (found.code, found.finished["state"]) == (3, "not_ready")
    if record:
        assert f"site-packages/tinya is a link to {outside}" in found.finished["detail"], found.finished
    result = installed.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert result.states()["repair"] == "done"
    told = [event["line"] for event in result.events if event["event"] == "log"]
    assert any(f"tinya was a link to {outside}" in line for line in told), told
    assert not link.is_symlink()
    assert content(outside) == before
    assert own.readlink() == outside.parent
    assert sorted(path.name for path in (installed.root / ".venv").iterdir() if path.name.startswith(".held")) == []
    assert_mended(installed)


def test_bytecode_is_not_written_through_a_link(installed: Computer) -> None:
    outside = installed.folder / "outside"
    outside.mkdir()
    link = site(installed) / "tinya" / "__pycache__"
    shutil.rmtree(link, ignore_errors=True)
    link.symlink_to(outside)
    found = installed.run("verify")
    assert (found.code, "tinya/__pycache__ is a link to" in found.finished["message"]) == (3, True), found.finished
    assert installed.run("repair", "--offline").finished["code"] == "AML_REPAIRED"
    assert not link.is_symlink()
    assert list(outside.iterdir()) == []
    assert_mended(installed)


@pytest.mark.parametrize("part", ["site-packages", "bin", "lib"])
@pytest.mark.parametrize("command", ["repair", "rebuild"])
def test_an_environment_whose_folders_lie_elsewhere_is_built_anew(installed: Computer, part: str, command: str) -> None:
    place = site(installed) if part == "site-packages" else installed.root / ".venv" / part
    (site(installed) / "mine.py").write_text("x = 1\n")
    outside = put_elsewhere(installed, place)
    before = content(outside)
    found = installed.run("verify")
    assert (found.code, found.finished["code"]) == (3, "AML_NOT_READY")
    assert f"{part} in" in found.finished["message"]
    assert f"is a link to {outside}" in found.finished["message"]
    result = installed.run(command, "--offline")
    assert result.code == 0, result.finished
    told = [event["line"] for event in result.events if event["event"] == "log"]
    assert any(f"{part} was a link to {outside}" in line for line in told), told
    assert not place.is_symlink()
    assert content(outside) == before
    assert_mended(installed)
    assert (site(installed) / "mine.py").exists() == (part == "bin")


def test_a_moved_environment_with_a_link_is_not_mended_through_it(installed: Computer) -> None:
    outside = put_elsewhere(installed, installed.root / ".venv" / "bin")
    script = outside / "mine"
    script.write_text(f"#!{installed.root}/.venv/bin/python\n")
    before = content(outside)
    installed.named_root = installed.root.rename(installed.folder / "moved")
    result = installed.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert content(outside) == before
    assert_mended(installed)


@pytest.mark.parametrize("end", ["cancel", "kill"])
def test_a_repair_that_ends_on_the_way_leaves_links_where_they_are(installed: Computer, end: str) -> None:
    outside = installed.folder / "outside"
    outside.mkdir()
    own = [site(installed) / "mine", site(installed) / "tinya" / "mine"]
    for link in own:
        link.symlink_to(outside)
    (site(installed) / "tinya" / "__init__.py").unlink()
    with installed.start("repair", "--offline") as repair:
        repair.until_told("cache clean tinya")  # the copy is without its links then
        getattr(repair, end)()
    assert all(link.readlink() == outside for link in own)
    result = installed.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert all(link.readlink() == outside for link in own)
    assert not list((installed.root / ".venv").glob(".held*"))
    assert_mended(installed)
