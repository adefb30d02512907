"""Whole runs in folders that make trouble: odd names, long ones, mounts that forbid something, cloud services."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.detection import find_bundled_uv
from tests.support.namespaces import SmallFileSystem
from tests.support.sources import make_sdist, make_source
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result
    from tests.support.namespaces import Circumstances

pytestmark = [pytest.mark.e2e, pytest.mark.posix]


def lines(result: Result) -> list[str]:
    """Return the log."""
    return [event["line"] for event in result.events if event["event"] == "log"]


def output(argv: Sequence[str | Path], **more: str) -> str:
    """Return what a program prints."""
    environ = {"PATH": os.environ["PATH"], **more}
    return subprocess.run(argv, capture_output=True, text=True, check=True, env=environ).stdout.strip()


def set_up(computer: Computer, method: str) -> None:
    """Install packages with both kinds of scripts, prove, run and rebuild the environment."""
    script = b"#!python\nimport tinya\nprint('data script', tinya.__version__)\n"
    make_wheel(computer.wheels, "tinys", "1.0", files={"tinys-1.0.data/scripts/tinys-script": script}, requires=["tinya"])
    wanted = ("--requirements", computer.requirements("tinyb\ntinys\n"), "--uv-method", method)
    result = computer.run("install", *wanted)
    assert result.code == 0, result.finished
    assert result.finished["root"] == str(computer.root)
    programs = computer.root / ".venv" / "bin"
    for again in (False, True):
        if again:
            assert computer.run("rebuild", "--offline", "--uv-method", method).code == 0
        assert output([programs / "tinyb"]) == "tinyb 1.0"
        assert output([programs / "tinys-script"]) == "data script 2.0"
    assert computer.run("verify").code == 0


# -- B33, B36: names


SIGNS = "sp ace & 'quoted' $HOME (1) #%41;"


def run_a_job(computer: Computer) -> None:
    """Run a script in a folder with a space, with arguments of that kind."""
    job = computer.folder / "my job.py"
    job.write_text("import sys, tinya\nprint(tinya.__version__, sys.argv[1:])\n")
    argv = [sys.executable, "-m", "amlwizard", "run", "--", str(job), "a b", "$c"]
    done = subprocess.run(argv, capture_output=True, text=True, env=computer.environ, cwd=computer.cwd)
    assert (done.returncode, done.stdout.strip()) == (0, "2.0 ['a b', '$c']"), done.stderr


def test_b33_a_root_with_spaces_and_signs_of_the_shell_serves_in_everything(computer: Computer) -> None:
    computer.named_root = computer.folder / SIGNS
    set_up(computer, "auto")
    run_a_job(computer)


@pytest.mark.parametrize(
    ("method", "root"), [("auto", "datos-ñ-数据-😀/Дата"), ("none", f"{SIGNS}-数据-😀/Дата")], ids=["auto", "none"]
)
def test_b36_a_root_in_other_scripts_serves_although_the_locale_knows_no_letters(
    computer: Computer, method: str, root: str
) -> None:
    """Without uv, where each build takes its time, with spaces and signs of the shell (B33) besides."""
    computer.named_root = computer.folder / root
    computer.extra |= {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}
    set_up(computer, method)
    run_a_job(computer)
    (marker,) = (computer.root / ".venv").glob(".aml-ok-*")
    assert json.loads(marker.read_text(encoding="utf-8"))["root"] == str(computer.root)
    logs = [file.read_text(encoding="utf-8") for file in (computer.root / "runtime" / "logs").iterdir()]
    assert any("数据-😀" in log for log in logs)
    again = computer.run("install")
    assert (again.code, again.finished["state"]) == (0, "ready")


def test_b36_a_name_that_is_no_text_is_refused_by_a_sentence(computer: Computer) -> None:
    folder = os.fsencode(computer.folder) + b"/lat\xe9n"
    os.mkdir(folder)  # noqa: PTH102 - no path of text
    for command in ("plan", "install"):
        argv = [os.fsencode(sys.executable), b"-m", b"amlwizard", command.encode(), b"--root", folder + b"/aml"]
        done = subprocess.run(argv, capture_output=True, env=computer.environ, cwd=computer.cwd)
        assert done.returncode == 2
        assert b"AML_ROOT_BAD_NAME" in done.stdout + done.stderr
        assert b"Traceback" not in done.stdout + done.stderr
    assert os.listdir(folder) == []  # noqa: PTH208


# -- B37: a cloud service


def fake_uv(computer: Computer, *, error: str) -> Path:
    """Put the real uv behind a program that refuses hard links, as uv does in OneDrive; it notes each refusal."""
    uv = find_bundled_uv()
    assert uv is not None
    program = computer.folder / "fake" / "uv"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *"pip sync"*|*"pip install"*) if [ "$UV_LINK_MODE" != copy ]; then\n'
        f"echo '{error}' >&2; echo refused >> '{program.parent}/notes'; exit 2; fi;; esac\nexec '{uv}' \"$@\"\n"
    )
    program.chmod(0o755)
    return program


ERROR_396 = (
    "error: Failed to install: tinya-2.0-py3-none-any.whl (tinya==2.0)\n"
    "  Caused by: failed to hardlink file from C:\\a to C:\\b: The cloud operation cannot be performed on a file "
    "with incompatible hardlinks. (os error 396)"
)


def test_b37_refused_links_are_cured_by_one_retry_with_copies(computer: Computer) -> None:
    """Simulated: uv's own words for a folder of OneDrive, on any disk."""
    uv = fake_uv(computer, error=ERROR_396)
    result = computer.run("install", "--requirements", computer.requirements("tinyb\n"), "--uv", uv)
    assert result.code == 0, result.finished
    assert computer.installed("tinyb") == "1.0"
    assert (uv.parent / "notes").read_text() == "refused\n"
    told = lines(result)
    assert [line for line in told if "os error 396" in line]
    assert [line for line in told if "copies" in line]
    assert computer.run("verify").code == 0


