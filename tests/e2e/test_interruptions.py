"""Whole commands that are cancelled or killed, or that find another at work (B72, B94)."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.births import birth_of
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_run
from tests.chaos.stock import KINDS, add_wild_source
from tests.support.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.conftest import Computer, Running

pytestmark = [pytest.mark.e2e, pytest.mark.posix]


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Start commands; whatever is still there at the end of the test is killed."""
    made: list[Running] = []

    def start(computer: Computer, *arguments: str) -> Running:
        made.append(computer.start(*arguments))
        return made[-1]

    yield start
    for running in made:
        running.kill()


@pytest.fixture
def traces(tmp_path: Path) -> Iterator[Path]:
    """The folder in which each process that the wild build starts leaves its id."""
    folder = tmp_path / "traces"
    folder.mkdir()
    yield folder
    for pid in living(folder):
        os.kill(pid, signal.SIGKILL)


def living(traces: Path) -> list[int]:
    return [int(path.name) for path in traces.glob("[0-9]*") if birth_of(int(path.name)) is not None]


def until_all_are_there(traces: Path) -> None:
    wait_for(lambda: len(list(traces.glob("[0-9]*"))) >= len(KINDS) + 2, 180)  # with the root, and what ``respawn`` starts


def wild_install(computer: Computer, traces: Path) -> list[str]:
    """Return the command whose build starts children of all kinds and stays."""
    wild = add_wild_source(computer.wheels, traces, seconds=600)
    return ["install", "--requirements", str(computer.requirements(f"tinya==2.0\n{wild}"))]


@pytest.mark.linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_b94_cancel_ends_what_a_build_started_and_says_how_many(
    older: Computer, start: Callable[..., Running], traces: Path, number: signal.Signals
) -> None:
    running = start(older, *wild_install(older, traces))
    until_all_are_there(traces)
    running.process.send_signal(number)
    time.sleep(0.2)
    finished = running.cancel()  # once more while it is stopping, which must do no harm
    assert running.process.returncode == 130
    assert (finished["state"], finished["code"]) == ("cancelled", "AML_CANCELLED")
    assert living(traces) == []
    stopped = re.fullmatch(r"Cancelled\. Processes stopped: (\d+)\.", finished["message"])
    assert stopped is not None, finished
    assert int(stopped[1]) >= len(KINDS) + 2
    assert [event["state"] for event in running.events if event.get("id") == "fetch"][-1] == "cancelled"
    assert older.installed("tinya") == "1.0"
    assert list((older.root / "runtime" / "runs").iterdir()) == []


@pytest.mark.linux
def test_b94_what_a_killed_run_left_is_ended_by_the_next_start_in_one_line(
    older: Computer, start: Callable[..., Running], traces: Path
) -> None:
    running = start(older, *wild_install(older, traces))
    until_all_are_there(traces)
    running.kill()
    assert len(living(traces)) >= len(KINDS)
    result = older.run("install", "--requirements", older.requirements("tinya==2.0\n"))
    assert result.code == 0, result.finished
    assert living(traces) == []
    said = [event["line"] for event in result.events if event["event"] == "log" and "was interrupted" in event["line"]]
    assert len(said) == 1
    assert re.match(r"The run of \d\d:\d\d was interrupted: stopped \d+ processes and removed what it had left\.", said[0])
    assert older.installed("tinya") == "2.0"


def test_a_ready_environment_is_not_called_ready_before_a_dead_run_is_cleared(
    older: Computer, start: Callable[..., Running], traces: Path
) -> None:
    running = start(older, *wild_install(older, traces))
    until_all_are_there(traces)
    running.kill()
    result = older.run("install", "--requirements", older.requirements("tinya==1.0\n"))
    assert result.code == 0
    assert result.finished["code"] == "AML_ALREADY_READY"
    assert living(traces) == []


