"""Process trees: identity, whose is whose, and the order of acts on Windows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import psutil

from amlwizard.process.tree_windows import WindowsTreeKeeper

if sys.platform != "win32":
    from amlwizard.process import tree_posix

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")


class FakeProcess:
    """Stands for a ``psutil.Process``."""

    def __init__(self, pid: int) -> None:
        self.pid = pid


class FakeKernel:
    """Records what is asked of Windows; a job dies in the second look after its end."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.alive = 0
        self.ended_looks = 0
        self.early: list[int] = []

    def create_job(self) -> int:
        self.calls.append("create")
        return 7

    def assign(self, job: int, pid: int) -> None:
        self.calls.append(f"assign {job} {pid}")
        self.alive = 3

    def terminate_job(self, job: int) -> None:
        self.calls.append(f"terminate {job}")
        self.ended_looks = 2

    def active_in_job(self, job: int) -> int:
        if self.ended_looks:
            self.ended_looks -= 1
            if not self.ended_looks:
                self.alive = 0
        return self.alive

    def programs_in_job(self, job: int) -> int:
        return max(0, self.alive - 1)  # one is the console's host

    def close(self, job: int) -> None:
        self.calls.append(f"close {job} with {self.alive} alive")

    def descendants(self, pid: int) -> list[psutil.Process]:
        self.calls.append(f"descendants {pid}")
        return [FakeProcess(number) for number in self.early]  # type: ignore[misc]

    def tagged(self, tag: str) -> list[psutil.Process]:
        self.calls.append(f"tagged {tag}")
        return [FakeProcess(99)]  # type: ignore[list-item]

    def kill(self, process: psutil.Process) -> bool:
        self.calls.append(f"kill {process.pid}")
        return True


def test_b96_windows_looks_before_it_ends_the_job_and_proves_it_empty() -> None:
    kernel = FakeKernel()
    with WindowsTreeKeeper("tag", kernel).starting() as tree:
        assert kernel.calls == ["create"]
        tree.adopt(40)
    kernel.early = [41]
    assert tree.count() == 2
    assert tree.end() == 3
    assert tree.count() == 0
    assert kernel.calls == [
        "create",
        "assign 7 40",
        "descendants 40",
        "descendants 40",
        "terminate 7",
        "close 7 with 0 alive",
        "kill 41",
    ]
    assert tree.end() == 0


def test_windows_job_of_a_child_that_did_not_start_is_closed() -> None:
    kernel = FakeKernel()
    with pytest.raises(OSError, match="refused"), WindowsTreeKeeper("tag", kernel).starting():
        raise OSError("refused")
    assert kernel.calls == ["create", "close 7 with 0 alive"]


def test_windows_sweep_finds_by_tag() -> None:
    kernel = FakeKernel()
    assert WindowsTreeKeeper("tag", kernel).sweep() == 1
    assert kernel.calls == ["tagged tag", "kill 99"]


@posix
def test_b97_a_recycled_id_is_never_touched() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        seen = tree_posix.see(child.pid)
        assert seen is not None
        earlier = replace(seen, created=seen.created - 100)
        assert not tree_posix.send(earlier, signal.SIGKILL)
        tree_posix._send_to_groups([earlier], signal.SIGKILL)
        assert tree_posix.environment_of(earlier.identity) is None
        assert child.poll() is None
        assert tree_posix.send(seen, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    finally:
        child.kill()
        child.wait()


@posix
def test_own_environment_tells_an_inheritor(monkeypatch: pytest.MonkeyPatch) -> None:
    own = dict(os.environ)
    assert tree_posix._inherits_from_us(own | {"MORE": "1"})
    own.pop("PATH")
    assert not tree_posix._inherits_from_us(own)
    assert not tree_posix._inherits_from_us({})


@posix
def test_a_sweep_finds_what_a_dead_run_left_by_its_tag() -> None:
    environment = {"AML_RUN_TAG": f"dead-run-{os.getpid()}"}
    child = subprocess.Popen(
        [sys.executable, "-S", "-c", "print(1, flush=True); import time; time.sleep(60)"],
        env=environment,
        stdout=subprocess.PIPE,
    )
    try:
        assert child.stdout is not None
        child.stdout.readline()
        assert tree_posix.PosixTreeKeeper("another").sweep() == 0
        assert child.poll() is None
        assert tree_posix.PosixTreeKeeper(environment["AML_RUN_TAG"]).sweep() == 1
        assert child.wait() == -signal.SIGTERM
    finally:
        child.kill()
        child.communicate()
