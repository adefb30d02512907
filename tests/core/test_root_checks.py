"""Roots that are refused, each on a real file system."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.errors import RefusedError
from amlwizard.core.paths import Workspace
from amlwizard.core.root_checks import check_root, write_refusal
from amlwizard.core.root_places import foreign_owner
from amlwizard.core.uninstall import check_receipt
from tests.support.namespaces import SmallFileSystem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.namespaces import Circumstances


def refusal(root: Path) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        check_root(root)
    for language in LANGUAGES:
        assert all(error_texts(caught.value, language))
    return caught.value


def listing(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_mode) for path in folder.rglob("*"))


def test_what_a_killed_check_left_is_removed_by_the_next(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-S", "-c", ""])
    dead.wait()
    number = dead.pid
    del dead  # while somebody asks for it, Windows knows it
    names = (f"{number}-x", f"{os.getpid()}-x", f"{os.getppid()}-notes")
    left, living, foreign = (tmp_path / f".aml-probe-{name}" for name in names)
    for folder in (left, living, foreign):
        folder.mkdir()
        (folder / "written").write_text("x")
    with_more = tmp_path / f".aml-probe-{number}-y"
    with_more.mkdir()
    (with_more / "thesis.txt").write_text("x")
    check_root(tmp_path / "new")
    assert not left.exists()
    assert (living / "written").exists()
    assert (foreign / "written").exists()
    assert (with_more / "thesis.txt").exists()


@pytest.mark.parametrize("name", [".", "new", "new/deeper/still", "with space 数据"])
def test_good_roots_pass_and_keep_no_trace(tmp_path: Path, name: str) -> None:
    before = listing(tmp_path)
    check_root(tmp_path / name)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("folder", ["runtime", "tools", "python", "downloads", "cache"])
@pytest.mark.parametrize("below", [".", "x", "tmp/x"])
def test_the_own_folders_of_another_workspace_are_refused(tmp_path: Path, folder: str, below: str) -> None:
    other = Workspace(tmp_path / "other")
    check_root(other.root / folder / below)  # there is no workspace around it yet
    other.runtime.mkdir(parents=True)
    other.lock_file.touch()
    before = listing(tmp_path)
    refused = refusal(other.root / folder / below)
    assert refused.code == "AML_ROOT_IN_WORKSPACE"
    assert refused.arguments["workspace"] == str(other.root)
    assert listing(tmp_path) == before
    check_root(other.root)
    check_root(other.root / "jobs" / below)


def test_a_link_does_not_lead_into_another_workspace(tmp_path: Path) -> None:
    other = Workspace(tmp_path / "other")
    other.cache.mkdir(parents=True)
    other.runtime.mkdir()
    other.lock_file.touch()
    (tmp_path / "link").symlink_to(other.cache)
    assert refusal(tmp_path / "link" / "x").code == "AML_ROOT_IN_WORKSPACE"


def test_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert refusal(file).code == "AML_ROOT_IS_FILE"
    below = refusal(file / "aml")
    assert (below.code, below.arguments["path"]) == ("AML_ROOT_IS_FILE", str(file))
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (f"a{os.pathsep}b", "AML_ROOT_PATH_SEPARATOR"),
        ("line\nbreak", "AML_ROOT_BAD_NAME"),
        ("bell\x07", "AML_ROOT_BAD_NAME"),
        ("bad\udcff", "AML_ROOT_BAD_NAME"),
    ],
)
def test_names_that_programs_cannot_handle(tmp_path: Path, name: str, code: str) -> None:
    error = refusal(tmp_path / name)
    assert error.code == code
    assert str(error.arguments["path"]).isprintable()


def test_relative_and_too_broad_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "link").symlink_to(tmp_path)
    assert refusal(Path("aml")).code == "AML_ROOT_RELATIVE"
    assert refusal(Path(tmp_path.anchor)).code == "AML_ROOT_TOO_BROAD"
    assert refusal(tmp_path).code == "AML_ROOT_TOO_BROAD"
    assert refusal(tmp_path / "link").code == "AML_ROOT_TOO_BROAD"
    check_root(tmp_path / "aml")


def test_inside_an_environment_of_conda(tmp_path: Path) -> None:
    history = tmp_path / "conda" / "conda-meta" / "history"
    history.parent.mkdir(parents=True)
    history.touch()
    for inside in ("", "aml", "envs/aml"):
        error = refusal(tmp_path / "conda" / inside)
        assert (error.code, error.arguments["environment"]) == (
            "AML_ROOT_IN_ENVIRONMENT",
            str(tmp_path.resolve() / "conda"),
        )
    check_root(tmp_path / "aml")


def test_inside_another_environment(tmp_path: Path) -> None:
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert refusal(tmp_path).code == "AML_ROOT_IN_ENVIRONMENT"
    assert refusal(tmp_path / "lib" / "aml").arguments["environment"] == str(tmp_path.resolve())


def test_the_environment_of_the_workspace_itself_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    check_root(tmp_path)


def test_a_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "aml").symlink_to(tmp_path / "gone")
    assert refusal(tmp_path / "aml").code == "AML_ROOT_DANGLING_LINK"
    assert refusal(tmp_path / "aml" / "deeper").code == "AML_ROOT_DANGLING_LINK"


@pytest.fixture
def foreign_folder() -> Iterator[Path]:
    """A folder in which the user of the test may not write, also where the test runs as root."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o700)
        shutil.rmtree(folder)


