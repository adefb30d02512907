"""What a user put into an environment without a package, in real environments."""

from __future__ import annotations

import csv
import errno
import os
import stat
import subprocess
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest

from amlwizard.core.environment import links
from amlwizard.core.environment.clone import clone_environment
from amlwizard.core.environment.layout import site_folders
from amlwizard.core.environment.loose_files import (
    copy_loose_files,
    find_loose_files,
    place_in,
    set_loose_files_aside,
)
from amlwizard.core.environment.removal import remove_tree
from amlwizard.core.errors import AmlError
from amlwizard.core.moving import CHUNK, Moving, StoppedError
from amlwizard.core.paths import Workspace, venv_python
from tests.core.environment.support import BASE_PYTHON, uv_for, variables
from tests.support.wheels import make_wheel

MAKERS = ("venv", "uv")


def make_environment(folder: Path, maker: str) -> Path:
    """Make an environment; with uv it holds a package with a program."""
    if maker == "venv":
        venv.EnvBuilder(symlinks=os.name != "nt").create(folder)
        return folder
    uv = uv_for(Workspace(folder.parent))
    wheel = make_wheel(
        folder.parent / "wheels",
        "tinya",
        files={"tinya_more.py": b"", "share/x": b"", "tinya-1.0.data/data/share/tinya/x": b""},
    )
    subprocess.run(uv.venv(folder, BASE_PYTHON), env=variables(uv), check=True, capture_output=True)
    install: list[str | Path] = [uv.executable, "pip", "install", "--no-config", "--python", venv_python(folder), wheel]
    subprocess.run(install, env=variables(uv), check=True, capture_output=True)
    return folder


def put(folder: Path, *names: str) -> list[Path]:
    """Put files there that hold their own names; a name that ends with a slash is of a folder with a module in it."""
    for name in names:
        path = folder / name
        if name.endswith("/"):
            path.mkdir()
            path /= "module.py"
        path.write_text(name)
    return [folder / name for name in names]


@pytest.mark.parametrize("maker", MAKERS)
def test_what_the_tools_make_and_what_packages_list_is_nobodys(tmp_path: Path, maker: str) -> None:
    environment = make_environment(tmp_path / "one", maker)
    (site,) = site_folders(environment)
    for folder in (site / "__pycache__", site / "left" / "__pycache__"):  # the second is what pip leaves of a package
        folder.mkdir(parents=True)
        (folder / "x.cpython-311.pyc").write_bytes(b"")
    put(site, "~inya", ".DS_Store")
    assert find_loose_files(environment, Moving()).paths == ()


@pytest.mark.parametrize("maker", MAKERS)
def test_modules_folders_and_programs_of_the_user_are_found(tmp_path: Path, maker: str) -> None:
    environment = make_environment(tmp_path / "one", maker)
    programs = venv_python(environment).parent
    mine = put(site_folders(environment)[0], "mine.pth", "mine.py", "mytools/")
    mine += put(programs, "train", "pythonista")
    found = find_loose_files(environment, Moving())
    assert sorted(found.paths) == sorted(mine)
    assert found.certain


@pytest.mark.posix
def test_they_come_into_another_environment_as_they_are(tmp_path: Path) -> None:
    old, new = (make_environment(tmp_path / name, "venv") for name in ("old", "new"))
    (folder,) = put(site_folders(old)[0], "mytools/")
    (program,) = put(venv_python(old).parent, "train")
    program.chmod(0o755)
    link = venv_python(old).parent / "link"
    link.symlink_to("../elsewhere")
    copy_loose_files(find_loose_files(old, Moving()).paths, old, new, Moving())
    assert (place_in(new, folder, old) / "module.py").read_text() == "mytools/"
    assert place_in(new, program, old).stat().st_mode & 0o777 == 0o755
    assert str(place_in(new, link, old).readlink()) == "../elsewhere"


