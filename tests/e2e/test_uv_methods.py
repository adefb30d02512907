"""Each way to get uv, with a real uv in the end."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.errors import AmlError
from amlwizard.core.uv_install import check_bundled_hash, newest_uv_wheel, script_arguments, script_variables
from tests.support.index_server import IndexServer
from tests.support.stub_interpreters import copied_interpreter, give_pip
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer
    from tests.support.interpreter_archives import InterpreterArchive
    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def uv_program() -> Path:
    """The real uv of the development environment."""
    program = find_bundled_uv()
    assert program is not None
    return program


@pytest.fixture(scope="module")
def uv_wheel(uv_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel with the real uv."""
    version = subprocess.run([uv_program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    tag = f"py3-none-manylinux_2_17_{platform.machine()}"
    program = {f"uv-{version}.data/scripts/uv": uv_program.read_bytes()}
    return make_wheel(tmp_path_factory.mktemp("uv"), "uv", version, tag=tag, files=program, console_script=False)


@pytest.fixture
def offered(computer: Computer, uv_wheel: Path) -> str:
    """Put a wheel with the real uv on the index; return its version."""
    (computer.wheels / uv_wheel.name).hardlink_to(uv_wheel)
    return uv_wheel.name.split("-")[1]


def _record(computer: Computer) -> dict[str, str]:
    record: dict[str, str] = json.loads((computer.root / "runtime" / "uv.json").read_text())
    return record


@pytest.mark.linux
@pytest.mark.parametrize("method", ["index", "pip-target"])
def test_uv_comes_from_the_configured_index(computer: Computer, offered: str, method: str) -> None:
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"), "--uv-method", method)
    assert result.code == 0, result.finished
    record = _record(computer)
    assert record["method"] == method
    assert record["version"] == offered
    assert record["uvPath"] == str(computer.root / "tools" / "uv")
    assert any(request.path.endswith(".whl") and "/uv-" in request.path for request in computer.index.requests())


@pytest.mark.linux
def test_a_uv_wheel_with_wrong_bytes_is_never_used(computer: Computer, offered: str) -> None:
    computer.index.fault("*/uv-*.whl", "corrupt")
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"), "--uv-method", "index")
    assert result.code == 1
    assert result.finished["code"] == "AML_UV_INSTALL_FAILED"
    assert "\\n" not in result.finished["message"]
    assert not (computer.root / "tools" / "uv").exists()


@pytest.mark.posix
def test_the_official_script_is_run_from_a_file_on_explicit_choice(
    computer: Computer, uv_program: Path, tmp_path: Path
) -> None:
    served = tmp_path / "served"
    served.mkdir()
    # A stand-in for the official script: what it is asked for by its documented variables, it does.
    (served / "install.sh").write_text(
        'set -eu\ntest "$UV_NO_MODIFY_PATH" = 1\nmkdir -p "$UV_INSTALL_DIR"\n'
        f'cp {shlex.quote(str(uv_program))} "$UV_INSTALL_DIR/uv"\n'
    )
    settings = computer.folder / "home" / ".config" / "amlwizard" / "settings.json"
    with IndexServer(computer.wheels, served) as server:
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"format": 1, "uvInstallerUrl": f"{server.url}/files/install.sh"}))
        result = computer.run("install", "--requirements", computer.requirements("tinya\n"), "--uv-method", "script")
    assert result.code == 0, result.finished
    assert _record(computer)["method"] == "script"
    assert sorted(path.name for path in (computer.folder / "home").iterdir()) == [".config"]


@pytest.mark.usefixtures("with_ready_pip")
@pytest.mark.posix
def test_without_uv_constraints_and_variables_count_in_a_file_of_another_encoding(computer: Computer) -> None:
    limits = computer.folder / "limits.txt"
    limits.write_text("tinya<2\n", encoding="utf-16")
    wheel = computer.wheels / "tinyb-1.0-py3-none-any.whl"
    requirements = computer.requirements("")
    requirements.write_text("-c limits.txt\ntinya\ntinyb @ file://${WHEELS}/" + wheel.name + "\n", encoding="utf-16")
    computer.extra["WHEELS"] = str(computer.wheels)
    result = computer.run("install", "--requirements", requirements, "--uv-method", "none")
    assert result.code == 0, result.finished
    assert (computer.installed("tinya"), computer.installed("tinyb")) == ("1.0", "1.0")