@pytest.mark.posix
def test_a_folder_of_others(foreign_folder: Path) -> None:
    import pwd

    error = refusal(foreign_folder / "aml")
    assert error.code == "AML_ROOT_NOT_WRITABLE"
    assert "ermission" in str(error.arguments["reason"])
    error = refusal(foreign_folder)
    owner = pwd.getpwuid(os.getuid()).pw_name
    expected = ("AML_ROOT_NOT_YOURS", owner) if os.getuid() == 0 else ("AML_ROOT_NOT_WRITABLE", None)
    assert (error.code, error.arguments.get("owner")) == expected
    before = listing(foreign_folder)
    told = write_refusal(foreign_folder)
    assert told is not None
    assert (told.code, told.arguments) == (error.code, error.arguments)
    assert listing(foreign_folder) == before


def test_a_folder_of_ones_own_and_one_that_is_not_there_yet_are_not_refused(tmp_path: Path) -> None:
    assert write_refusal(tmp_path) is None
    assert write_refusal(tmp_path / "aml") is None


@pytest.mark.posix
def test_a_folder_that_may_not_be_entered(foreign_folder: Path) -> None:
    user = os.geteuid()
    os.seteuid(os.getuid())
    foreign_folder.chmod(0o000)
    os.seteuid(user)
    assert refusal(foreign_folder / "aml").code == "AML_ROOT_NOT_WRITABLE"
    assert refusal(foreign_folder / "aml" / "deeper").code == "AML_ROOT_NOT_WRITABLE"


