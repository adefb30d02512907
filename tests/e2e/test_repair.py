"""Mending by the command line: real uv, real environments of tiny wheels, damage of every kind."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.sources import make_source
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer
    from tests.support.interpreter_archives import InterpreterArchive

pytestmark = pytest.mark.e2e


def site(computer: Computer) -> Path:
    """The folder of the installed packages."""
    return next((computer.root / ".venv" / "lib").glob("python*/site-packages"))


def assert_mended(computer: Computer) -> None:
    """The environment works and passes its check, and nothing came from the network."""
    assert computer.installed("tinya") == "2.0"
    assert computer.installed("tinyb") == "1.0"
    result = computer.run("verify")
    assert result.code == 0, result.finished
    assert computer.index.requests() == []
    assert not (computer.root / ".venv.staged").exists()
    assert not (computer.root / ".venv.old").exists()
    assert not (computer.root / "runtime" / "journal.json").exists()


def test_a_sound_environment_is_left_alone(installed: Computer) -> None:
    before = (installed.root / ".venv").stat().st_ino
    result = installed.run("repair")
    assert result.code == 0, result.finished
    assert result.finished["code"] == "AML_NOTHING_TO_REPAIR"
    assert result.finished["state"] == "ready"
    assert (installed.root / ".venv").stat().st_ino == before
    assert "inspect" in result.states()


@pytest.mark.parametrize("offline", [True, False])
def test_what_could_not_be_brought_back_is_named_at_the_end(installed: Computer, *, offline: bool) -> None:
    wheel = installed.root / "downloads" / "tinya-2.0-py3-none-any.whl"
    kept = wheel.rename(installed.folder / wheel.name)
    served = (installed.wheels / wheel.name).rename(installed.folder / "served.whl")
    result = installed.run("repair", *(["--offline"] if offline else []))
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIR_STORE_LACKS"), result.finished
    assert wheel.name in result.finished["message"]
    assert wheel.name in result.finished["detail"]
    assert not wheel.exists()
    (site(installed) / "tinyb" / "__init__.py").unlink()
    result = installed.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIR_STORE_LACKS"), result.finished
    assert result.states()["repair"] == "done"
    kept.rename(wheel)
    served.rename(installed.wheels / wheel.name)
    assert installed.run("repair").finished["code"] == "AML_NOTHING_TO_REPAIR"


@pytest.fixture
def afresh(computer: Computer) -> Computer:
    """The same, with a cache of uv's that holds the store's wheels for good."""
    computer.install("tinyb\n")
    computer.index.forget()
    return computer


def test_only_the_damaged_package_is_installed_again_and_what_the_user_added_stays(afresh: Computer) -> None:
    added = make_wheel(afresh.folder / "added", "tinyx")
    python = afresh.root / ".venv" / "bin" / "python"
    uv = afresh.root / "tools" / "uv"
    os.spawnv(os.P_WAIT, uv, ["uv", "pip", "install", "-q", "--no-config", "--offline", "-p", str(python), str(added)])
    damaged = site(afresh) / "tinya" / "__init__.py"
    sound = (site(afresh) / "tinyb" / "__init__.py").stat().st_ino
    with damaged.open("a") as stream:  # in place: the cache has the same file
        stream.write("# damage\n")
    assert afresh.run("verify").finished["state"] == "not_ready"
    result = afresh.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert result.finished["code"] == "AML_REPAIRED"
    assert result.states()["repair"] == "done"
    assert "build" not in result.states()
    assert "# damage" not in (site(afresh) / "tinya" / "__init__.py").read_text()
    assert (site(afresh) / "tinyb" / "__init__.py").stat().st_ino == sound
    assert (site(afresh) / "tinyx" / "__init__.py").is_file()
    assert_mended(afresh)


def test_a_damaged_package_that_the_user_added_leads_to_a_rebuild(installed: Computer) -> None:
    added = make_wheel(installed.folder / "added", "tinyx")
    python = installed.root / ".venv" / "bin" / "python"
    uv = installed.root / "tools" / "uv"
    os.spawnv(os.P_WAIT, uv, ["uv", "pip", "install", "-q", "--no-config", "--offline", "-p", str(python), str(added)])
    (site(installed) / "tinyx" / "__init__.py").unlink()
    result = installed.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert result.states()["build"] == "done"
    assert any("tinyx" in event["line"] for event in result.events if event["event"] == "log")
    assert_mended(installed)


@pytest.mark.parametrize("what", ["missing file", "record", "metadata", "duplicate", "all"])
def test_what_is_missing_comes_back(installed: Computer, what: str) -> None:
    info = site(installed) / "tinya-2.0.dist-info"
    match what:
        case "missing file":
            (site(installed) / "tinya" / "__init__.py").unlink()
        case "record":
            (info / "RECORD").unlink()
        case "metadata":
            shutil.rmtree(info)
        case "duplicate":
            shutil.copytree(info, site(installed) / "tinya-1.0.dist-info")
        case "all":
            shutil.rmtree(info)
            shutil.rmtree(site(installed) / "tinya")
            assert installed.run("detect").events[0]["environment"]["state"] == "damaged"
    found = installed.run("verify")
    assert (found.code, found.finished["code"]) == (3, "AML_VERIFY_FAILED")
    result = installed.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert result.states()["repair"] == "done"
    assert_mended(installed)


@pytest.mark.parametrize("what", ["python", "pyvenv.cfg", "marker", "all packages"])
def test_what_cannot_be_mended_is_rebuilt_from_the_store(installed: Computer, what: str) -> None:
    venv = installed.root / ".venv"
    match what:
        case "python":
            (venv / "bin" / "python").unlink()
        case "pyvenv.cfg":
            (venv / "pyvenv.cfg").unlink()
        case "marker":
            next(venv.glob(".aml-ok-*")).write_text("{")
        case "all packages":
            shutil.rmtree(site(installed))
    result = installed.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert result.states()["build"] == "done"
    assert_mended(installed)


def test_b66_a_moved_workspace_is_relinked_and_not_built_again(installed: Computer) -> None:
    before = sorted(path.name for path in site(installed).iterdir())
    moved = installed.folder / "elsewhere" / "moved aml"
    moved.parent.mkdir()
    installed.root.rename(moved)
    installed.extra["AML_ROOT"] = str(moved)
    detected = installed.run("detect").events[0]["environment"]
    assert detected["state"] == "moved"
    result = installed.run("repair", "--root", moved)
    assert result.code == 0, result.finished
    assert result.finished["code"] == "AML_REPAIRED"
    assert set(result.states()) == {"relink", "inspect"}
    environment = moved / ".venv"
    assert sorted(path.name for path in next((environment / "lib").glob("python*/site-packages")).iterdir()) == before
    again = installed.run("install", "--root", moved)
    assert again.finished["code"] == "AML_ALREADY_READY", again.finished
    assert installed.run("rebuild", "--offline", "--root", moved).code == 0
    assert installed.index.requests() == []
    assert not installed.root.exists()
    moved.rename(installed.root)
    result = installed.run("install", "--root", installed.root)
    assert result.code == 0, result.finished
    assert set(result.states()) == {"relink", "inspect"}


def test_what_pip_made_by_hand_works_after_a_move_as_well(installed: Computer) -> None:
    added = make_wheel(installed.folder / "added", "tinyx")
    installed.pip("install", "--no-index", added)
    script = installed.root / ".venv" / "bin" / "tinyx"
    assert str(installed.root) in script.read_text()
    moved = installed.folder / "moved"
    installed.root.rename(moved)
    assert installed.run("repair", "--root", moved).code == 0
    done = subprocess.run([moved / ".venv" / "bin" / "tinyx"], capture_output=True, text=True, check=True)
    assert done.stdout == "tinyx 1.0\n"
    assert installed.run("verify", "--root", moved).code == 0


def test_an_environment_that_cannot_be_moved_is_built_again(without_uv: Computer) -> None:
    moved = without_uv.folder / "moved"
    without_uv.root.rename(moved)
    result = without_uv.run("repair", "--root", moved)
    assert result.code == 0, result.finished
    assert result.states()["build"] == "done"
    assert without_uv.run("verify", "--root", moved).code == 0


@pytest.mark.parametrize("state", ["absent", "stale", "unfinished"])
def test_what_was_never_finished_is_installed_by_the_usual_steps(installed: Computer, state: str) -> None:
    venv = installed.root / ".venv"
    match state:
        case "absent":
            shutil.rmtree(venv)
        case "stale":
            installed.requirements("tinyb\ntinya==1.0\n")
        case "unfinished":
            venv.rename(installed.root / ".venv.old")
            (installed.root / ".venv.old" / "pyvenv.cfg").unlink()
    assert installed.run("detect").events[0]["environment"]["state"] == state
    result = installed.run("repair")
    assert result.code == 0, result.finished
    assert result.states()["build"] == "done"
    assert installed.run("verify").code == 0
    assert installed.installed("tinya") == ("1.0" if state == "stale" else "2.0")


@pytest.mark.posix
@pytest.mark.parametrize(
    ("named", "harm"),
    [
        ("a wheel", "none"),
        ("a wheel", "a file"),
        ("a wheel", "all of it"),
        ("a folder", "a file"),
        ("a folder", "pyvenv.cfg"),
        ("links", "none"),
        ("a folder by hand", "pyvenv.cfg"),
    ],
)
def test_what_was_installed_from_a_place_that_is_gone_comes_from_the_store(
    computer: Computer, named: str, harm: str
) -> None:
    place = computer.folder / "place"
    wheel = make_wheel(place, "tinyl")
    source = make_source(place / "source", "tinyl", "1.0", notes=computer.folder / "notes.txt")
    lines = {"a wheel": f"{wheel}\n", "a folder": f"{source}\n", "links": f"--find-links {place}\ntinyl\n"}
    computer.install("tinyb\n" + lines.get(named, ""))
    if named not in lines:
        computer.pip_install("--no-build-isolation", source)
        assert computer.run("rebuild").code == 0
    shutil.rmtree(place)
    match harm:
        case "a file":
            (site(computer) / "tinyl" / "__init__.py").unlink()
        case "pyvenv.cfg":
            (computer.root / ".venv" / "pyvenv.cfg").unlink()
        case "all of it":
            shutil.rmtree(computer.root / ".venv")
    computer.index.forget()
    result = computer.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert computer.installed("tinyl") == "1.0"
    assert_mended(computer)
    rebuilt = computer.run("rebuild", "--offline")
    assert rebuilt.code == 0, rebuilt.finished
    assert computer.installed("tinyl") == "1.0"


def test_an_environment_that_no_lock_tells_of_does_not_turn_into_another_one(installed: Computer) -> None:
    lock = installed.root / "runtime" / "pylock.toml"
    lock.unlink()
    result = installed.run("repair", "--offline")  # that of the installed files tells the same
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert installed.installed("tinyb") == "1.0"
    for harm in (None, site(installed) / "tinya" / "__init__.py"):
        lock.unlink()
        lock.with_name("pylock.local.toml").unlink(missing_ok=True)
        if harm is not None:
            harm.unlink()
        result = installed.run("repair", "--offline")
        assert (result.code, result.finished["code"]) == (2, "AML_LOCK_LOST"), result.finished
        assert installed.installed("tinyb") == "1.0"
        lock.touch()


def test_a_cancelled_repair_leaves_what_was_there(installed: Computer) -> None:
    (site(installed) / "tinya" / "__init__.py").unlink()
    before = (installed.root / ".venv").stat().st_ino
    with installed.start("repair", "--offline") as running:
        running.until("repair")
        finished = running.cancel()
    assert running.process.returncode == 130
    assert finished["code"] == "AML_CANCELLED"
    assert finished["environment"]["state"] == "ready"  # as far as can be seen without a proof
    assert (installed.root / ".venv").stat().st_ino == before
    assert not (installed.root / ".venv.staged").exists()
    assert not (installed.root / "runtime" / "journal.json").exists()
    assert installed.run("repair", "--offline").code == 0
    assert_mended(installed)


def test_a_python_of_the_settings_does_not_turn_a_repair_into_something_else(installed: Computer) -> None:
    installed.extra["AML_UV_PYTHON"] = "3.99"
    digest = next((installed.root / ".venv").glob(".aml-ok-*")).name
    (site(installed) / "tinya" / "__init__.py").unlink()
    (installed.root / "tools" / "uv").unlink()
    result = installed.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert result.states()["repair"] == "done"
    assert next((installed.root / ".venv").glob(".aml-ok-*")).name == digest
    del installed.extra["AML_UV_PYTHON"]
    assert_mended(installed)


@pytest.mark.parametrize("required", [False, True])
def test_a_file_of_this_computer_that_is_gone_is_named_with_the_way_out(computer: Computer, *, required: bool) -> None:
    file = make_wheel(computer.folder / "elsewhere", "tinyelse", "3.0")
    if required:
        computer.install(f"tinya\n./elsewhere/{file.name}\n")
    else:
        computer.install("tinya\n")
        assert computer.run("add", f"tinyelse @ {file.as_uri()}").code == 0
    kept = file.rename(computer.folder / file.name)
    stored = computer.root / "downloads" / file.name
    fetched = computer.root / "downloads" / "tinya-2.0-py3-none-any.whl"
    way = "out of the requirements" if required else "amlwizard remove tinyelse"
    code = "AML_REQUIRED_FILE_GONE" if required else "AML_ADDED_FILE_GONE"
    stored.unlink()
    fetched.unlink()
    before = (computer.root / ".venv").stat().st_ino
    sound = computer.run("repair")
    assert (sound.code, sound.finished["code"]) == (0, "AML_REPAIR_FILE_GONE"), sound.finished
    assert str(file) in sound.finished["message"]
    assert way in sound.finished["hint"]
    assert fetched.exists()  # what can be fetched is
    for command in (["rebuild"], ["rebuild", "--offline"]):
        result = computer.run(*command)
        assert (result.code, result.finished["code"]) == (1, code), result.finished
        assert str(file) in result.finished["message"]
        assert way in result.finished["hint"]
    assert computer.run("verify").code == 0
    module = site(computer) / "tinyelse" / "__init__.py"
    module.rename(computer.folder / "kept.py")
    for command in (["repair"], ["repair", "--offline"]):
        result = computer.run(*command)
        assert (result.code, result.finished["code"]) == (1, code), result.finished
        assert str(file) in result.finished["message"]
        assert way in result.finished["hint"]
    assert (computer.root / ".venv").stat().st_ino == before
    kept.rename(file)
    result = computer.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert module.exists()
    assert stored.exists()


def test_a_package_whose_file_is_gone_is_taken_out_also_where_the_environment_is_lost(computer: Computer) -> None:
    computer.install("tinya\n")
    file = make_wheel(computer.folder / "elsewhere", "tinyelse", "3.0")
    assert computer.run("add", f"tinyelse @ {file.as_uri()}").code == 0
    file.unlink()
    (computer.root / "downloads" / file.name).unlink()
    shutil.rmtree(computer.root / ".venv")
    result = computer.run("repair")
    assert (result.code, result.finished["code"]) == (1, "AML_ADDED_FILE_GONE"), result.finished
    assert not (computer.root / ".venv").exists()
    assert computer.run("remove", "tinyelse").code == 0
    assert computer.installed("tinya") == "2.0"


@pytest.mark.parametrize("damaged", [True, False])
def test_a_wheel_that_only_the_store_had_is_told_as_lost(computer: Computer, *, damaged: bool) -> None:
    computer.install("tinya\n")
    file = make_wheel(computer.folder / "elsewhere", "tinyx")
    computer.pip("install", file)
    assert computer.run("rebuild").code == 0
    file.unlink()
    stored = computer.root / "downloads" / file.name
    if damaged:
        stored.write_bytes(stored.read_bytes()[:-1] + b"x")
    else:
        stored.unlink()
    deep = computer.run("verify", "--deep")
    assert (deep.code, deep.finished["code"]) == (3, "AML_STORE_DAMAGED"), deep.finished
    assert "amlwizard remove tinyx" in deep.finished["hint"]
    assert "network" not in deep.finished["hint"]
    for command, code in (("repair", "AML_REPAIR_FILE_GONE"), ("rebuild", "AML_ADDED_FILE_GONE")):
        result = computer.run(command)
        assert result.finished["code"] == code, result.finished
        assert str(stored) in result.finished["message"]
        assert ("damaged" in result.finished["message"]) == damaged
        assert "amlwizard remove tinyx" in result.finished["hint"]


def test_what_a_lock_without_addresses_lacks_is_told_with_the_way_to_have_it_again(computer: Computer) -> None:
    computer.install("tinyb\n")
    lock = computer.root / "runtime" / "pylock.toml"
    lock.write_text("lock-version = ")
    assert computer.run("repair").finished["code"] == "AML_REPAIRED"
    assert "http" not in lock.read_text().partition("[tool")[0]
    stored = computer.root / "downloads" / "tinya-2.0-py3-none-any.whl"
    kept = stored.rename(computer.folder / stored.name)
    assert "amlwizard rebuild --refresh" in computer.run("verify", "--deep").finished["hint"]
    for command, code in (("repair", "AML_REPAIR_FILE_GONE"), ("rebuild", "AML_STORE_FILE_LOST")):
        result = computer.run(command)
        assert result.finished["code"] == code, result.finished
        assert stored.name in result.finished["message"]
        assert "amlwizard rebuild --refresh" in result.finished["hint"]
        assert str(stored.parent) in result.finished["hint"]
    kept.rename(stored)
    assert computer.run("rebuild", "--offline").code == 0
    stored.unlink()
    assert computer.run("rebuild", "--refresh").code == 0
    assert f"/packages/{stored.name}" in lock.read_text()


def test_what_a_bundle_brought_is_to_be_had_from_it_again(
    computer: Computer, interpreter_archive: InterpreterArchive
) -> None:
    computer.install("tinyb\n")
    listed = interpreter_archive.downloads_json(computer.folder / "downloads.json").as_uri()
    bundle = computer.folder / "tiny.amlbundle"
    assert computer.run("bundle", "create", bundle, "--python-downloads-json", listed).code == 0
    shutil.rmtree(computer.root)
    assert computer.run("install", "--bundle", bundle).code == 0
    (computer.root / "downloads" / "tinya-2.0-py3-none-any.whl").unlink()
    result = computer.run("rebuild")
    assert (result.code, result.finished["code"]) == (1, "AML_STORE_FILE_LOST"), result.finished
    assert "amlwizard rebuild --bundle FILE" in result.finished["hint"]
    assert computer.run("rebuild", "--bundle", bundle).code == 0
    assert computer.run("rebuild", "--offline").code == 0