@pytest.mark.linux
@pytest.mark.parametrize("command", ["verify", "store"])
def test_a_command_that_does_not_hold_the_workspace_alone_ends_what_a_killed_run_left(
    older: Computer, start: Callable[..., Running], traces: Path, command: str
) -> None:
    running = start(older, *wild_install(older, traces))
    until_all_are_there(traces)
    running.kill()
    result = older.run(command)
    assert result.code == 0, result.finished
    assert living(traces) == []
    assert len([event for event in result.events if event["event"] == "log" and "was interrupted" in event["line"]]) == 1
    assert list((older.root / "runtime" / "runs").iterdir()) == []


@pytest.mark.parametrize("command", ["verify", "repair", "uninstall"])
def test_what_ends_the_job_of_a_killed_run_says_so_in_one_line(older: Computer, command: str) -> None:
    script = older.folder / "long_job.py"
    script.write_text("import os, threading\nprint(os.getpid(), flush=True)\nthreading.Event().wait()\n")
    argv = [str(older.python), "-m", "amlwizard", "run", "--", str(script)]
    with subprocess.Popen(argv, cwd=older.cwd, env=older.environ, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        job = int(run.stdout.readline())
        run.kill()
        run.wait()
    assert birth_of(job) is not None
    result = older.run(command)
    assert result.code == 0, result.finished
    assert birth_of(job) is None
    said = [event["line"] for event in result.events if event["event"] == "log" and "was interrupted" in event["line"]]
    assert len(said) == 1
    assert re.match(r"The run of \d\d:\d\d was interrupted: stopped 1 process and removed what it had left\.", said[0])


def test_a_job_starts_after_what_a_killed_run_left_was_cleared_away(
    older: Computer, start: Callable[..., Running], tmp_path: Path
) -> None:
    running = start(older, "rebuild")
    running.until("verify")
    running.kill()
    assert (older.root / ".venv.staged").is_dir()
    script = tmp_path / "job.py"
    script.write_text("import tinya; print(tinya.__version__)")
    command = [sys.executable, "-m", "amlwizard", "run", "--", str(script)]
    environ = {"PYTHONPATH": str(older.cwd), **older.environ}
    job = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (job.returncode, job.stdout) == (0, "1.0\n"), job.stderr
    assert "was interrupted" in job.stderr
    assert not (older.root / ".venv.staged").exists()
    assert list((older.root / "runtime" / "runs").iterdir()) == []


@pytest.mark.parametrize("command", ["verify", "store"])
def test_half_an_environment_of_a_killed_run_is_cleared_away_by_commands_that_change_nothing_else(
    older: Computer, start: Callable[..., Running], command: str
) -> None:
    running = start(older, "rebuild")
    running.until("verify")
    running.kill()
    assert (older.root / ".venv.staged").is_dir()
    for look in ("detect", "plan"):
        seen = older.run(look)
        assert seen.code == 0
        assert len([event for event in seen.events if event["event"] == "log" and "was interrupted" in event["line"]]) == 1
    assert (older.root / ".venv.staged").is_dir()
    assert (older.root / "runtime" / "journal.json").exists()
    result = older.run(command)
    assert result.code == 0, result.finished
    said = [event["line"] for event in result.events if event["event"] == "log" and "interrupted build" in event["line"]]
    assert len(said) == 1
    assert not (older.root / ".venv.staged").exists()
    assert not (older.root / "runtime" / "journal.json").exists()
    assert all("interrupted" not in event.get("line", "") for event in older.run("detect").events)


@pytest.mark.parametrize("step", ["build", "verify"])
def test_what_a_cancel_removes_is_named_while_it_lasts(older: Computer, start: Callable[..., Running], step: str) -> None:
    running = start(older, "rebuild")
    running.until(step)
    if step == "build":
        running.until(step, "progress")
    finished = running.cancel()
    assert finished["state"] == "cancelled"
    said = [
        (event["event"], event.get("state"))
        for event in running.events
        if event.get("line", "").endswith(str(older.root / ".venv.staged"))
        or (event.get("id"), event.get("state")) == (step, "cancelled")
    ]
    assert said == [("log", None), ("step", "cancelled")]
    assert not (older.root / ".venv.staged").exists()


def test_b72_the_second_of_two_runs_is_told_who_holds_the_workspace_and_since_when(
    computer: Computer, start: Callable[..., Running]
) -> None:
    wanted = str(computer.requirements("tinya==2.0\n"))
    computer.index.fault("*tinya-2.0*", "stall")
    first = start(computer, "install", "--requirements", wanted)
    first.until("resolve")
    second = computer.run("install", "--requirements", wanted)
    assert first.process.poll() is None  # the second has not waited for the lock
    assert second.code == 4
    assert second.finished["state"] == "busy"
    assert second.finished["code"] == "AML_WORKSPACE_BUSY"
    assert re.search(rf"install, process {first.process.pid}, since \d{{4}}-\S+Z", second.finished["message"])
    assert second.finished["hint"]
    assert computer.run("rebuild", "--requirements", wanted).finished["state"] == "busy"
    assert first.process.poll() is None
    assert first.cancel()["state"] == "cancelled"


def test_b72_the_lock_of_a_killed_run_is_free_although_its_children_live(
    older: Computer, start: Callable[..., Running], traces: Path
) -> None:
    running = start(older, *wild_install(older, traces))
    until_all_are_there(traces)
    assert older.run("rebuild").code == 4
    running.kill()
    assert living(traces)
    older.requirements("tinya==1.0\n")  # without the build that takes so long
    assert older.run("rebuild").code == 0
    assert living(traces) == []


def test_what_a_run_left_after_the_exchange_is_removed_by_an_install_that_has_nothing_to_do(older: Computer) -> None:
    wanted = older.requirements("tinya==1.0\n")
    venv, aside, journal = (older.root / name for name in (".venv", ".venv.old", "runtime/journal.json"))
    shutil.copytree(venv, aside, symlinks=True)
    (marker,) = venv.glob(".aml-ok-*")
    build = json.loads(marker.read_text())["build"]
    journal.write_text(json.dumps({"format": 1, "action": "commit", "build": build, "had_old": True}))
    result = older.run("install", "--requirements", wanted)
    assert result.finished["code"] == "AML_ALREADY_READY"
    assert not aside.exists()
    assert not journal.exists()
    assert older.installed("tinya") == "1.0"


def test_a_cancel_during_the_commit_leaves_one_environment_and_nothing_else(
    older: Computer, start: Callable[..., Running]
) -> None:
    running = start(older, "install", "--requirements", str(older.requirements("tinya==2.0\n")))
    running.until("commit")
    finished = running.cancel()
    expected = {"cancelled": (130, "1.0"), "ready": (0, "2.0")}[finished["state"]]
    assert (running.process.returncode, older.installed("tinya")) == expected
    for name in (".venv.staged", ".venv.old", "runtime/journal.json"):
        assert not (older.root / name).exists()


def test_repair_finishes_what_a_killed_first_installation_was_about_to_install(
    computer: Computer, start: Callable[..., Running]
) -> None:
    running = start(computer, "install", "--requirements", str(computer.requirements("tinya==1.0\n")))
    running.until("verify")
    running.kill()
    environment = computer.run("detect").events[0]["environment"]
    assert (environment["state"], environment["action"]) == ("unfinished", "repair")
    result = computer.run("repair")
    assert result.code == 0, result.finished
    assert computer.installed("tinya") == "1.0"
    assert "tinya" in (computer.root / "runtime" / "pylock.toml").read_text()
    assert computer.run("install").finished["code"] == "AML_ALREADY_READY"


def test_repair_finishes_what_was_killed_while_it_was_fetched(computer: Computer, start: Callable[..., Running]) -> None:
    computer.index.fault("/files/*.whl", "stall")
    other, computer.extra["AML_INDEX_URL"] = computer.index.index_url, "http://127.0.0.1:9/simple/"
    running = start(computer, "install", "--requirements", str(computer.requirements("tinya==1.0\n")), "--index-url", other)
    running.until("fetch")
    running.kill()
    computer.index.heal()
    result = computer.run("repair")
    assert result.code == 0, result.finished
    assert computer.installed("tinya") == "1.0"


def test_repair_goes_on_with_what_was_killed_before_a_lock_told_what_it_was(
    computer: Computer, start: Callable[..., Running]
) -> None:
    computer.index.fault("/simple/*", "stall")
    running = start(computer, "install", "--requirements", str(computer.requirements("tinya==1.0\n")))
    running.until("resolve")
    running.kill()
    assert not (computer.root / "runtime" / "pylock.next.toml").exists()
    environment = computer.run("detect").events[0]["environment"]
    assert (environment["state"], environment["action"]) == ("unfinished", "repair")
    computer.index.heal()
    computer.index.fault("/simple/*", "403")
    assert computer.run("repair").code == 1
    assert computer.run("verify").code == 3  # which clears the dead run as well
    computer.index.heal()
    computer.extra["AML_INDEX_URL"] = "http://127.0.0.1:9/simple/"  # not the one that was to be asked
    result = computer.run("repair")
    assert result.code == 0, result.finished
    assert computer.installed("tinya") == "1.0"
    assert computer.run("install").finished["code"] == "AML_ALREADY_READY"


def test_an_installation_that_failed_and_said_so_left_nothing_to_repair(computer: Computer) -> None:
    assert computer.run("install", "--requirements", computer.requirements("there-is-no-such-thing\n")).code == 1
    assert computer.run("detect").events[0]["environment"]["state"] == "absent"
    assert computer.run("repair").finished["code"] == "AML_NO_ENVIRONMENT"


def test_repair_does_not_guess_what_was_about_to_be_installed(computer: Computer, start: Callable[..., Running]) -> None:
    running = start(computer, "install", "--requirements", str(computer.requirements("tinya==1.0\n")))
    running.until("verify")
    running.kill()
    (computer.root / "runtime" / "pylock.next.toml").unlink()
    assert computer.run("detect").events[0]["environment"]["action"] == "install"
    result = computer.run("repair")
    assert (result.code, result.finished["code"]) == (2, "AML_UNFINISHED_UNKNOWN")
    assert computer.run("install", "--requirements", computer.requirements("tinya==1.0\n"), "--offline").code == 0


def test_there_is_nothing_to_undo_where_there_is_no_workspace(computer: Computer) -> None:
    result = computer.run("undo")
    assert (result.code, result.finished["code"]) == (2, "AML_NO_WORKSPACE")
    assert not computer.root.exists()


def test_there_is_nothing_to_repair_in_an_empty_folder(computer: Computer) -> None:
    result = computer.run("repair")
    assert (result.code, result.finished["code"]) == (2, "AML_NO_ENVIRONMENT")
    assert not computer.root.exists()


def test_a_run_under_way_is_not_taken_for_an_interrupted_one(computer: Computer) -> None:
    with hold_run(Workspace(computer.root), "install"):
        for state in ("absent", "unfinished"):
            found = computer.run("detect").events[0]["environment"]
            assert (found["state"], found["action"]) == (state, "wait")
            assert f"install (process {os.getpid()})" in found["reason"]
            said = computer.run("verify").finished
            assert f"install (process {os.getpid()})" in said["message"]
            assert said["environment"]["action"] == "wait"
            for command in (["rebuild"], ["undo"], ["repair"], ["store", "--prune"]):
                result = computer.run(*command)
                assert (result.code, result.finished["code"]) == (4, "AML_WORKSPACE_BUSY"), command
            (computer.root / ".venv.staged").mkdir(exist_ok=True)
    assert computer.run("detect").events[0]["environment"]["action"] == "install"
