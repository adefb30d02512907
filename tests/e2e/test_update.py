"""Updates of the environment's Python to a newer patch, and of uv: what changes is told first, and there is a way back."""

from __future__ import annotations

import json
import platform
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.paths import Workspace
from tests.support.index_server import IndexServer
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result, Stock
    from tests.support.interpreter_archives import InterpreterArchive

pytestmark = [pytest.mark.e2e, pytest.mark.linux]


@pytest.fixture(scope="session")
def older_archive(interpreter_archive: InterpreterArchive, tmp_path_factory: pytest.TempPathFactory) -> InterpreterArchive:
    """The patch before that of ``interpreter_archive``."""
    return interpreter_archive.older(tmp_path_factory.mktemp("older"))


@pytest.fixture
def managed(stock: Stock, older_archive: InterpreterArchive) -> Iterator[Computer]:
    """tinyb on a managed interpreter, whose own list offers no other."""

    def make(computer: Computer) -> None:
        computer.extra["PATH"] = "/usr/bin:/bin"
        listed = older_archive.downloads_json(computer.folder / "downloads.json")
        settings = computer.folder / "home" / ".config" / "amlwizard" / "settings.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"format": 1, "pythonDownloadsJson": listed.as_uri()}))
        computer.install("tinyb\n", "--python", older_archive.version)

    with stock.lend("managed", make) as made:
        yield made


@pytest.fixture
def server(interpreter_archive: InterpreterArchive, tmp_path: Path) -> Iterator[IndexServer]:
    """A server with the newer archive and a list that offers it."""
    served = tmp_path / "served"
    served.mkdir()
    shutil.copy(interpreter_archive.file, served)
    with IndexServer(tmp_path, served) as started:
        url = f"{started.url}/files/{interpreter_archive.file.name}".replace("+", "%2B")
        interpreter_archive.downloads_json(served / "newer.json", url=url)
        yield started


def offer(server: IndexServer) -> list[str]:
    """Return the options by which the newer one is offered."""
    return ["--python-downloads-json", f"{server.url}/files/newer.json"]


