"""What is said of an environment, how deep it is looked at, and the way back to the lock before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.journal import Action, Journal, write_journal
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_use
from tests.e2e.conftest import REPOSITORY
from tests.net.support import wait_until
from tests.support.namespaces import SmallFileSystem
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer
    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.e2e


@pytest.fixture
def installed(older: Computer) -> Computer:
    """The computer of all these tests."""
    return older


def environment(computer: Computer) -> dict[str, str]:
    """What ``detect`` says of the environment."""
    found: dict[str, str] = computer.run("detect").events[0]["environment"]
    return found


def test_state_reason_and_action_are_told(installed: Computer) -> None:
    assert environment(installed)["action"] == "none"
    verified = installed.run("verify").finished
    assert verified["environment"]["state"] == "ready"
    (installed.root / ".venv" / "pyvenv.cfg").unlink()
    told = environment(installed)
    assert (told["state"], told["action"]) == ("damaged", "repair")
    assert "pyvenv.cfg" in told["reason"]
    result = installed.run("verify")
    assert result.code == 3
    assert result.finished["environment"] == {key: told[key] for key in ("state", "reason", "action")}
    assert "amlwizard repair" in result.finished["hint"]
    text = subprocess.run(
        [*installed.argv("detect")[:-1]], cwd=REPOSITORY, env=installed.environ, capture_output=True, text=True, check=True
    ).stdout
    assert "amlwizard repair" in text


def test_what_only_a_proof_finds_is_damage_as_well(installed: Computer) -> None:
    next((installed.root / ".venv").glob("lib/*/site-packages/tinya/__init__.py")).write_text("")
    finished = installed.run("verify").finished
    assert finished["code"] == "AML_VERIFY_FAILED"
    assert (finished["environment"]["state"], finished["environment"]["action"]) == ("damaged", "repair")


def test_a_changed_wish_is_stale_and_installed(installed: Computer) -> None:
    installed.requirements("tinya==2.0\n")
    told = environment(installed)
    assert (told["state"], told["action"]) == ("stale", "install")


def test_b83_a_change_in_a_nested_file_is_told_and_installed(installed: Computer) -> None:
    nested = installed.folder / "sub"
    nested.mkdir()
    (nested / "base.txt").write_text("tinya\n")
    (nested / "limits.txt").write_text("tinya<2\n")
    (nested / "dev.txt").write_text("-r base.txt\n-c limits.txt\n")
    installed.install("-r sub/dev.txt\n")
    assert environment(installed)["state"] == "ready"
    (nested / "limits.txt").write_text("tinya<2  # a comment alone\n")
    assert environment(installed)["state"] == "ready"
    (nested / "limits.txt").write_text("tinya<3\n")
    assert environment(installed)["state"] == "stale"
    installed.install("-r sub/dev.txt\n")
    assert environment(installed)["state"] == "ready"
    (nested / "base.txt").write_text("tinya<2\n")
    assert environment(installed)["state"] == "stale"
    installed.install("-r sub/dev.txt\n")
    assert installed.installed("tinya") == "1.0"


def test_the_lock_is_told_and_can_be_expected(installed: Computer) -> None:
    lock = installed.run("verify").finished["lock"]
    assert installed.run("verify", "--expect", lock).code == 0
    assert installed.run("verify", "--expect", lock.upper()).code == 0
    other = "0" * 64
    result = installed.run("verify", "--expect", other)
    assert result.code == 3
    assert result.finished["state"] == "not_ready"
    assert result.finished["code"] == "AML_LOCK_DIFFERS"
    assert lock in result.finished["message"]
    assert other in result.finished["message"]
    assert installed.run("verify", "--expect", "abc").finished["code"] == "AML_USAGE_HASH"


@pytest.mark.parametrize("what", ["wheel", "uv"])
def test_a_deep_look_finds_what_the_next_repair_would_need(installed: Computer, what: str) -> None:
    assert installed.run("verify", "--deep").code == 0
    (wheel,) = (installed.root / "downloads").glob("tinya-*.whl")
    file = wheel if what == "wheel" else installed.root / "tools" / "uv"
    with file.open("ab") as stream:
        stream.write(b"\0")
    assert installed.run("verify").code == 0
    result = installed.run("verify", "--deep")
    assert result.code == 3
    assert result.finished["code"] == "AML_STORE_DAMAGED"
    assert installed.run("repair").finished["code"] == "AML_REPAIRED"
    assert installed.run("verify", "--deep").code == 0


@pytest.mark.posix
def test_b70_a_uv_that_vanished_or_was_changed_is_named_and_set_up_anew(installed: Computer) -> None:
    uv = installed.root / "tools" / "uv"
    whole = uv.read_bytes()

    def rebuild() -> None:
        result = installed.run("rebuild")
        assert result.code == 0, result.finished
        assert result.states()["install_uv"] == "done"
        assert any("security product" in event["line"] for event in result.events if event["event"] == "log")
        assert uv.read_bytes() == whole
        assert os.access(uv, os.X_OK)

    uv.unlink()
    rebuild()
    uv.write_bytes(b"")
    rebuild()
    uv.write_bytes(whole + b"\0")
    rebuild()
    uv.chmod(0o000)
    result = installed.run("rebuild")
    assert result.code == 0, result.finished
    assert os.access(uv, os.X_OK)


def test_b62_a_half_made_environment_is_not_taken_for_a_good_one(installed: Computer) -> None:
    venv = installed.root / ".venv"
    for path in sorted(venv.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to(sys.executable)
    (venv / "pyvenv.cfg").touch()
    assert environment(installed)["state"] == "damaged"
    assert installed.run("verify").code == 3
    result = installed.run("install")
    assert result.code == 0, result.finished
    assert installed.installed("tinya") == "1.0"
    assert installed.run("verify").code == 0


def test_b62_a_half_made_environment_of_somebody_else_is_left_alone(computer: Computer) -> None:
    venv = computer.root / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(sys.executable)
    for command in (["install", "--requirements", computer.requirements("tinya\n")], ["repair"]):
        result = computer.run(*command)
        assert result.code == 2
        assert result.finished["code"] == "AML_VENV_FOREIGN"
    assert [path.name for path in computer.root.iterdir()] == [".venv"]


@pytest.mark.posix
@pytest.mark.parametrize("step", ["build", "verify"])
def test_b61_a_build_that_was_killed_is_seen_and_finished(installed: Computer, step: str) -> None:
    """In the midst of the copying, of which a part is there, or after it."""
    if step == "build":
        make_wheel(installed.wheels, "tinymany", files={f"tinymany/m{number}.py": b"x = 1\n" for number in range(3000)})
    installed.requirements("tinya==2.0\ntinymany\n" if step == "build" else "tinya==2.0\n")
    with installed.start("install", new_session=True) as running:
        running.until(step)
        staged = installed.root / ".venv.staged"
        wait_until(lambda: step == "verify" or any(staged.glob("lib/*/site-packages/tinymany/*.py")))
        os.killpg(running.process.pid, signal.SIGKILL)
    assert (installed.root / ".venv.staged").is_dir()
    assert installed.installed("tinya") == "1.0"
    result = installed.run("repair")
    assert result.code == 0, result.finished
    assert not (installed.root / ".venv.staged").exists()
    assert installed.run("verify").code == 0


def test_b61_a_package_without_its_metadata_is_not_accepted(installed: Computer) -> None:
    assert installed.run("install", "--requirements", installed.requirements("tinyb\ntinya==1.0\n")).code == 0
    (info,) = (installed.root / ".venv").glob("lib/*/site-packages/tinya-1.0.dist-info")
    for file in info.iterdir():
        file.unlink()
    info.rmdir()
    (info.parent / "tinya" / "__init__.py").unlink()  # an empty namespace package now, which can be imported
    result = installed.run("verify")
    assert result.code == 3
    assert "tinya" in result.finished["message"]
    assert installed.run("repair", "--offline").code == 0
    assert installed.installed("tinya") == "1.0"


@pytest.mark.linux
@pytest.mark.parametrize("place", ["root", "cache", "downloads"])
def test_b71_a_full_disk_is_named_and_nothing_half_made_stays(
    installed: Computer, circumstances: type[Circumstances], place: str
) -> None:
    big = installed.folder / "wheels"
    make_wheel(big, "tinybig", files={"tinybig/data.bin": os.urandom(3_000_000)})
    target = installed.folder / "small" if place == "root" else installed.root / place
    target.mkdir(exist_ok=True)
    prefix = circumstances(file_systems=[SmallFileSystem(target, 1_000_000)]).command([])
    root = target / "aml" if place == "root" else installed.root
    wanted = installed.requirements("tinya==1.0\ntinybig\n")
    result = installed.run("install", "--root", root, "--requirements", wanted, prefix=prefix)
    assert (result.code, result.finished["code"]) == (1, "AML_DISK_SPACE"), result.finished
    assert str(target) in result.finished["message"]
    assert installed.run("verify").code == 0
    assert installed.installed("tinya") == "1.0"
    assert not (installed.root / ".venv.staged").exists()


TURNED_READ_ONLY = """
import subprocess, sys
from amlwizard.cli import main
from amlwizard.core.environment import pip_build