def test_a_bundled_uv_without_a_recorded_hash_is_not_used(uv_program: Path, tmp_path: Path) -> None:
    check_bundled_hash(uv_program)
    linked = tmp_path / "linked"
    linked.symlink_to(uv_program.parent)
    check_bundled_hash(linked / uv_program.name)
    other = tmp_path / uv_program.name
    other.write_bytes(uv_program.read_bytes())
    with pytest.raises(AmlError, match="AML_UV_CHANGED"):
        check_bundled_hash(other)


def test_a_frozen_program_uses_its_own_uv_as_long_as_it_has_the_hash_that_was_noted(
    uv_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "uv" / uv_program.name
    own.parent.mkdir()
    shutil.copy(uv_program, own)
    digest = hashlib.sha256(own.read_bytes()).hexdigest()
    own.with_name("uv.sha256").write_text(f"{digest}  {own.name}\n", encoding="ascii")
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert find_bundled_uv() == own
    check_bundled_hash(own)
    with own.open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(AmlError, match="AML_UV_CHANGED"):
        check_bundled_hash(own)
    own.unlink()
    assert find_bundled_uv() is None


@pytest.mark.posix
@pytest.mark.parametrize("named", ["option", "variable"])
def test_without_uv_an_offline_resolution_asks_nobody(computer: Computer, named: str) -> None:
    page = f"{computer.index.index_url}tinyb/"
    options = ["--find-links", page] if named == "option" else []
    if named == "variable":
        computer.extra |= {"AML_INDEX_URL": "", "PIP_FIND_LINKS": page.replace("//", "//mei:k3pt@")}
    choices = ("--requirements", computer.requirements("tinyb\n"), "--uv-method", "none", "--offline")
    result = computer.run("install", *choices, *options)
    assert (result.code, result.finished["code"]) == (1, "AML_OFFLINE_MISSING"), result.finished
    assert computer.index.requests() == []


@pytest.fixture
def without_pip(tmp_path: Path) -> Path:
    """An interpreter as Debian has it: pip only in the environments that it makes, its own library externally managed."""
    return _distribution(copied_interpreter(tmp_path / "distribution"))


@pytest.fixture
def pipless(tmp_path: Path, ready_pip: dict[str, str]) -> Path:
    """Such an interpreter, whose environments have their pip at once, for tests that are not about that."""
    python = copied_interpreter(tmp_path / "distribution", without=("ensurepip",))
    (library,) = (python.parents[1] / "lib").iterdir()
    (ready,) = Path(ready_pip["PATH"].split(os.pathsep)[0]).parent.glob("lib/*/ensurepip")
    (library / "ensurepip").symlink_to(ready)
    return _distribution(python)


def _distribution(python: Path) -> Path:
    """Let the library of an interpreter, which has no pip, be externally managed."""
    said = subprocess.run([python, "-I", "-m", "pip", "--version"], capture_output=True, text=True)
    assert (said.returncode, "No module named pip" in said.stderr) == (1, True)
    (library,) = (python.parents[1] / "lib").iterdir()
    note = library / "EXTERNALLY-MANAGED"
    note.unlink(missing_ok=True)  # a distribution's own, linked
    note.write_text("[externally-managed]\nError=Not yours.\n")
    return python


@pytest.mark.linux
def test_uv_comes_by_pip_where_the_interpreter_has_none(computer: Computer, offered: str, pipless: Path) -> None:
    choices = ("--uv-method", "pip-target", "--python", pipless)
    result = computer.run("install", *choices, "--requirements", computer.requirements("tinya\n"))
    assert result.code == 0, result.finished
    assert (_record(computer)["method"], _record(computer)["version"]) == ("pip-target", offered)
    assert not list((computer.root / "runtime" / "tmp").glob("*"))


@pytest.mark.linux
def test_a_uv_that_came_by_pip_stays_where_the_run_was_refused(computer: Computer, offered: str) -> None:
    wanted = computer.requirements("tinya; python_version<'3'\n")
    result = computer.run("install", "--uv-method", "pip-target", "--requirements", wanted)
    assert (result.code, result.finished["code"]) == (1, "AML_NOTHING_TO_INSTALL"), result.finished
    assert (computer.root / "tools" / "uv").is_file()
    assert _record(computer)["version"] == offered


@pytest.mark.posix
def test_without_uv_venv_and_pip_build_the_environment_and_the_interpreter_needs_no_pip_of_its_own(
    computer: Computer, without_pip: Path
) -> None:
    """That it is built again by one that has a pip is proved by ``test_added`` and ``test_offline``."""
    choices = ("--uv-method", "none", "--python", without_pip)
    result = computer.run("install", *choices, "--requirements", computer.requirements("tinyb\n"))
    assert result.code == 0, result.finished
    assert computer.installed("tinyb") == "1.0"
    assert (computer.root / ".venv" / "bin" / "pip").is_file()
    assert not (computer.root / "tools").exists()
    assert not list((computer.root / "runtime" / "tmp").glob("*"))
    result = computer.run("rebuild", "--offline", *choices)
    assert result.code == 0, result.finished


@pytest.mark.linux
@pytest.mark.parametrize("method", ["pip-target", "none"])
def test_the_pip_of_an_externally_managed_interpreter_is_used_and_its_library_left_alone(
    computer: Computer, offered: str, pipless: Path, method: str
) -> None:
    (library,) = (pipless.parents[1] / "lib").iterdir()
    give_pip(library)
    refused = subprocess.run([pipless, "-I", "-m", "pip", "install", "tinya"], capture_output=True, text=True)
    assert "externally-managed-environment" in refused.stderr
    before = sorted(library.iterdir())
    choices = (
        "--uv-method",
        method,
        "--python",
        pipless,
        "--requirements",
        computer.requirements("tinya\n"),
    )
    result = computer.run("install", *choices)
    assert result.code == 0, result.finished
    assert computer.installed("tinya") == "2.0"
    assert sorted(library.iterdir()) == before
    logged = [event["line"] for event in result.events if event["event"] == "log"]
    assert not [line for line in logged if " -m venv " in line and str(computer.root / "runtime") in line]


@pytest.mark.linux
@pytest.mark.parametrize(
    ("method", "code"), [("pip-target", "AML_UV_INSTALL_FAILED"), ("none", "AML_NO_PYTHON_WITHOUT_UV")]
)
def test_where_the_only_interpreter_has_neither_pip_nor_ensurepip_the_package_that_it_lacks_is_named(
    computer: Computer,
    own_python: Path,
    interpreter_archive: InterpreterArchive,
    circumstances: type[Circumstances],
    tmp_path: Path,
    method: str,
    code: str,
) -> None:
    hidden = computer.leave_no_python(own_python)
    incomplete = interpreter_archive.unpack(tmp_path / "incomplete")
    shutil.rmtree(next(incomplete.parents[1].glob("lib/*/ensurepip")))
    computer.extra["PATH"] = os.pathsep.join([str(incomplete.parent), computer.extra["PATH"]])
    prefix = circumstances(hidden=hidden).command([])
    wanted = computer.requirements("tinya\n")
    result = computer.run("install", "--uv-method", method, "--requirements", wanted, prefix=prefix)
    assert result.finished["code"] == code
    assert f"python{interpreter_archive.minor}-venv" in result.finished["message"] + result.finished["hint"]
    if method == "none":
        assert result.code == 2
        assert not computer.root.exists()
    else:
        assert f"{incomplete.parent}/" in result.finished["message"]


def test_an_older_private_copy_is_replaced(computer: Computer) -> None:
    old = computer.root / "tools" / "uv"
    old.parent.mkdir(parents=True)
    old.write_text("#!/bin/sh\necho uv 0.1.5\n")
    old.chmod(0o755)
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert result.code == 0, result.finished
    assert result.states()["install_uv"] == "done"
    assert _record(computer)["version"] != "0.1.5"


def test_a_named_uv_is_used_in_place(computer: Computer, uv_program: Path) -> None:
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"), "--uv", uv_program)
    assert result.code == 0, result.finished
    assert _record(computer)["method"] == "existing"
    assert _record(computer)["uvPath"] == str(uv_program)
    assert not (computer.root / "tools").exists()


HOSTILE = ["plain", "with space", "quo'te", 'double"quote', "$HOME", "`id`", "a;b", "&&", "數據", "-rf", "%PATH%", "end\\"]


@pytest.mark.posix
@pytest.mark.parametrize("name", HOSTILE)
def test_no_path_is_read_as_shell_text_by_sh(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    script = folder / "install.sh"
    script.write_text('mkdir -p "$UV_INSTALL_DIR" && printf %s "$0" > "$UV_INSTALL_DIR/seen"\n')
    target = folder / "target"
    environment = {"PATH": os.environ["PATH"], **script_variables(target)}
    subprocess.run(script_arguments(script, "sh"), env=environment, cwd=tmp_path, check=True)
    assert (target / "seen").read_text() == str(script)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_path_is_read_as_more_than_one_argument_by_powershell(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_powershell = tmp_path / "powershell"
    fake_powershell.write_text("#!/bin/sh\n")
    fake_powershell.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    script = tmp_path / name / "install.ps1"
    line = subprocess.list2cmdline(script_arguments(script, "ps1"))
    assert _windows_split(line)[-2:] == ["-File", str(script)]


def _windows_split(line: str) -> list[str]:
    """Split a command line as the C runtime of Windows documents it."""
    arguments: list[str] = []
    current, quoted, started, position = "", False, False, 0
    while position < len(line):
        character = line[position]
        if character == "\\":
            end = position
            while end < len(line) and line[end] == "\\":
                end += 1
            count = end - position
            if end < len(line) and line[end] == '"':
                current += "\\" * (count // 2)
                if count % 2:
                    current += '"'
                    end += 1
            else:
                current += "\\" * count
            position, started = end, True
            continue
        if character == '"':
            quoted, started = not quoted, True
        elif character in " \t" and not quoted:
            if started:
                arguments.append(current)
            current, started = "", False
        else:
            current, started = current + character, True
        position += 1
    return [*arguments, current] if started else arguments


def test_the_newest_wheel_that_fits_is_chosen() -> None:
    from amlwizard.core.simple_index import IndexFile

    def file(name: str, *, yanked: bool = False) -> IndexFile:
        return IndexFile(name, f"https://index.example.org/{name}", "0" * 64, 1, yanked)

    files = [
        file("uv-0.10.0-py3-none-manylinux_2_17_x86_64.whl"),
        file("uv-0.9.9-py3-none-manylinux_2_17_x86_64.whl"),
        file("uv-0.11.0-py3-none-win_amd64.whl"),
        file("uv-0.12.0-py3-none-manylinux_2_17_x86_64.whl", yanked=True),
        file("uv-0.13.0rc1-py3-none-manylinux_2_17_x86_64.whl"),
        file("uv-0.8.0.tar.gz"),
        file("not a wheel.whl"),
    ]
    chosen = newest_uv_wheel(files, ["manylinux_2_17_x86_64", "linux_x86_64"])
    assert chosen is not None
    assert chosen.filename == "uv-0.10.0-py3-none-manylinux_2_17_x86_64.whl"
    assert newest_uv_wheel(files, ["macosx_11_0_arm64"]) is None