def test_b37_what_copies_do_not_cure_names_the_cause(computer: Computer) -> None:
    uv = fake_uv(computer, error=ERROR_396)
    uv.write_text(uv.read_text().replace("!= copy", "!= never"))
    refused = computer.run("install", "--requirements", computer.requirements("tinyb\n"), "--uv", uv)
    assert (refused.code, refused.finished["code"]) == (1, "AML_LINK_REFUSED")
    assert "os error 396" in refused.finished["message"]
    assert "OneDrive" in refused.finished["hint"]
    assert (uv.parent / "notes").read_text() == "refused\n" * 2
    assert not (computer.root / ".venv").exists()


@pytest.mark.parametrize("by_link", [False, True])
def test_b37_in_a_folder_of_a_cloud_service_files_are_copied_from_the_start_and_it_is_told(
    computer: Computer, by_link: bool
) -> None:
    uv = fake_uv(computer, error=ERROR_396)
    computer.named_root = computer.folder / "OneDrive - Example" / "aml"
    computer.named_root.parent.mkdir()
    if by_link:
        (computer.folder / "link").symlink_to(computer.named_root.parent)
        computer.named_root = computer.folder / "link" / "aml"
    wanted = ("--requirements", computer.requirements("tinyb\n"), "--uv", uv)
    for command in ("plan", "install"):
        result = computer.run(command, *wanted)
        assert result.code == 0, result.finished
        assert [line for line in lines(result) if "OneDrive, which uploads" in line]
    assert not (uv.parent / "notes").exists()
    linked = [path for path in (computer.root / ".venv").rglob("tiny*/*.py") if path.stat().st_nlink > 1]
    assert linked == []


# -- B39, B44: mounts and rights


@pytest.mark.linux
def test_b39_a_temporary_folder_that_forbids_programs_is_not_used(
    computer: Computer, circumstances: type[Circumstances]
) -> None:
    temporary = computer.folder / "temporary"
    temporary.mkdir()
    computer.extra["TMPDIR"] = str(temporary)
    source = make_source(computer.folder / "source", "tinyd", "4.0", notes=computer.folder / "notes")
    backend = source / "backend.py"
    backend.write_text(
        "import pathlib, subprocess, tempfile\n"
        "program = pathlib.Path(tempfile.mkdtemp(), 'configure')\n"
        "program.write_text('#!/bin/sh\\n')\nprogram.chmod(0o755)\nsubprocess.run([program], check=True)\n"
        + backend.read_text()
    )
    make_sdist(computer.wheels, source, "tinyd", "4.0")
    mounted = circumstances(file_systems=(SmallFileSystem(temporary, noexec=True),))
    result = computer.run("install", "--requirements", computer.requirements("tinyd\n"), prefix=mounted.command([]))
    assert result.code == 0, result.finished
    assert computer.installed("tinyd") == "4.0"


