"""Runs that were killed, and what the next one finds and clears."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.births import birth_of
from amlwizard.core.dead_runs import Cleared, clear_dead_runs, left_by_dead_runs
from amlwizard.core.errors import RefusedError
from amlwizard.core.paths import Workspace
from amlwizard.core.run_record import RECORD, OwnRecord, read_run_record
from amlwizard.core.running import Command
from tests.support.recording_runner import RecordingRunner
from tests.support.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
CHILDREN = REPOSITORY / "tests" / "support" / "children.py"
RUN = """
import asyncio, os, sys
from pathlib import Path
from amlwizard.core.paths import Workspace
from amlwizard.core.run_record import OwnRecord
from amlwizard.core.running import Command
from amlwizard.process.asyncio_runner import AsyncioRunner

root, traces, shared, *kinds = sys.argv[1:]

async def main():
    runner = AsyncioRunner(f"dead-{os.getpid()}")
    with OwnRecord(Workspace(Path(root)), runner.run_tag, shared=shared == "shared") as record:
        runner.tell_starts(record.note_child)
        outside = record.make_outside_folder()
        tmp = record.settle("rebuild")
        print(outside, tmp, sep="\\n", flush=True)
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp)}
        command = (sys.executable, "-S", os.environ["CHILDREN"], "tree", traces, *kinds)
        await runner.run(Command(command, env, tmp), lambda line: None)

