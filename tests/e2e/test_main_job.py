"""The main job by the command line: real uv, real children, an index on loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import psutil
import pytest

from amlwizard.core.plan import STEP_IDS
from tests.e2e.conftest import REPOSITORY
from tests.support.processes import is_alive
from tests.support.wheels import sha256_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result
    from tests.support.interpreter_archives import InterpreterArchive
    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.e2e


def test_from_a_bare_folder_to_a_verified_environment(computer: Computer) -> None:
    result = computer.run("install", "--requirements", computer.requirements("tinyb\n"))
    assert result.code == 0, result.finished
    assert result.finished["state"] == "ready"
    assert result.finished["packages"] == 2
    assert result.finished["python"] == str(computer.root / ".venv" / "bin" / "python")
    states = result.states()
    assert set(states) == set(STEP_IDS)
    assert states.pop("install_python") == "skipped"
    assert set(states.values()) == {"done"}
    assert [event["event"] for event in result.events][:2] == ["detected", "plan"]
    assert computer.installed("tinya") == "2.0"
    assert computer.installed("tinyb") == "1.0"
    assert len(list((computer.root / ".venv").glob(".aml-ok-*"))) == 1
    assert not (computer.root / ".venv.staged").exists()
    assert not (computer.root / ".venv.old").exists()
    assert not list((computer.root / "runtime").glob("tmp/*"))
    lines = [event["line"] for event in result.events if event["event"] == "log"]
    assert not [line for line in lines if "experimental" in line]
    record = json.loads((computer.root / "runtime" / "uv.json").read_text())
    assert record["method"] == "bundled"
    assert (computer.root / "runtime" / "kit" / "amlkit.py").is_file()


def test_install_on_a_ready_workspace_does_nothing(older: Computer) -> None:
    wanted = older.requirements("tinya==1.0\n")
    before = sorted(path for path in older.root.rglob("*"))
    result = older.run("install", "--requirements", wanted)
    assert result.code == 0
    assert result.finished["state"] == "ready"
    assert result.states() == {}
    assert older.index.requests() == []
    assert sorted(path for path in older.root.rglob("*")) == before


def test_a_ready_environment_on_the_interpreter_named_by_its_path_is_not_built_again(older: Computer) -> None:
    wanted = older.requirements("tinya==1.0\n")
    base = (older.root / ".venv" / "bin" / "python").resolve()
    result = older.run("install", "--requirements", wanted, "--python", base)
    assert result.code == 0
    assert result.states() == {}


def test_a_changed_requirement_replaces_the_environment(older: Computer) -> None:
    assert older.installed("tinya") == "1.0"
    assert older.run("install", "--requirements", older.requirements("tinya==2.0\n")).code == 0
    assert older.installed("tinya") == "2.0"
    previous = (older.root / "runtime" / "pylock.previous.toml").read_text()
    assert "tinya-1.0" in previous


def test_a_run_that_ended_between_exchange_and_locks_is_finished_by_the_next(older: Computer) -> None:
    assert older.run("install", "--requirements", older.requirements("tinya==2.0\n")).code == 0
    runtime = older.root / "runtime"
    (runtime / "pylock.toml").rename(runtime / "pylock.next.toml")
    (runtime / "pylock.previous.toml").rename(runtime / "pylock.toml")
    result = older.run("rebuild", "--offline")
    assert result.code == 0, result.finished
    assert older.installed("tinya") == "2.0"
    assert "tinya-2.0" in (runtime / "pylock.toml").read_text()
    assert "tinya-1.0" in (runtime / "pylock.previous.toml").read_text()
    assert not (runtime / "pylock.next.toml").exists()


def test_verify_and_rebuild_without_a_network(installed: Computer, circumstances: type[Circumstances]) -> None:
    lock = (installed.root / "runtime" / "pylock.toml").read_text()
    prefix = circumstances(network=False).command([])
    result = installed.run("rebuild", "--offline", prefix=prefix)
    assert result.code == 0, result.finished
    assert result.finished["state"] == "done"
    assert (installed.root / "runtime" / "pylock.toml").read_text() == lock
    result = installed.run("verify", prefix=prefix)
    assert result.code == 0, result.finished
    assert result.finished["state"] == "ready"


def test_verify_finds_a_changed_file(older: Computer) -> None:
    (module,) = (older.root / ".venv").glob("lib/*/site-packages/tinya/__init__.py")
    with module.open("a") as stream:
        stream.write("# changed\n")
    result = older.run("verify")
    assert result.code == 3
    assert result.finished["state"] == "not_ready"
    assert result.finished["code"] == "AML_VERIFY_FAILED"
    assert "tinya" in result.finished["message"]


def test_a_package_that_does_not_exist_is_named(computer: Computer) -> None:
    result = computer.run("install", "--requirements", computer.requirements("tinya\nno-such-thing\n"))
    assert result.code == 1
    assert result.finished["code"] == "AML_PACKAGE_NOT_FOUND"
    assert "no-such-thing" in result.finished["message"]
    assert not (computer.root / "runtime" / "pylock.next.toml").exists()
    assert not (computer.root / ".venv").exists()


def test_an_index_that_refuses_is_named(computer: Computer) -> None:
    computer.hurried = True
    computer.extra["AML_INDEX_URL"] = "http://127.0.0.1:9/simple/"
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert result.code == 1
    assert result.finished["code"] == "AML_INDEX_REFUSED"
    assert "127.0.0.1:9" in result.finished["message"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--requirements", "missing.txt"], "AML_REQUIREMENTS_MISSING"),
        (["--profile", "nothing"], "AML_PROFILE_UNKNOWN"),
        (["--python", "3.x"], "AML_PYTHON_VERSION_INVALID"),
        (["--python", "3.99"], "AML_PYTHON_VERSION_UNAVAILABLE"),
        (["--python", "3.10", "--profile", "minimal"], "AML_PYTHON_NOT_IN_RANGE"),
        (["--index-url", "not an address"], "AML_INDEX_URL_INVALID"),
    ],
)
def test_bad_input_is_refused_before_anything_is_changed(computer: Computer, arguments: list[str], code: str) -> None:
    if "--profile" not in arguments and "--requirements" not in arguments:
        arguments = [*arguments, "--requirements", str(computer.requirements("tinya\n"))]
    result = computer.run("install", *arguments)
    assert result.code == 2
    assert result.finished["state"] == "refused"
    assert result.finished["code"] == code
    assert result.finished["message"]
    assert result.finished["hint"]
    assert not computer.root.exists()


@pytest.mark.parametrize("command", ["plan", "install"])
@pytest.mark.parametrize(
    ("line", "method", "code"),
    [
        ("--frobnicate x", "auto", "AML_REQUIREMENTS_OPTION_UNKNOWN"),
        ("--frobnicate x", "none", "AML_REQUIREMENTS_OPTION_UNKNOWN"),
        ("tinyb -C x=y", "auto", "AML_REQUIREMENTS_OPTION"),
    ],
)
def test_a_file_that_cannot_be_resolved_is_refused_at_once(
    computer: Computer, command: str, line: str, method: str, code: str
) -> None:
    file = computer.requirements(f"tinya\n{line}\n")
    result = computer.run(command, "--requirements", file, "--uv-method", method)
    assert (result.code, result.finished["code"]) == (2, code)
    assert result.states() == {}
    assert not computer.root.exists()


@pytest.mark.parametrize("command", ["plan", "install"])
def test_a_lock_without_packages_is_refused(computer: Computer, command: str) -> None:
    lock = computer.folder / "pylock.toml"
    lock.write_text('lock-version = "1.0"\ncreated-by = "tests"\npackages = []\n')
    result = computer.run(command, "--requirements", lock)
    assert (result.code, result.finished["code"]) == (2, "AML_LOCK_EMPTY")
    assert not computer.root.exists()


def test_requirements_of_which_none_is_meant_for_this_system_are_named(computer: Computer) -> None:
    result = computer.run("install", "--requirements", computer.requirements('tinya; python_version < "3"\n'))
    assert (result.code, result.finished["code"]) == (1, "AML_NOTHING_TO_INSTALL")
    assert str(computer.folder / "requirements.txt") in result.finished["message"]
    assert not (computer.root / ".venv").exists()


def test_a_rebuild_where_no_lock_tells_what_is_refused(computer: Computer) -> None:
    result = computer.run("rebuild")
    assert (result.code, result.finished["code"]) == (2, "AML_NOTHING_TO_REBUILD")
    assert not computer.root.exists()
    assert computer.run("install", "--requirements", computer.requirements("tinya==1.0\n")).code == 0
    (computer.root / "runtime" / "pylock.toml").write_text("lost")
    result = computer.run("rebuild")
    assert (result.code, result.finished["code"]) == (2, "AML_LOCK_DAMAGED")
    assert computer.installed("tinya") == "1.0"
    assert computer.run("rebuild", "--requirements", computer.requirements("tinya==2.0\n")).code == 0


@pytest.mark.parametrize("command", ["plan", "install"])
def test_what_cannot_be_had_offline_is_named_before_anything_is_announced(computer: Computer, command: str) -> None:
    result = computer.run(command, "--offline", "--profile", "minimal")
    assert (result.code, result.finished["code"]) == (1, "AML_STORE_INCOMPLETE")
    assert "numpy" in result.finished["detail"]
    assert not [event for event in result.events if event["event"] in {"plan", "step"}]


def test_an_offline_plan_downloads_nothing_and_names_a_lost_file(computer: Computer) -> None:
    wanted = ("--requirements", computer.requirements("tinyb\n"), "--offline")
    planned = computer.run("plan", *wanted)  # what uv's cache holds is not known before it is asked
    assert (planned.code, planned.events[-1]["download_bytes"], planned.events[-1]["hosts"]) == (0, 0, [])
    assert computer.run("install", *wanted[:2]).code == 0
    (lost,) = (computer.root / "downloads").glob("tinya-*.whl")
    lost.unlink()
    assert computer.run("plan", *wanted).events[-1]["steps"] == []  # as install has nothing to do
    shutil.rmtree(computer.root / ".venv")
    for command in ("plan", "rebuild"):
        result = computer.run(command, *wanted)
        assert (result.code, result.finished["code"]) == (1, "AML_STORE_INCOMPLETE")
        assert lost.name in result.finished["message"]
        assert result.states() == {}


def test_a_root_that_is_a_file_is_refused(computer: Computer) -> None:
    computer.root.write_text("mine")
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert result.code == 2
    assert result.finished["code"] == "AML_ROOT_IS_FILE"
    assert computer.root.read_text() == "mine"


def test_plan_and_detect_write_nothing(computer: Computer) -> None:
    planned = computer.run("plan", "--requirements", computer.requirements("tinya\n"))
    assert planned.code == 0
    plan = planned.events[-1]
    assert plan["event"] == "plan"
    assert [step["id"] for step in plan["steps"]] == [step for step in STEP_IDS if step != "install_python"]
    assert plan["download_bytes"] is None
    assert computer.run("detect").code == 0
    assert not computer.root.exists()
    assert list((computer.folder / "home").iterdir()) == []


@pytest.mark.parametrize("kind", ["lock", "folder"])
def test_plan_names_no_host_where_everything_lies_on_this_computer(computer: Computer, kind: str) -> None:
    wheel = computer.wheels / "tinya-2.0-py3-none-any.whl"
    wanted = computer.requirements(f"--no-index\n--find-links {computer.wheels}\ntinya\n")
    if kind == "lock":
        wanted = computer.folder / "pylock.toml"
        files = f'[{{url = "{wheel.as_uri()}", hashes = {{sha256 = "{sha256_of(wheel)}"}}}}]'
        packages = f'[[packages]]\nname = "tinya"\nversion = "2.0"\nwheels = {files}\n'
        wanted.write_text(f'lock-version = "1.0"\ncreated-by = "hand"\n{packages}')
    planned = computer.run("plan", "--requirements", wanted)
    assert (planned.code, planned.events[-1]["hosts"]) == (0, [])
    assert "resolve" in [step["id"] for step in planned.events[-1]["steps"]]
    result = computer.run("install", "--requirements", wanted)
    assert result.code == 0, result.finished
    assert [event["hosts"] for event in result.events if event["event"] == "plan"] == [[], []]
    assert computer.index.requests() == []
    index = f"127.0.0.1:{computer.index.port}"
    of_uv = computer.run("plan", "--root", computer.folder / "other", "--requirements", wanted, "--uv-method", "index")
    assert of_uv.events[-1]["hosts"] == [index]


def test_plan_has_nothing_to_do_where_an_installation_has_not(older: Computer) -> None:
    wanted = ("--requirements", older.requirements("tinya==1.0\n"))
    for arguments in ((), wanted):
        assert older.run("install", *arguments).finished["code"] == "AML_ALREADY_READY"
        plan = older.run("plan", *arguments).events[-1]
        assert (plan["event"], plan["steps"], plan["replaces"], plan["writes"]) == ("plan", [], [], [])
        assert (plan["download_bytes"], plan["disk_bytes"], plan["hosts"]) == (0, 0, [])
    argv = [*older.argv("plan")[:-1]]
    said = subprocess.run(argv, cwd=REPOSITORY, env=older.environ, capture_output=True, text=True, check=True).stdout
    assert "There is nothing to do." in said
    older.requirements("tinya==2.0\n")
    assert "build" in [step["id"] for step in older.run("plan", *wanted).events[-1]["steps"]]


def test_cancel_ends_every_process_and_keeps_the_old_environment(older: Computer) -> None:
    older.index.fault("/files/*tinya-2.0*", "stall")
    older.index.fault("*tinya-2.0*", "stall")
    with older.start("install", "--requirements", older.requirements("tinya==2.0\n")) as running:
        running.until("resolve")
        children = psutil.Process(running.process.pid).children(recursive=True)
        finished = running.cancel()
    assert running.process.returncode == 130
    assert finished["state"] == "cancelled"
    assert finished["code"] == "AML_CANCELLED"
    assert not [process for process in children if is_alive(process.pid)]
    assert older.installed("tinya") == "1.0"


@pytest.mark.linux
def test_an_interpreter_is_set_up_where_there_is_none(
    computer: Computer, interpreter_archive: InterpreterArchive, own_python: Path, circumstances: type[Circumstances]
) -> None:
    hidden = computer.leave_no_python(own_python)  # the bundled uv stays
    listed = interpreter_archive.downloads_json(computer.folder / "downloads.json")
    result = computer.run(
        "install",
        *("--requirements", computer.requirements("tinya\n"), "--python-downloads-json", listed.as_uri()),
        *("--python", interpreter_archive.minor),
        prefix=circumstances(hidden=hidden).command([]),
    )
    assert result.code == 0, result.finished
    assert result.states()["install_python"] == "done"
    detected = next(event for event in result.events if event["event"] == "detected")
    assert detected["python"] is None
    real = (computer.root / ".venv" / "bin" / "python").resolve()
    assert real.is_relative_to(computer.root / "python")


def test_a_login_in_the_requirements_file_serves_for_the_files_as_well_and_is_kept_nowhere(computer: Computer) -> None:
    computer.index.fault("*", "auth")
    address = computer.index.index_url.replace("http://", "http://user:secret@")
    computer.extra["TOKEN"] = "secret"
    wheel = f"{computer.index.url}/packages/tinyb-1.0-py3-none-any.whl".replace("http://", "http://user:${TOKEN}@")
    wanted = computer.requirements(f"--index-url {address}\ntinya\ntinyb @ {wheel}\n")
    result = computer.run("install", "--requirements", wanted)
    assert result.code == 0, result.finished
    assert "secret" not in json.dumps(result.events) + result.stderr
    files = [file for file in computer.root.rglob("*") if file.is_file() and not file.is_symlink()]
    assert [file for file in files if b"user:secret" in file.read_bytes()] == []


def test_a_login_in_the_requirements_file_serves_a_repair_as_well(computer: Computer) -> None:
    computer.index.fault("*", "auth")
    address = computer.index.index_url.replace("http://", "http://user:secret@")
    wanted = computer.requirements(f"--index-url {address}\ntinya\n")
    assert computer.run("install", "--requirements", wanted).code == 0
    wheel = computer.root / "downloads" / "tinya-2.0-py3-none-any.whl"
    wheel.unlink()
    result = computer.run("repair")
    assert result.code == 0, result.finished
    assert wheel.is_file()
    assert "secret" not in json.dumps(result.events) + result.stderr


def _plans(result: Result) -> list[int | None]:
    return [event["download_bytes"] for event in result.events if event["event"] == "plan"]


def test_sizes_that_the_index_does_not_tell_are_asked_for(computer: Computer) -> None:
    computer.index.fault("/simple/*", "no-sizes")
    result = computer.run("install", "--requirements", computer.requirements("tinyb\n"))
    assert result.code == 0, result.finished
    wheels = [computer.wheels / "tinya-2.0-py3-none-any.whl", computer.wheels / "tinyb-1.0-py3-none-any.whl"]
    assert _plans(result) == [None, sum(wheel.stat().st_size for wheel in wheels)]
    asked = computer.index.requests("/packages/*.whl", "HEAD")
    assert sorted(request.path for request in asked) == [f"/packages/{wheel.name}" for wheel in wheels]


def test_a_size_that_cannot_be_had_stays_unknown_and_stops_nothing(computer: Computer) -> None:
    computer.index.fault("/simple/*", "no-sizes")
    # uv reads metadata of its own address, so that the first request for the wheel itself is ours
    computer.index.fault("/packages/tinya-2.0-py3-none-any.whl", "403", times=1)
    result = computer.run("install", "--requirements", computer.requirements("tinyb\n"))
    assert result.code == 0, result.finished
    assert _plans(result) == [None, None]


def test_a_rebuild_needs_the_lock_alone_although_the_requirements_file_is_gone(older: Computer) -> None:
    file = older.folder / "requirements.txt"
    lock = (older.root / "runtime" / "pylock.toml").read_text()
    file.unlink()
    result = older.run("rebuild", "--offline")
    assert result.code == 0, result.finished
    assert older.installed("tinya") == "1.0"
    assert (older.root / "runtime" / "pylock.toml").read_text() == lock
    assert older.run("install").finished["code"] == "AML_ALREADY_READY"


def test_a_rebuild_without_a_word_follows_the_lock_although_the_file_has_changed(older: Computer) -> None:
    file = older.folder / "requirements.txt"
    for changed in ("tinya==2.0\n", "this is no requirement\n"):
        file.write_text(changed)
        result = older.run("rebuild", "--offline")
        assert result.code == 0, result.finished
        assert result.states()["resolve"] == "skipped"
        assert older.installed("tinya") == "1.0"
        assert older.run("verify").code == 0
    file.write_text("tinya==2.0\n")
    assert older.run("rebuild", "--refresh").code == 0
    assert older.installed("tinya") == "2.0"


def test_a_refresh_names_the_requirements_file_that_is_gone(older: Computer) -> None:
    file = older.folder / "requirements.txt"
    file.unlink()
    result = older.run("rebuild", "--refresh")
    assert result.code == 2
    assert result.finished["code"] == "AML_REQUIREMENTS_MISSING"
    assert str(file) in result.finished["message"]
    assert older.installed("tinya") == "1.0"
