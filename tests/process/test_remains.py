"""What dead runs left alive: which processes that is, and that only they are ended."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.births import birth_of
from amlwizard.core.running import RUN_TAG_VARIABLE, Remains
from amlwizard.process.remains import Fact, belonging, end_remains
from tests.support.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

CHILDREN = Path(__file__).parent.parent / "support" / "children.py"
OWN = 100
STAGED = Path("/ws/.venv.staged")
REMAINS = Remains(frozenset({"dead"}), frozenset({(500, 50.0)}), (STAGED,), not_before=40.0)
STRANGER = Fact(pid=700, born=60.0, parent=1, session=700, terminal=False, tag=None, paths=("/usr/bin/python3", "/"))
SHELL = replace(STRANGER, pid=50, born=10.0, session=50, terminal=True)
WIZARD = replace(STRANGER, pid=OWN, born=90.0, parent=50, session=50, terminal=True, tag="dead")
"""This run: it may have been started by a job of a run that is dead by now."""


def found(*facts: Fact) -> set[int]:
    return {fact.pid for fact in belonging([SHELL, WIZARD, STRANGER, *facts], REMAINS, OWN)}


def test_b97_an_id_counts_only_with_its_birth() -> None:
    assert found(replace(STRANGER, pid=500, born=50.0)) == {500}
    recycled = replace(STRANGER, pid=500, born=80.0, session=500)
    in_its_session = replace(STRANGER, pid=501, born=81.0, session=500, parent=500)
    assert found(recycled, in_its_session) == set()


def test_a_tag_is_enough_and_the_wizard_and_those_above_it_are_spared() -> None:
    assert found(replace(STRANGER, pid=600, tag="dead")) == {600}
    assert found(replace(STRANGER, pid=600, tag="another")) == set()
    above = replace(SHELL, tag="dead")
    assert {fact.pid for fact in belonging([above, WIZARD], REMAINS, OWN)} == set()


def test_descendants_and_sessions_go_with_what_they_belong_to() -> None:
    root = replace(STRANGER, pid=500, born=50.0, session=500)
    child = replace(STRANGER, pid=502, born=52.0, parent=500, session=502)
    grandchild = replace(STRANGER, pid=503, born=53.0, parent=502, session=502)
    orphan = replace(STRANGER, pid=504, born=54.0, session=500)
    assert found(root, child, grandchild, orphan) == {500, 502, 503, 504}
    older = replace(STRANGER, pid=505, born=45.0, parent=500)  # its parent's id belonged to another before
    assert found(root, older) == {500}


@pytest.mark.parametrize("paths", [(f"{STAGED}/bin/python",), ("/usr/bin/python3", f"{STAGED}/lib")])
def test_a_hidden_process_is_known_by_where_it_works(paths: tuple[str, ...]) -> None:
    hidden = replace(STRANGER, pid=600, paths=paths)
    assert found(hidden) == {600}
    assert found(replace(hidden, born=30.0)) == set()  # older than these runs
    assert found(replace(hidden, terminal=True)) == set()  # somebody's shell
    assert found(replace(hidden, parent=OWN)) == set()  # this run's own
    assert found(replace(hidden, paths=("/ws/.venv.staged-not/bin/python",))) == set()


@pytest.fixture
def left(tmp_path: Path) -> Iterator[list[int]]:
    """Ids of processes that a test starts; whatever of them is still there at its end is killed."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        for path in tmp_path.glob(f"**/{pid}"):
            path.unlink()
        if birth_of(pid) is not None:
            os.kill(pid, 9)


def start(folder: Path, *kinds: str, tag: str, cwd: Path) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-S", str(CHILDREN), "tree", str(folder), *kinds],
        env={RUN_TAG_VARIABLE: tag} if tag else {},
        cwd=cwd,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )


def ready(folder: Path, count: int) -> list[int]:
    wait_for(lambda: len(list(folder.glob("[0-9]*"))) >= count)
    return [int(path.name) for path in folder.glob("[0-9]*")]


def living(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.glob("[0-9]*") if birth_of(int(path.name)) is not None]


@pytest.mark.posix
@pytest.mark.parametrize("tagged", [True, False])
def test_b94_every_kind_is_ended_and_a_stranger_is_not(tmp_path: Path, left: list[int], tagged: bool) -> None:
    """With a tag some of them have cleared it; without one, all are known by the folder that they work in."""
    kinds = ("stay", "session", "daemon", "orphan", "forgetful", "stubborn", "respawn")
    place = tmp_path / "place"
    place.mkdir()
    born = birth_of(os.getpid())
    assert born is not None
    tag = f"dead-{os.getpid()}" if tagged else ""
    stranger = start(tmp_path / "stranger", tag="another" if tagged else "", cwd=tmp_path)
    root = start(tmp_path / "mine", *kinds, tag=tag, cwd=place)
    left += [stranger.pid, root.pid]
    try:
        left += ready(tmp_path / "mine", 1 + len(kinds) + 1)
        ready(tmp_path / "stranger", 1)
        root.kill()
        root.wait()
        remains = Remains(frozenset({tag or "none"}), frozenset(), (place,), born.at)
        stopped = end_remains(remains)
        assert stopped >= len(kinds)
        assert living(tmp_path / "mine") == []
        assert stranger.poll() is None
        assert end_remains(remains) == 0
    finally:
        stranger.kill()
        stranger.wait()