asyncio.run(main())
"""


class Victim:
    """A run with a tree of processes, ready to be killed."""

    def __init__(self, root: Path, traces: Path, kinds: tuple[str, ...], *, shared: bool = False) -> None:
        traces.mkdir()
        self.traces = traces
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(root), str(traces), "shared" if shared else "alone", *kinds],
            cwd=REPOSITORY,
            env={**os.environ, "CHILDREN": str(CHILDREN)},
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.outside = Path(self.process.stdout.readline().strip())
        self.tmp = Path(self.process.stdout.readline().strip())
        wait_for(lambda: len(self.pids) >= 1 + len(kinds))

    @property
    def pids(self) -> list[int]:
        return [int(path.name) for path in self.traces.glob("[0-9]*")]

    @property
    def living(self) -> list[int]:
        return [pid for pid in self.pids if birth_of(pid) is not None]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    system = tmp_path / "tmp"
    system.mkdir()
    monkeypatch.setenv("TMPDIR", str(system))
    monkeypatch.setattr(tempfile, "tempdir", None)
    workspace = Workspace(tmp_path / "aml")
    workspace.runtime.mkdir(parents=True)
    return workspace


@pytest.fixture
def victims() -> Iterator[list[Victim]]:
    made: list[Victim] = []
    yield made
    for victim in made:
        if victim.process.poll() is None:
            victim.kill()
        for pid in victim.living:
            os.kill(pid, 9)


def cleared(workspace: Workspace) -> Cleared | None:
    return asyncio.run(clear_dead_runs(workspace, RecordingRunner()))


@pytest.mark.posix
def test_b94_a_killed_run_is_cleared_up_by_the_next(workspace: Workspace, tmp_path: Path, victims: list[Victim]) -> None:
    kinds = ("stay", "session", "daemon", "orphan", "forgetful", "stubborn", "respawn")
    victims.append(victim := Victim(workspace.root, tmp_path / "traces", kinds))
    (victim.tmp / "half-made").write_text("x")
    assert (workspace.runs / f"dead-{victim.process.pid}" / RECORD).is_file()
    assert not left_by_dead_runs(workspace)
    victim.kill()
    assert len(victim.living) > len(kinds)
    assert left_by_dead_runs(workspace)
    found = cleared(workspace)
    assert found is not None
    assert found.stopped > len(kinds)
    assert victim.living == []
    assert not victim.tmp.exists()
    assert not victim.outside.exists()
    assert list(workspace.runs.iterdir()) == []
    assert f"stopped {found.stopped} processes" in found.in_words("en")
    assert str(found.stopped) in found.in_words("zh_CN")
    assert cleared(workspace) is None


@pytest.mark.posix
def test_b94_a_hidden_process_is_found_where_the_workspace_is_reached_by_a_link(
    tmp_path: Path, victims: list[Victim]
) -> None:
    with tempfile.TemporaryDirectory() as short:  # so that the private folder lies in the workspace
        real, link = Path(short, "real"), Path(short, "link")
        real.mkdir()
        link.symlink_to(real)
        victims.append(victim := Victim(link, tmp_path / "traces", ("orphan", "forgetful")))
        assert victim.tmp.is_relative_to(link)
        victim.kill()
        assert len(victim.living) == 3
        assert cleared(Workspace(link)) is not None
        assert victim.living == []


@pytest.mark.posix
def test_a_run_that_died_before_the_workspace_was_touched_is_known_by_its_folder(
    workspace: Workspace, tmp_path: Path, victims: list[Victim]
) -> None:
    other = Workspace(tmp_path / "other")
    victims.append(mine := Victim(workspace.root, tmp_path / "a", ("stay",)))
    victims.append(another := Victim(other.root, tmp_path / "b", ("stay",)))
    for victim in victims:
        victim.kill()
    for place in (workspace.runs, other.runs):
        (record,) = place.iterdir()
        for file in record.iterdir():
            file.unlink()
        record.rmdir()
    assert cleared(workspace) is not None
    assert mine.living == []
    assert not mine.outside.exists()
    assert len(another.living) == 2
    assert another.outside.exists()


@pytest.mark.posix
def test_a_living_job_is_left_alone_and_a_dead_one_is_not(
    workspace: Workspace, tmp_path: Path, victims: list[Victim]
) -> None:
    victims.append(living := Victim(workspace.root, tmp_path / "a", ("stay",), shared=True))
    victims.append(dead := Victim(workspace.root, tmp_path / "b", ("stay",), shared=True))
    dead.kill()
    found = cleared(workspace)
    assert found is not None
    assert found.stopped == 2
    assert dead.living == []
    assert not dead.tmp.exists()
    assert len(living.living) == 2
    assert living.tmp.exists()
    assert living.outside.exists()


@pytest.mark.posix
def test_b97_a_recorded_id_that_was_given_to_another_process_is_not_ended(workspace: Workspace, tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        born = birth_of(stranger.pid)
        assert born is not None
        own = OwnRecord(workspace, "dead")
        own.settle("rebuild")
        (workspace.runs / "dead" / "children").write_text(f"{stranger.pid} {born.at - 100!r}\n77 1.0\n123")
        record = read_run_record(workspace.runs / "dead")
        assert record is not None
        assert record.children == ((stranger.pid, born.at - 100), (77, 1.0))  # the last line was cut off
        found = cleared(workspace)
        assert found is not None
        assert found.stopped == 0
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.posix
def test_a_damaged_record_neither_ends_nor_removes_what_is_not_the_runs_own(workspace: Workspace, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    OwnRecord(workspace, "dead").settle("rebuild")
    path = workspace.runs / "dead" / RECORD
    workspace.uv_record.touch()
    stranger = subprocess.Popen([sys.executable, "-S", "-c", "input()"], cwd=elsewhere, stdin=subprocess.PIPE)
    try:
        folders = ["/", str(elsewhere), str(tmp_path), str(workspace.root), str(workspace.tmp / ".."), "", "."]
        path.write_text(json.dumps({**json.loads(path.read_text()), "folders": folders}))
        found = cleared(workspace)
        assert found is not None
        assert found.stopped == 0
        assert stranger.poll() is None
        assert elsewhere.exists()
        assert workspace.uv_record.exists()
    finally:
        stranger.kill()
        stranger.communicate()


def test_after_a_restart_of_the_system_nothing_is_ended_but_the_folders_go(workspace: Workspace) -> None:
    own = OwnRecord(workspace, "dead")
    tmp = own.settle("install")
    path = workspace.runs / "dead" / RECORD
    record = json.loads(path.read_text())
    born = birth_of(os.getppid())
    assert born is not None
    (workspace.runs / "dead" / "children").write_text(f"{os.getppid()} {born.at!r}\n")
    path.write_text(json.dumps({**record, "boot": "another"}))
    assert cleared(workspace) == Cleared(record["since"], 0)
    assert not tmp.exists()


def test_a_job_of_another_computer_on_a_shared_folder_is_left_alone(workspace: Workspace) -> None:
    own = OwnRecord(workspace, "job", shared=True)
    tmp = own.settle("run train.py")
    path = workspace.runs / "job" / RECORD
    path.write_text(json.dumps({**json.loads(path.read_text()), "machine": "elsewhere", "boot": "another", "pid": 1}))
    assert cleared(workspace) is None
    assert tmp.exists()


def test_a_record_of_a_newer_version_is_refused_and_an_unreadable_one_is_not_believed(workspace: Workspace) -> None:
    place = workspace.runs / "x"
    place.mkdir(parents=True)
    (place / RECORD).write_text("{")
    assert cleared(workspace) is None
    (place / RECORD).write_text('{"format": 99}')
    with pytest.raises(RefusedError):
        cleared(workspace)


@pytest.mark.posix
def test_a_folder_outside_that_has_no_record_any_more_goes_and_one_with_the_record_of_another_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tmp_path / "tmp"
    system.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(system))
    deep = Workspace(tmp_path / ("deep" * 20))  # a socket's path in it would be too long
    deep.runtime.mkdir(parents=True)
    tmp = OwnRecord(deep, "dead").settle("install")
    assert tmp.parent == system
    (tmp / RECORD).rename(tmp / f"{RECORD}.1.part")
    (tmp / "half-removed").mkdir()
    other = OwnRecord(Workspace(tmp_path / "other"), "other").make_outside_folder()
    path = deep.runs / "dead" / RECORD
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "folders": [*record["folders"], str(other)]}))
    assert cleared(deep) is not None
    assert not tmp.exists()
    assert other.exists()


@pytest.mark.posix
def test_a_record_in_the_shared_temporary_folder_counts_only_from_this_user(workspace: Workspace) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    own = OwnRecord(workspace, "dead")
    folder = own.make_outside_folder()
    path = folder / RECORD
    path.write_text(json.dumps({**json.loads(path.read_text()), "pid": 2**22 + 1}))
    assert left_by_dead_runs(workspace)
    os.chown(folder, 12345, 12345)
    assert not left_by_dead_runs(workspace)
    assert cleared(workspace) is None
    assert folder.exists()


def test_a_folder_whose_maker_died_before_its_record_was_there_goes_at_once(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    nobody = 2**22 + 1
    dead, begun, full, living, other = (
        tmp_path / name
        for name in (f"aml-{nobody}-a", f"aml-{nobody}-b", f"aml-{nobody}-c", f"aml-{os.getpid()}-d", "aml-e")
    )
    for folder in (dead, begun, full, living, other):
        folder.mkdir()
    (begun / f"{RECORD}.x.part").touch()
    (full / "somebody's").touch()
    assert cleared(workspace) is None
    assert [folder.exists() for folder in (dead, begun, full, living, other)] == [False, False, True, True, True]


def test_a_run_that_ends_takes_its_record_and_folders_away(workspace: Workspace) -> None:
    runner = RecordingRunner()

    async def scenario() -> list[tuple[int, float]]:
        with OwnRecord(workspace, runner.run_tag) as record:
            runner.tell_starts(record.note_child)
            record.make_outside_folder()
            tmp = record.settle("install")
            code = "import time; time.sleep(0.3)"
            command = Command((sys.executable, "-S", "-c", code), dict(os.environ), tmp)
            await runner.run(command, lambda _line: None)
            found = read_run_record(workspace.runs / runner.run_tag)
            assert found is not None
            assert found.folders[-1] == tmp
            return list(found.children)

    children = asyncio.run(scenario())
    assert len(children) == 1
    assert list(workspace.runs.iterdir()) == []
    assert list(Path(tempfile.gettempdir()).iterdir()) == []


async def test_recovery_only_lists_two_folders_where_there_is_nothing_to_do(workspace: Workspace) -> None:
    folders = {str(workspace.runs), tempfile.gettempdir()}
    runner = RecordingRunner()
    touched: set[tuple[str, str]] = set()
    listening = True

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event in {"open", "os.listdir", "os.scandir", "subprocess.Popen"}:
            touched.add((event, str(arguments[0])))

    sys.addaudithook(hear)  # for good: there is no way to remove one
    try:
        assert await clear_dead_runs(workspace, runner) is None
    finally:
        listening = False
    assert touched == {("os.scandir", folder) for folder in folders}