@pytest.mark.posix
def test_the_owner_is_told_where_it_is_another_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    assert foreign_owner(tmp_path) is None
    assert foreign_owner(tmp_path / "aml") is None
    if os.geteuid() == 0:  # as sudo does: the administrator, in the folder of a user
        os.chown(tmp_path, 65534, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
    owner = pwd.getpwuid(tmp_path.stat().st_uid).pw_name
    assert foreign_owner(tmp_path) == owner
    assert foreign_owner(tmp_path / "aml" / "deeper") == owner
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert foreign_owner(tmp_path) == owner
    assert foreign_owner(tmp_path / "aml") is None  # who may write there makes a folder of their own


def test_folders_of_many_and_of_programs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import amlwizard

    package = Path(amlwizard.__file__).resolve().parent
    assert refusal(package / "aml").code == "AML_ROOT_IN_PROGRAMS"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    programs = Path("/srv/programs/amlwizard").absolute()
    monkeypatch.setattr(sys, "executable", str(programs / "amlwizard"))
    error = refusal(programs / "aml")
    assert (error.code, error.arguments["programs"]) == ("AML_ROOT_IN_PROGRAMS", str(programs))
    if os.name == "posix":
        assert refusal(Path("/usr/aml")).code == "AML_ROOT_IN_PROGRAMS"
        assert refusal(Path("/opt")).code == "AML_ROOT_TOO_BROAD"


def test_a_circle_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert refusal(tmp_path / "a" / "aml").code == "AML_ROOT_DANGLING_LINK"


@pytest.mark.posix
@pytest.mark.parametrize("name", ["runtime", "tools", "python"])
def test_a_link_in_the_place_of_a_folder_that_is_ours_alone(tmp_path: Path, name: str) -> None:
    root, elsewhere = tmp_path / "aml", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    (root / name).symlink_to(elsewhere)
    before = listing(tmp_path)
    error = refusal(root)
    assert (error.code, error.arguments["path"]) == ("AML_FOLDER_LINK", str(root / name))
    assert listing(tmp_path) == before
    with pytest.raises(RefusedError, match="AML_FOLDER_LINK"):
        check_receipt(Workspace(root))


@pytest.mark.posix
@pytest.mark.parametrize("name", ["downloads", "cache"])
def test_a_store_and_a_cache_may_lie_on_another_disk_that_is_there(tmp_path: Path, name: str) -> None:
    root, elsewhere = tmp_path / "aml", tmp_path / "elsewhere"
    root.mkdir()
    (root / name).symlink_to(elsewhere)
    error = refusal(root)
    assert (error.code, error.arguments["path"]) == ("AML_ROOT_DANGLING_LINK", str(root / name))
    elsewhere.write_text("mine")
    assert refusal(root).code == "AML_FOLDER_IS_FILE"
    elsewhere.unlink()
    elsewhere.mkdir()
    check_root(root)


@pytest.mark.parametrize("name", ["runtime", "tools", "python", "downloads", "cache"])
def test_a_file_in_the_place_of_a_folder_of_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    error = refusal(tmp_path)
    assert (error.code, error.arguments["path"]) == ("AML_FOLDER_IS_FILE", str(tmp_path / name))


@pytest.mark.linux
@pytest.mark.parametrize(("option", "code"), [("noexec", "AML_ROOT_NOEXEC"), ("ro", "AML_ROOT_READ_ONLY")])
def test_mounts_that_forbid_something(tmp_path: Path, circumstances: type[Circumstances], option: str, code: str) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from amlwizard.core.root_checks import check_root, write_refusal\n"
        "from amlwizard.core.errors import RefusedError\n"
        "try: check_root(Path(sys.argv[1]) / 'aml')\n"
        "except RefusedError as error: print(error.code)\n"
        "told = write_refusal(Path(sys.argv[1]))\n"
        "print(told.code if told else '')\n"
    )
    argv = [sys.executable, "-c", program, str(tmp_path)]
    if option == "noexec":
        mounted = circumstances(file_systems=(SmallFileSystem(tmp_path, size_bytes=1024 * 1024, noexec=True),))
    else:
        mounted = circumstances(read_only=(tmp_path,))
    done = subprocess.run(mounted.command(argv), capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.stdout.splitlines() == [code, code if option == "ro" else ""], done.stderr


@pytest.mark.linux
def test_a_full_disk_is_named_as_that_and_not_as_missing_rights(tmp_path: Path, circumstances: type[Circumstances]) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from amlwizard.core.root_checks import check_root\n"
        "from amlwizard.core.errors import AmlError\n"
        "root = Path(sys.argv[1]) / 'aml'; root.mkdir()\n"
        "try:\n"
        "    with open(root / 'filler', 'wb', 0) as filler:\n"
        "        while True: filler.write(bytes(65536))\n"
        "except OSError: pass\n"
        "try: check_root(root)\n"
        "except AmlError as error: print(type(error).__name__, error.code, error.arguments['cause'])\n"
    )
    small = circumstances(file_systems=(SmallFileSystem(tmp_path, size_bytes=1024 * 1024),))
    argv = small.command([sys.executable, "-c", program, str(tmp_path)])
    done = subprocess.run(argv, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.stdout.strip() == f"AmlError AML_NO_SPACE {tmp_path / 'aml'}: No space left on device", done.stderr