def check(venv, expected):
    subprocess.run(["mount", "--bind", venv, venv], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", venv], check=True)
    (venv / "more").touch()

pip_build.check_installed = check
sys.exit(main(["rebuild", "--offline", "--uv-method", "none", "--json"]))
"""


@pytest.mark.linux
def test_a_folder_that_turns_read_only_in_the_middle_of_the_fallback_is_named_for_what_it_is(
    installed: Computer, circumstances: type[Circumstances]
) -> None:
    command = circumstances().command([str(installed.python), "-c", TURNED_READ_ONLY])
    done = subprocess.run(
        command, cwd=REPOSITORY, env=installed.environ, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 1, done.stderr
    finished = json.loads(done.stdout.splitlines()[-1])
    assert finished["code"] == "AML_LEFTOVER_PROTECTED"
    assert "Read-only file system" in finished["message"]
    assert str(installed.root / ".venv") in finished["message"]
    assert installed.run("install").finished["code"] in {"AML_READY", "AML_ALREADY_READY"}
    assert installed.installed("tinya") == "1.0"
    assert installed.run("verify").code == 0


def test_undo_leads_back_and_forward(installed: Computer) -> None:
    assert installed.run("undo").finished["code"] == "AML_NO_PREVIOUS_LOCK"
    assert installed.run("undo").code == 2
    wanted = installed.requirements("tinya==2.0\n")
    assert installed.run("install", "--requirements", wanted).code == 0
    newer = installed.run("verify").finished["lock"]
    installed.index.forget()
    result = installed.run("undo", "--offline")
    assert result.code == 0, result.finished
    assert (result.finished["state"], result.finished["code"]) == ("done", "AML_UNDONE")
    assert installed.installed("tinya") == "1.0"
    assert installed.run("verify").code == 0
    assert result.finished["lock"] != newer
    result = installed.run("undo", "--offline")
    assert result.finished["lock"] == newer
    assert installed.installed("tinya") == "2.0"
    assert installed.index.requests() == []


def test_a_refresh_that_changes_nothing_leaves_the_way_back(installed: Computer) -> None:
    assert installed.run("add", "tinyb").code == 0
    before = (installed.root / "runtime" / "pylock.previous.toml").read_text()
    for _ in range(2):
        assert installed.run("rebuild", "--refresh").code == 0
        assert (installed.root / "runtime" / "pylock.previous.toml").read_text() == before
    assert installed.run("undo").code == 0
    assert not list((installed.root / ".venv").glob("lib/*/site-packages/tinyb"))
    assert installed.run("undo").code == 0
    assert installed.installed("tinyb") == "1.0"


def test_a_refresh_that_changes_nothing_leaves_the_way_back_to_what_was_added_by_hand(installed: Computer) -> None:
    installed.pip_install("tinyb")
    assert installed.run("rebuild", "--drop-added").code == 0
    assert installed.run("rebuild", "--refresh").code == 0
    assert installed.run("undo").code == 0
    assert installed.installed("tinyb") == "1.0"


def test_the_plans_of_undo_and_rebuild_know_what_was_chosen_long_ago(installed: Computer) -> None:
    assert installed.run("install", "--requirements", installed.requirements("tinya==2.0\n")).code == 0
    for command in ("undo", "rebuild"):
        result = installed.run(command)
        assert result.code == 0, result.finished
        plans = [event for event in result.events if event["event"] == "plan"]
        for plan in plans:
            assert "resolve" not in {step["id"] for step in plan["steps"]}, command
            assert plan["download_bytes"] == 0
            assert plan["disk_bytes"] > 0
        assert plans


def test_what_was_undone_is_installed_again_when_it_is_asked_for(installed: Computer) -> None:
    assert installed.run("install", "--requirements", installed.requirements("tinya==2.0\n")).code == 0
    assert installed.run("undo").code == 0
    assert environment(installed)["state"] == "stale"
    older = installed.folder / "older.txt"
    older.write_text("tinya==1.0\n")
    again = installed.run("install", "--requirements", older)
    assert again.finished["code"] == "AML_ALREADY_READY"
    assert installed.run("install").code == 0
    assert installed.installed("tinya") == "2.0"
    assert installed.run("install").finished["code"] == "AML_ALREADY_READY"


def test_an_undo_that_fails_keeps_what_works(installed: Computer) -> None:
    assert installed.run("install", "--requirements", installed.requirements("tinya==2.0\n")).code == 0
    next((installed.root / "downloads").glob("tinya-1.0-*.whl")).unlink()
    result = installed.run("undo", "--offline")
    assert result.finished["code"] == "AML_STORE_INCOMPLETE"
    assert installed.installed("tinya") == "2.0"
    assert not (installed.root / "runtime" / "pylock.next.toml").exists()
    assert "tinya-1.0" in (installed.root / "runtime" / "pylock.previous.toml").read_text()
    assert installed.run("install").finished["code"] == "AML_ALREADY_READY"


def test_a_requirements_file_that_is_gone_does_not_lead_to_other_packages(installed: Computer) -> None:
    gone: Path = installed.requirements("tinya==1.0\n")
    gone.unlink()
    assert installed.run("install").finished["code"] == "AML_ALREADY_READY"
    result = installed.run("rebuild", "--offline")
    assert result.code == 0, result.finished
    assert installed.installed("tinya") == "1.0"
    assert installed.run("rebuild", "--refresh").finished["code"] == "AML_REQUIREMENTS_MISSING"


@pytest.mark.posix
def test_b69_who_uses_the_environment_is_told_before_anything_is_built(installed: Computer) -> None:
    python = installed.root / ".venv" / "bin" / "python"
    waits = "print('up', flush=True); input()"
    with subprocess.Popen([python, "-c", waits], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as kernel:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "up\n"
        named = f"python ({kernel.pid})"
        result = installed.run("rebuild", "--offline")
        assert result.code == 0, result.finished
        (told,) = [number for number, event in enumerate(result.events) if named in event.get("line", "")]
        started = [number for number, event in enumerate(result.events) if event.get("state") == "started"]
        assert told < started[0]
        before = (installed.root / ".venv").stat().st_ino
        windows = (
            "import sys; from amlwizard.core.environment import users; users.BLOCK_RENAME = True; "
            "from amlwizard.cli import main; sys.exit(main(['rebuild', '--offline', '--json']))"
        )
        refused = subprocess.run(
            [installed.python, "-c", windows],
            cwd=REPOSITORY,
            env=installed.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert refused.returncode == 1
        events = [json.loads(line) for line in refused.stdout.splitlines()]
        assert events[-1]["code"] == "AML_ENVIRONMENT_OPEN"
        assert named in events[-1]["message"]
        assert [event for event in events if event["event"] == "step"] == []
        assert (installed.root / ".venv").stat().st_ino == before
        kernel.communicate("\n", timeout=30)
    assert installed.run("verify").code == 0


def test_a_job_is_named_before_anything_is_built(installed: Computer) -> None:
    with hold_use(Workspace(installed.root), "run train.py"):
        result = installed.run("rebuild", "--offline")
        assert result.code == 4
        assert "run train.py" in result.finished["message"]
        assert result.states() == {}


@pytest.mark.posix
def test_b65_a_link_in_the_environments_place_is_refused_by_every_command(installed: Computer) -> None:
    assert installed.run("install", "--requirements", installed.requirements("tinya==2.0\n")).code == 0
    real = installed.folder / "real"
    (installed.root / ".venv").rename(real)
    (real / "keep.txt").write_text("precious")
    (installed.root / ".venv").symlink_to(real)
    told = environment(installed)
    assert (told["state"], told["action"]) == ("foreign", "none")
    planned = installed.run("plan")
    assert (planned.code, planned.finished["code"]) == (2, "AML_VENV_LINK")
    for command in ("install", "rebuild", "repair", "undo"):
        result = installed.run(command)
        assert result.code == 2, command
        assert result.finished["code"] == "AML_VENV_LINK"
        assert result.finished["environment"]["state"] == "foreign"
    assert (real / "keep.txt").read_text() == "precious"
    assert (installed.root / ".venv").readlink() == real


@pytest.mark.posix
@pytest.mark.parametrize("name", ["runtime", "tools", "python"])
def test_b65_a_link_in_the_place_of_a_folder_of_ours_is_refused_before_anything_is_done(
    installed: Computer, name: str
) -> None:
    folder, real = installed.root / name, installed.folder / "real"
    folder.mkdir(exist_ok=True)
    (installed.root / ".venv.staged").mkdir()
    write_journal(Workspace(installed.root), Journal(Action.STAGE, "half", had_old=True))  # which a start would undo
    folder.rename(real)
    (real / "keep.txt").write_text("precious")
    folder.symlink_to(real)

    def listing() -> list[tuple[str, int, int]]:
        return sorted(
            (str(path), path.lstat().st_mode, path.lstat().st_mtime_ns)
            for place in (installed.root, real)
            for path in (place, *place.rglob("*"))
        )

    before = listing()
    for command in ("install", "rebuild", "repair", "uninstall", "store --prune"):
        result = installed.run(*command.split())
        assert (result.code, result.finished["code"]) == (2, "AML_FOLDER_LINK"), command
        assert str(folder) in result.finished["message"]
        assert listing() == before, command


@pytest.mark.posix
def test_a_store_that_is_a_link_serves_and_nothing_in_it_is_removed(installed: Computer) -> None:
    store, real = installed.root / "downloads", installed.folder / "real"
    store.rename(real)
    store.symlink_to(real)
    theirs = sorted(path.name for path in real.iterdir())
    assert installed.run("rebuild", "--offline").code == 0
    assert installed.run("install", "--requirements", installed.requirements("tinya==2.0\n")).code == 0
    assert installed.run("uninstall").code == 0
    assert set(theirs) < {path.name for path in real.iterdir()}
    assert store.is_symlink()
