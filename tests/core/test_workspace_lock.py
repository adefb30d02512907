from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import psutil
import pytest

from amlwizard.core import exchange_wait
from amlwizard.core.choices import Choices
from amlwizard.core.errors import BusyError
from amlwizard.core.events import LogEvent
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_run, hold_use, refuse_while_used, run_holders, use_holders
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.events import Event

HOLDER = """
import subprocess, sys, time
from pathlib import Path
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_run

with hold_run(Workspace(Path(sys.argv[1])), "install"):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdout=subprocess.DEVNULL)
    print(child.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_a_second_run_is_told_who_holds_the_workspace(workspace: Workspace) -> None:
    with hold_run(workspace, "install"):
        assert [holder.pid for holder in run_holders(workspace)] == [os.getpid()]
        with pytest.raises(BusyError) as caught, hold_run(workspace, "rebuild"):
            pass
    assert caught.value.code == "AML_WORKSPACE_BUSY"
    assert caught.value.arguments["pid"] == os.getpid()
    assert caught.value.arguments["command"] == "install"
    assert str(caught.value.arguments["since"]).endswith("Z")
    with hold_run(workspace, "rebuild"):
        pass
    assert run_holders(workspace) == []


@pytest.mark.linux
def test_a_holder_is_known_although_the_clock_was_set(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    with hold_run(workspace, "install"):
        monkeypatch.setattr(psutil.Process, "create_time", lambda _process: 1.0)
        assert [holder.pid for holder in run_holders(workspace)] == [os.getpid()]


def test_users_share_and_a_commit_needs_it_alone(workspace: Workspace) -> None:
    with hold_use(workspace, "job a"), hold_use(workspace, "job b"):
        assert {holder.command for holder in use_holders(workspace)} == {"job a", "job b"}
        with pytest.raises(BusyError) as caught, hold_use(workspace, "commit", alone=True):
            pass
        assert caught.value.code == "AML_ENVIRONMENT_IN_USE"
        assert caught.value.arguments["jobs"] == f"job a ({os.getpid()}), job b ({os.getpid()})"
        with pytest.raises(BusyError, match="job b"):
            refuse_while_used(workspace, "rebuild")
        with hold_run(workspace, "install"):
            pass
    refuse_while_used(workspace, "rebuild")
    with hold_use(workspace, "commit", alone=True):
        with pytest.raises(BusyError) as caught, hold_use(workspace, "job c"):
            pass
        assert caught.value.code == "AML_WORKSPACE_BUSY"
        assert caught.value.arguments["command"] == "commit"


def test_only_what_may_last_is_named_before_anything_is_built(workspace: Workspace) -> None:
    with hold_use(workspace, "verify"), hold_use(workspace, "bundle"):
        refuse_while_used(workspace, "rebuild")
        with hold_use(workspace, "run train.py"), pytest.raises(BusyError, match="run train"):
            refuse_while_used(workspace, "rebuild")


async def test_the_wait_for_a_proof_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange_wait, "_LONGEST_SECONDS", 0.0)
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tiny\n")
    run = new_run(Choices(tmp_path / "aml", requirements=requirements), tmp_path / "tmp")
    told: list[Event] = []
    run.emit = told.append
    with hold_use(run.workspace, "verify"), pytest.raises(BusyError, match="verify"), ExitStack() as held:
        await exchange_wait.hold_alone(run, held, "commit")
    assert [event.line.count("verify") for event in told if isinstance(event, LogEvent)] == [1]
    with ExitStack() as held:
        await exchange_wait.hold_alone(run, held, "commit")
        with pytest.raises(BusyError), hold_use(run.workspace, "verify"):
            pass


@pytest.mark.posix
def test_the_kernel_frees_the_lock_of_a_killed_holder_although_its_child_lives(workspace: Workspace) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(workspace.root)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    child = int(holder.stdout.readline())
    try:
        with pytest.raises(BusyError) as caught, hold_run(workspace, "second"):
            pass
        assert caught.value.arguments["pid"] == holder.pid
        holder.kill()
        holder.wait()
        os.kill(child, 0)
        with hold_run(workspace, "second"):
            assert [found.pid for found in run_holders(workspace)] == [os.getpid()]
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
        os.kill(child, signal.SIGKILL)


FORKING = """
import os, sys, time
from pathlib import Path
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_run

with hold_run(Workspace(Path(sys.argv[1])), "install"):
    if not os.fork():  # as a child that is just being started: it has the lock until it becomes another program
        time.sleep(float(sys.argv[2]))
        os._exit(0)
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.posix
@pytest.mark.parametrize(("seconds", "free"), [(0.4, True), (3.0, False)])
def test_a_lock_that_nobody_who_lives_has_noted_is_tried_for_a_moment(
    workspace: Workspace, seconds: float, free: bool
) -> None:
    command = [sys.executable, "-c", FORKING, str(workspace.root), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
        holder.wait()
        if free:
            with hold_run(workspace, "next"):
                assert [found.pid for found in run_holders(workspace)] == [os.getpid()]
        else:
            with pytest.raises(BusyError), hold_run(workspace, "next"):
                pass