def python(computer: Computer) -> str:
    """Return the version that the environment's own interpreter says."""
    program = computer.root / ".venv" / "bin" / "python"
    code = "import platform; print(platform.python_version())"
    return subprocess.run([program, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def changes(result: Result) -> list[dict[str, object]]:
    """Return what was told of changes."""
    return [event for event in result.events if event["event"] == "changes"]


def interpreters(computer: Computer) -> dict[str, Path | None]:
    """Return the names in ``python/``, links with what they lead to."""
    listed = sorted((computer.root / "python").glob("cpython-*"))
    return {path.name: path.readlink() if path.is_symlink() else None for path in listed}


def test_a_newer_patch_is_told_then_set_up_and_undo_leads_back(
    managed: Computer, server: IndexServer, older_archive: InterpreterArchive, interpreter_archive: InterpreterArchive
) -> None:
    old, new = older_archive.version, interpreter_archive.version
    assert python(managed) == old
    before = interpreters(managed)
    looked = managed.run("update", "python", "--check", *offer(server))
    assert looked.code == 0, looked.finished
    (told,) = changes(looked)
    assert told["python"] == {"from": old, "to": new}
    plan = looked.events[-1]
    assert plan["download_bytes"] == interpreter_archive.file.stat().st_size
    assert [step["id"] for step in plan["steps"]] == ["install_python", "build", "verify", "commit"]
    assert (python(managed), interpreters(managed)) == (old, before)

    result = managed.run("update", "python", *offer(server))
    assert (result.code, result.finished["code"]) == (0, "AML_UPDATED_PYTHON"), result.finished
    assert changes(result) == [told]
    order = [event.get("id", event["event"]) for event in result.events]
    assert order.index("changes") < order.index("install_python")
    assert python(managed) == new
    assert managed.installed("tinyb") == "1.0"
    assert managed.run("verify", "--deep").code == 0
    assert interpreters(managed) == {**before, interpreter_archive.key: None}
    assert not (managed.root / "python" / ".temp" / "beside").exists()
    assert managed.run("install").finished["code"] == "AML_ALREADY_READY"

    again = managed.run("update", "python", *offer(server))
    assert (again.code, again.finished["code"]) == (0, "AML_UPDATE_NONE"), again.finished
    for expected in (old, new):
        undone = managed.run("undo", "--offline")
        assert (undone.code, undone.finished["code"]) == (0, "AML_UNDONE"), undone.finished
        assert python(managed) == expected
    assert managed.run("rebuild", "--offline").code == 0
    assert python(managed) == new
    assert managed.run("store", "--prune").code == 0
    assert managed.run("undo", "--offline").code == 0
    assert python(managed) == old
    result = managed.run("update", "python", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_UPDATED_PYTHON"), result.finished
    assert python(managed) == new


def test_what_an_earlier_update_left_goes_once_nothing_refers_to_it(
    managed: Computer, server: IndexServer, interpreter_archive: InterpreterArchive, tmp_path: Path
) -> None:
    assert managed.run("update", "python", *offer(server)).code == 0
    (managed.root / "runtime" / "pylock.previous.toml").unlink()  # as after further changes
    before = interpreters(managed)
    (link,) = (name for name, target in before.items() if target is not None)
    later = interpreter_archive.later(tmp_path / "later")
    listed = later.downloads_json(tmp_path / "later.json")
    result = managed.run("update", "python", "--python-downloads-json", listed.as_uri())
    assert result.code == 0, result.finished
    assert python(managed) == later.version
    assert set(interpreters(managed)) == {link, interpreter_archive.key, later.key}
    assert (managed.root / "python" / link).resolve().name == later.key
    assert managed.run("undo", "--offline").code == 0
    assert python(managed) == interpreter_archive.version


@pytest.mark.parametrize("damage", ["hash", "start", "cancel"])
def test_where_the_newer_one_is_no_good_the_environment_stays_on_the_old_one(
    managed: Computer, interpreter_archive: InterpreterArchive, tmp_path: Path, damage: str
) -> None:
    before, old = interpreters(managed), python(managed)
    marker = sorted(path.name for path in (managed.root / ".venv").glob(".aml-ok-*"))
    archive = interpreter_archive.broken(tmp_path / "broken") if damage == "start" else interpreter_archive
    sha256 = "0" * 64 if damage == "hash" else None
    listed = archive.downloads_json(tmp_path / "newer.json", sha256=sha256)
    command = ("update", "python", "--python-downloads-json", listed.as_uri())
    if damage == "cancel":
        with managed.start(*command) as running:
            running.until("verify")
            assert running.cancel()["state"] == "cancelled"
    else:
        result = managed.run(*command)
        assert result.code == 1
        expected = {"hash": "AML_PYTHON_ALTERED", "start": "AML_UV_PYTHON_FAILED"}[damage]
        assert result.finished["code"] == expected, result.finished
    assert python(managed) == old
    assert sorted(path.name for path in (managed.root / ".venv").glob(".aml-ok-*")) == marker
    assert {name: target for name, target in interpreters(managed).items() if name in before} == before
    assert set(interpreters(managed)) == set(before) or damage == "cancel"
    assert not (managed.root / "runtime" / "pylock.next.toml").exists()
    assert managed.run("verify", "--deep").code == 0
    assert managed.run("undo").finished["code"] == "AML_NO_PREVIOUS_LOCK"


@pytest.mark.parametrize("step", ["install_python", "verify"])
def test_an_update_that_is_killed_leaves_the_old_one_and_can_be_done_again(
    managed: Computer, server: IndexServer, interpreter_archive: InterpreterArchive, step: str
) -> None:
    before, old = interpreters(managed), python(managed)
    with managed.start("update", "python", *offer(server)) as running:
        running.until(step)
        running.kill()
    assert python(managed) == old
    assert {name: target for name, target in interpreters(managed).items() if name in before} == before
    assert managed.run("verify").code == 0
    rebuilt = managed.run("rebuild", "--offline")
    assert rebuilt.code == 0, rebuilt.finished
    assert python(managed) == old
    result = managed.run("update", "python", *offer(server))
    assert (result.code, result.finished["code"]) == (0, "AML_UPDATED_PYTHON"), result.finished
    assert python(managed) == interpreter_archive.version
    assert managed.run("undo", "--offline").code == 0
    assert python(managed) == old


def test_a_repair_of_the_older_one_leaves_the_environment_on_it(managed: Computer, server: IndexServer) -> None:
    old = python(managed)
    assert managed.run("update", "python", *offer(server)).code == 0
    assert managed.run("undo").code == 0
    library = next((managed.root / ".venv" / "bin" / "python").resolve().parents[1].glob("lib/python3.*"))
    (library / "shutil.py").unlink()
    result = managed.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert result.states()["restore_python"] == "done"
    assert python(managed) == old
    assert managed.run("verify", "--deep").code == 0


def test_a_python_that_amlwizard_did_not_set_up_is_named_and_left_alone(installed: Computer) -> None:
    for options in ([], ["--check"]):
        result = installed.run("update", "python", *options)
        assert (result.code, result.finished["code"]) == (2, "AML_UPDATE_PYTHON_FOREIGN"), result.finished
    base = (installed.root / ".venv" / "bin" / "python").resolve()
    assert str(base) in result.finished["message"]


def test_without_a_working_environment_or_with_an_exact_choice_no_python_is_updated(managed: Computer) -> None:
    managed.extra["AML_UV_PYTHON"] = python(managed)
    pinned = managed.run("update", "python")
    assert (pinned.code, pinned.finished["code"]) == (2, "AML_UPDATE_PYTHON_PINNED"), pinned.finished
    del managed.extra["AML_UV_PYTHON"]
    shutil.rmtree(managed.root / ".venv")
    gone = managed.run("update", "python")
    assert (gone.code, gone.finished["code"]) == (2, "AML_UPDATE_NO_ENVIRONMENT"), gone.finished


def test_what_was_interrupted_is_mended_before_a_newer_python_is_looked_for(managed: Computer) -> None:
    workspace = Workspace(managed.root)
    workspace.venv.rename(workspace.aside)  # as a run does that then is killed
    result = managed.run("update", "python")
    assert (result.code, result.finished["code"]) == (0, "AML_UPDATE_NONE"), result.finished
    assert managed.run("verify").code == 0


def test_the_python_of_the_environment_itself_counts_where_the_workspace_uses_another_uv(
    managed: Computer, server: IndexServer, interpreter_archive: InterpreterArchive
) -> None:
    (managed.root / "tools" / "uv").unlink()
    assert managed.run("update", "python", *offer(server)).code == 0
    assert python(managed) == interpreter_archive.version
    assert managed.run("undo").code == 0
    (managed.root / "tools" / "uv").unlink()
    result = managed.run("update", "python", *offer(server))
    assert (result.code, result.finished["code"]) == (0, "AML_UPDATED_PYTHON"), result.finished
    assert python(managed) == interpreter_archive.version


def test_offline_a_newer_python_is_not_looked_for_elsewhere(managed: Computer, server: IndexServer) -> None:
    result = managed.run("update", "python", "--offline", *offer(server))
    assert (result.code, result.finished["code"]) == (2, "AML_UPDATE_OFFLINE"), result.finished
    assert server.requests() == []


# -- uv


@pytest.fixture
def older_uv(installed: Computer) -> Computer:
    """A computer whose workspace has a uv that says it is 0.13.2."""
    program = installed.root / "tools" / "uv"
    program.unlink()
    program.write_text(_says("0.13.2"))
    program.chmod(0o755)
    record = installed.root / "runtime" / "uv.json"
    known = json.loads(record.read_text())
    record.write_text(json.dumps({**known, "version": "0.13.2", "sha256": file_sha256(program)}))
    return installed


def _says(version: str) -> str:
    """Return a program in the place of uv that says to be a version, and does what the real one does."""
    real = shlex.quote(str(find_bundled_uv()))
    return f'#!/bin/sh\ncase "$*" in --version) echo "uv {version}"; exit 0;; esac\nexec {real} "$@"\n'


def uv_version(computer: Computer) -> str:
    """Return the version that the workspace's uv says."""
    program = computer.root / "tools" / "uv"
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


def offer_uv(computer: Computer, version: str, program: str) -> None:
    """Put a wheel of uv on the index."""
    tag = f"py3-none-manylinux_2_17_{platform.machine()}"
    files = {f"uv-{version}.data/scripts/uv": program.encode()}
    make_wheel(computer.wheels, "uv", version, tag=tag, files=files, console_script=False)


def test_uv_is_replaced_by_the_newer_copy_of_this_program(older_uv: Computer) -> None:
    program = find_bundled_uv()
    assert program is not None
    newer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    looked = older_uv.run("update", "uv", "--check", "--offline")
    assert looked.code == 0, looked.finished
    (told,) = changes(looked)
    assert told["uv"] == {"from": "0.13.2", "to": newer}
    assert looked.events[-1]["download_bytes"] == 0
    assert uv_version(older_uv) == "0.13.2"
    result = older_uv.run("update", "uv", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_UPDATED_UV"), result.finished
    assert changes(result) == [told]
    assert uv_version(older_uv) == newer
    record = json.loads((older_uv.root / "runtime" / "uv.json").read_text())
    assert (record["version"], record["method"]) == (newer, "bundled")
    assert older_uv.run("update", "uv", "--offline").finished["code"] == "AML_UPDATE_OFFLINE"
    assert older_uv.run("update", "uv").finished["code"] == "AML_UPDATE_NONE"
    assert older_uv.run("verify", "--deep").code == 0


def test_uv_comes_from_the_index_where_that_has_a_newer_one(older_uv: Computer) -> None:
    offer_uv(older_uv, "99.0", _says("99.0"))
    result = older_uv.run("update", "uv")
    assert (result.code, result.finished["code"]) == (0, "AML_UPDATED_UV"), result.finished
    assert uv_version(older_uv) == "99.0"
    record = json.loads((older_uv.root / "runtime" / "uv.json").read_text())
    assert (record["version"], record["method"]) == ("99.0", "index")
    assert older_uv.run("rebuild", "--offline").code == 0


@pytest.mark.parametrize("damage", ["start", "hash"])
def test_where_the_newer_uv_is_no_good_the_old_one_is_back(older_uv: Computer, damage: str) -> None:
    offer_uv(older_uv, "99.0", "#!/bin/sh\nexit 3\n" if damage == "start" else _says("99.0"))
    if damage == "hash":
        older_uv.index.fault("*/uv-*.whl", "corrupt")
    kept = [(path.name, path.read_bytes()) for path in sorted((older_uv.root / "tools").iterdir())]
    record = (older_uv.root / "runtime" / "uv.json").read_bytes()
    result = older_uv.run("update", "uv")
    expected = {"start": "AML_UV_DOES_NOT_RUN", "hash": "AML_HASH_MISMATCH"}[damage]
    assert (result.code, result.finished["code"]) == (1, expected), result.finished
    assert ".part" not in result.finished["message"]
    assert [(path.name, path.read_bytes()) for path in sorted((older_uv.root / "tools").iterdir())] == kept
    assert (older_uv.root / "runtime" / "uv.json").read_bytes() == record
    assert uv_version(older_uv) == "0.13.2"


def test_the_old_uv_is_in_place_until_the_newer_one_has_proven_to_start(older_uv: Computer) -> None:
    old = older_uv.root / "tools" / "uv"
    offer_uv(
        older_uv, "99.0", f"#!/bin/sh\ncp {shlex.quote(str(old))} {shlex.quote(str(older_uv.folder / 'seen'))}\nexit 3\n"
    )
    assert older_uv.run("update", "uv").finished["code"] == "AML_UV_DOES_NOT_RUN"
    assert _says("0.13.2") == (older_uv.folder / "seen").read_text() == old.read_text()


def test_a_uv_elsewhere_is_not_touched(without_uv: Computer) -> None:
    result = without_uv.run("update", "uv")
    assert (result.code, result.finished["code"]) == (2, "AML_UPDATE_UV_FOREIGN"), result.finished


@pytest.mark.parametrize("part", ["python", "uv"])
def test_without_a_workspace_nothing_is_updated(computer: Computer, part: str) -> None:
    for options in ([], ["--check"]):
        result = computer.run("update", part, *options)
        assert (result.code, result.finished["code"]) == (2, "AML_NO_WORKSPACE"), result.finished
    assert not computer.root.exists()