def test_they_are_set_aside_by_the_names_of_their_folders(tmp_path: Path) -> None:
    environment = make_environment(tmp_path / "one", "venv")
    programs = venv_python(environment).parent
    put(site_folders(environment)[0], "train", "mytools/")
    put(programs, "train")
    set_loose_files_aside(find_loose_files(environment, Moving()).paths, environment, tmp_path / "aside", Moving())
    found = {path.relative_to(tmp_path / "aside").as_posix() for path in (tmp_path / "aside").rglob("*") if path.is_file()}
    assert found == {"site-packages/train", "site-packages/mytools/module.py", f"{programs.name}/train"}


def test_it_is_told_where_a_package_has_lost_its_list(tmp_path: Path) -> None:
    environment = make_environment(tmp_path / "one", "uv")
    (site,) = site_folders(environment)
    (site / "tinya-1.0.dist-info" / "RECORD").unlink()
    found = find_loose_files(environment, Moving())
    assert not found.certain
    assert site / "tinya" in found.paths


def test_names_with_commas_are_read_in_the_lists_of_packages(tmp_path: Path) -> None:
    environment = make_environment(tmp_path / "one", "uv")
    (site,) = site_folders(environment)
    listed = put(site, "a, b.py", "c, d/") + put(venv_python(environment).parent, "e, f")
    with (site / "tinya-1.0.dist-info" / "RECORD").open("a", newline="") as record:
        csv.writer(record).writerows(
            (os.path.relpath(path, site), "", "") for path in (*listed[::2], listed[1] / "module.py")
        )
    (mine,) = put(site, "a")
    assert find_loose_files(environment, Moving()).paths == (mine,)


@pytest.mark.posix
def test_data_is_not_copied_and_nothing_of_it_has_to_be_read(tmp_path: Path) -> None:
    old, new = (make_environment(tmp_path / name, "venv") for name in ("old", "new"))
    (folder,) = put(site_folders(old)[0], "data/")
    os.mkfifo(folder / "pipe")
    found = find_loose_files(old, Moving()).paths
    copy_loose_files(found, old, new, Moving())
    set_loose_files_aside(found, old, tmp_path / "aside", Moving())
    for place in (place_in(new, folder, old), tmp_path / "aside" / "site-packages" / "data"):
        assert (place / "module.py").samefile(folder / "module.py")
        assert (place / "pipe").is_fifo()


@pytest.mark.posix
def test_what_can_be_neither_linked_nor_copied_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    environment = make_environment(tmp_path / "one", "venv")
    (folder,) = put(site_folders(environment)[0], "data/")
    os.mkfifo(folder / "pipe")
    with pytest.raises(AmlError) as caught:
        set_loose_files_aside([folder], environment, tmp_path / "aside", Moving())
    assert caught.value.code == "AML_CANNOT_WRITE"
    assert str(folder / "pipe") in str(caught.value.arguments["reason"])
    assert (tmp_path / "aside" / "site-packages" / "data" / "module.py").read_text() == "data/"


@pytest.mark.parametrize("maker", MAKERS)
def test_what_lies_beside_the_packages_folders_is_found_and_kept_in_its_place(tmp_path: Path, maker: str) -> None:
    environment = make_environment(tmp_path / "one", maker)
    if maker == "uv":
        assert (environment / "share" / "tinya" / "x").is_file()
    kernel, note = environment / "share" / "jupyter" / "kernels" / "mine" / "kernel.json", environment / "NOTES.txt"
    for path in (kernel, note):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    (environment / "pyvenv.cfg").unlink()  # what is damaged keeps them as well
    found = find_loose_files(environment, Moving())
    assert found.paths == (note, kernel)
    other = make_environment(tmp_path / "other", "venv")
    copy_loose_files(found.paths, environment, other, Moving())
    set_loose_files_aside(found.paths, environment, tmp_path / "aside", Moving())
    for place in (other, tmp_path / "aside"):
        assert (place / "NOTES.txt").read_text() == "NOTES.txt"
        assert (place / kernel.relative_to(environment)).read_text() == "kernel.json"


