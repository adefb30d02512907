"""Which links inside an environment count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.environment.foreign_links import (
    ForeignLink,
    LinkFinder,
    layout_link,
    put_links_back,
    stands_for_another,
    take_links_out,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """The folders and links that installers make."""
    folder = tmp_path / "venv"
    (folder / "lib" / "python3.11" / "site-packages" / "tiny").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to("/usr/bin/python3")
    (folder / "bin" / "python3").symlink_to("python")
    (folder / "lib64").symlink_to("lib")
    return folder


@pytest.mark.posix
def test_what_installers_make_is_no_foreign_link(environment: Path) -> None:
    assert layout_link(environment) is None
    assert LinkFinder(str(environment)).above(str(environment / "lib64" / "python3.11" / "x.py")) is None
    assert take_links_out(environment) == []
    assert not list(environment.glob(".held*"))


@pytest.mark.posix
@pytest.mark.parametrize("place", ["bin", "lib", "lib64", "lib/python3.11", "lib/python3.11/site-packages"])
def test_each_folder_that_makes_an_environment_is_looked_at(environment: Path, tmp_path: Path, place: str) -> None:
    folder = environment / place
    if folder.is_symlink():
        folder.unlink()
    else:
        folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path)
    assert layout_link(environment) == ForeignLink(place, str(tmp_path))


@pytest.mark.posix
def test_links_are_out_of_the_way_meanwhile_and_come_back_where_their_place_is_free(
    environment: Path, tmp_path: Path
) -> None:
    site = environment / "lib" / "python3.11" / "site-packages"
    links = {
        site / "tiny" / "data": tmp_path,
        site / "mine.py": tmp_path / "mine.py",
        environment / "bin" / "tool": tmp_path,
    }
    for link, target in links.items():
        link.symlink_to(target)
    taken = take_links_out(environment)
    assert set(taken) == set(links)
    assert not any(link.is_symlink() for link in links)
    (site / "mine.py").write_text("x = 1")
    assert put_links_back(environment, taken) == [
        ForeignLink("lib/python3.11/site-packages/mine.py", str(tmp_path / "mine.py"))
    ]
    assert (site / "mine.py").read_text() == "x = 1"
    assert not (tmp_path / "mine.py").exists()
    assert (site / "tiny" / "data").readlink() == (environment / "bin" / "tool").readlink() == tmp_path
    assert not list(environment.glob(".held*"))


def test_a_folder_of_a_cloud_service_is_no_link() -> None:
    symlink, junction, cloud, deduplicated = 0xA000000C, 0xA0000003, 0x9000601A, 0x80000013
    assert stands_for_another(0)
    assert stands_for_another(symlink)
    assert stands_for_another(junction)
    assert not stands_for_another(cloud)
    assert not stands_for_another(deduplicated)