@pytest.mark.linux
@pytest.mark.parametrize(("option", "code"), [("noexec", "AML_ROOT_NOEXEC"), ("ro", "AML_ROOT_READ_ONLY")])
def test_b39_b44_a_mount_that_forbids_something_is_named_before_anything_is_fetched(
    computer: Computer, circumstances: type[Circumstances], option: str, code: str
) -> None:
    disk = computer.folder / "disk"
    disk.mkdir()
    computer.named_root = disk / "deeper" / "aml"
    if option == "noexec":
        mounted = circumstances(file_systems=(SmallFileSystem(disk, noexec=True),))
    else:
        mounted = circumstances(read_only=(disk,))
    wanted = ("--requirements", computer.requirements("tinyb\n"))
    for command in ("plan", "install"):
        refused = computer.run(command, *wanted, prefix=mounted.command([]))
        assert (refused.code, refused.finished["code"]) == (2, code), refused.finished
        assert str(computer.root) in refused.finished["message"]
        if option == "noexec":
            assert f"{disk})" in refused.finished["message"]
            assert "noexec" in refused.finished["hint"]
    assert computer.index.requests() == []


@pytest.mark.parametrize("name", ["runtime", "tools", "python", "downloads", "cache"])
def test_b65_a_link_that_leads_nowhere_is_refused_before_anything_is_fetched(computer: Computer, name: str) -> None:
    computer.root.mkdir()
    (computer.root / name).symlink_to(computer.folder / "gone")
    for command in ("plan", "install"):
        refused = computer.run(command, "--requirements", computer.requirements("tinyb\n"))
        code = "AML_ROOT_DANGLING_LINK" if name in {"downloads", "cache"} else "AML_FOLDER_LINK"
        assert (refused.code, refused.finished["code"]) == (2, code), refused.finished
        assert str(computer.root / name) in refused.finished["message"]
    assert computer.index.requests() == []
    assert [path.name for path in computer.root.iterdir()] == [name]


def test_a_folder_of_the_users_whose_disk_is_not_there_stands_in_nobodys_way(computer: Computer) -> None:
    computer.root.mkdir()
    (computer.root / "datasets").symlink_to(computer.folder / "gone")
    computer.install("tinya\n")
    assert (computer.root / "datasets").readlink() == computer.folder / "gone"


@pytest.mark.linux
@pytest.mark.parametrize("command", ["store --prune", "uninstall", "undo", "repair", "rebuild"])
def test_b44_a_workspace_that_has_become_read_only_is_named_by_all_that_change_it(
    older: Computer, circumstances: type[Circumstances], command: str
) -> None:
    older.install("tinya==2.0\n")
    read_only = circumstances(read_only=[older.root]).command([])
    refused = older.run(*command.split(), prefix=read_only)
    assert (refused.code, refused.finished["code"]) == (2, "AML_ROOT_READ_ONLY"), refused.finished
    assert str(older.root) in refused.finished["message"]
    assert older.installed("tinya") == "2.0"


def test_b44_a_folder_of_others_is_refused_before_anything_is_fetched(
    computer: Computer, circumstances: type[Circumstances]
) -> None:
    """As a user who is not root and may not write there; the way to the folder and the program itself are open to him."""
    shared = computer.folder / "shared"
    shared.mkdir()
    shared.chmod(0o555)
    computer.named_root = shared / "aml"
    without_rights = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    refused = computer.run("install", "--requirements", computer.requirements("tinyb\n"), prefix=without_rights)
    assert (refused.code, refused.finished["code"]) == (2, "AML_ROOT_NOT_WRITABLE"), refused.finished
    assert list(shared.iterdir()) == []
    assert computer.index.requests() == []


# -- B40: length


@pytest.mark.parametrize("method", ["auto", "none"])
def test_b40_a_root_of_240_characters_serves(computer: Computer, method: str) -> None:
    length = 240 - len(str(computer.folder)) - 4
    computer.named_root = computer.folder.joinpath(*["d" * (length // 3 - 1)] * 3, "aml")
    assert len(str(computer.root)) >= 230
    set_up(computer, method)