def test_a_place_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    environment = make_environment(tmp_path / "one", "venv")
    (note,) = put(environment, "NOTES.txt")
    (tmp_path / "aside").touch()
    with pytest.raises(AmlError, match="AML_CANNOT_WRITE"):
        set_loose_files_aside([note], environment, tmp_path / "aside" / "now", Moving())


@pytest.mark.parametrize("has_links", [True, False])
def test_it_can_be_stopped_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool) -> None:
    environment = make_environment(tmp_path / "one", "venv")
    (folder,) = put(site_folders(environment)[0], "data/")
    for name in ("a", "b"):
        (folder / name).write_bytes(bytes(2 * CHUNK))
    moving, link = Moving(), os.link

    def link_and_stop(source: Path, target: Path) -> None:
        moving.stop()
        if not has_links:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        link(source, target)

    monkeypatch.setattr(os, "link", link_and_stop)
    with pytest.raises(StoppedError):
        set_loose_files_aside([folder], environment, tmp_path / "aside", moving)
    made = [path for path in (tmp_path / "aside").rglob("*") if path.is_file()]
    assert [(path.name, path.stat().st_size) for path in made] == [("a", 2 * CHUNK if has_links else CHUNK)]


def test_looking_can_be_stopped(tmp_path: Path) -> None:
    environment = make_environment(tmp_path / "one", "venv")
    put(site_folders(environment)[0], "data/")
    moving = Moving()
    moving.stop()
    with pytest.raises(StoppedError):
        find_loose_files(environment, moving)


@pytest.mark.posix
def test_links_to_folders_are_taken_as_links(tmp_path: Path) -> None:
    old, new = (make_environment(tmp_path / name, "venv") for name in ("old", "new"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    put(elsewhere, "precious.txt")
    made = [old / "data", old / "share" / "data", site_folders(old)[0] / "mytools" / "data"]
    for link in made:
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(elsewhere)
    found = find_loose_files(old, Moving()).paths
    assert sorted(found) == sorted([*made[:2], made[2].parent])
    copy_loose_files(found, old, new, Moving())
    for link in (*(place_in(new, link, old) for link in made[:2]), place_in(new, made[2].parent, old) / "data"):
        assert link.readlink() == elsewhere
    assert remove_tree(old)
    assert (elsewhere / "precious.txt").is_file()


def test_junctions_are_links_of_their_own_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated: what Windows tells of a junction, which looks like the folder that it leads to, and making one."""
    old, new = (make_environment(tmp_path / name, "venv") for name in ("old", "new"))
    junctions = [old / "data", site_folders(old)[0] / "mytools" / "data"]
    for junction in junctions:
        junction.mkdir(parents=True)
        put(junction, "precious.txt")
    lstat, made = Path.lstat, list[tuple[Path, str]]()

    def fake_lstat(path: Path) -> object:
        status = lstat(path)
        attributes = stat.FILE_ATTRIBUTE_REPARSE_POINT if path in junctions else 0
        return SimpleNamespace(st_mode=status.st_mode, st_file_attributes=attributes)

    monkeypatch.setattr(Path, "lstat", fake_lstat)
    monkeypatch.setattr(Path, "readlink", lambda path: Path(f"\\\\?\\D:\\{path.name}"))
    monkeypatch.setattr(links, "make_junction", lambda place, goal: made.append((place, goal)))
    found = find_loose_files(old, Moving()).paths
    assert sorted(found) == sorted([junctions[0], junctions[1].parent])
    copy_loose_files(found, old, new, Moving())
    places = (new / "data", site_folders(new)[0] / "mytools" / "data")
    assert sorted(made) == sorted((place, "D:\\data") for place in places)
    assert not (new / "data").exists()
    clone_environment(old, tmp_path / "clone", set())
    assert not list((tmp_path / "clone").rglob("precious.txt"))
