"""How the last runs ended, as their logs tell."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.diagnose.log_files import CRASHES, LOGS, last_runs, log_texts
from amlwizard.core.diagnose.reading import CUT, first_lines, last_lines
from amlwizard.core.events import FinishedEvent, LogEvent, RunState, StepEvent, StepState
from amlwizard.core.paths import Workspace
from amlwizard.core.run_log import RunLog

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def log(workspace: Workspace, second: int, *events: object, language: str = "en", kind: str = "rebuild") -> Path:
    """Write a log as a run does, and give it a time."""
    written = RunLog(workspace, kind, language)
    for event in events:
        written.write(event)  # type: ignore[arg-type]
    written.close()
    return written.path.rename(workspace.logs / f"20260101T1000{second:02d}Z-{kind}-77.log")


FAILED = FinishedEvent(RunState.FAILED, "AML_DISK_FULL", "磁盘已满。", arguments={"path": "/w", "needed": 1, "free": 0})
READY = FinishedEvent(RunState.READY, "AML_READY", "It is ready.")


def test_the_last_run_and_the_last_error_before_it(workspace: Workspace) -> None:
    log(workspace, 1, FAILED, kind="install", language="zh_CN")
    log(workspace, 2, StepEvent("fetch", StepState.FAILED, seconds=1.0), READY)
    log(workspace, 3, LogEvent("build", "failed AML_NOT_THE_END of a tool"), READY)
    last, error = last_runs(workspace)
    assert (last.kind, last.began, last.code, last.is_good) == ("rebuild", "2026-01-01T10:00:03Z", "AML_READY", True)
    assert (error.kind, error.state, error.code, error.message) == ("install", "failed", "AML_DISK_FULL", "磁盘已满。")
    assert error.english.isascii()
    assert error.english


def test_a_run_without_an_end_does_not_hide_the_error_before_it(workspace: Workspace) -> None:
    log(workspace, 1, FAILED)
    log(workspace, 2, StepEvent("fetch", StepState.STARTED))
    assert [(run.state, run.code) for run in last_runs(workspace)] == [("", ""), ("failed", "AML_DISK_FULL")]


@pytest.mark.posix
def test_a_name_that_is_no_text_gets_into_a_log(workspace: Workspace) -> None:
    path = log(workspace, 1, LogEvent("build", os.fsdecode(b"kept: d\xe9j\xe0.py")), READY)
    assert "kept: d\\udce9j\\udce0.py" in path.read_text(encoding="utf-8")


def test_the_last_error_alone_where_it_is_the_last_run(workspace: Workspace) -> None:
    log(workspace, 1, FAILED)
    log(workspace, 2, FAILED)
    (run,) = last_runs(workspace)
    assert run.began == "2026-01-01T10:00:02Z"


def test_nothing_where_there_is_no_log(workspace: Workspace) -> None:
    assert last_runs(workspace) == ()
    assert log_texts(workspace) == {}


@pytest.mark.posix
def test_what_is_no_file_is_named_and_waits_for_nobody(workspace: Workspace) -> None:
    workspace.logs.mkdir(parents=True)
    os.mkfifo(workspace.logs / "20260101T100001Z-install-77.log")
    (run,) = last_runs(workspace)
    assert run.state == "unreadable"
    (text,) = log_texts(workspace).values()
    assert text.startswith("[cannot be read: ")


def test_the_newest_logs_with_their_newest_lines(workspace: Workspace) -> None:
    for second in range(LOGS + 3):
        log(workspace, second, *(LogEvent("fetch", f"line {number} " + "x" * 200) for number in range(1000)), READY)
    texts = log_texts(workspace)
    assert list(texts) == [f"logs/20260101T1000{second:02d}Z-rebuild-77.log" for second in range(LOGS + 2, 2, -1)]
    for text in texts.values():
        assert text.startswith(f"{CUT}\n20")
        assert "AML_READY" in text
    assert sum(map(len, texts.values())) < 600_000
    assert CRASHES


def test_a_piece_ends_at_a_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"first\nsecret\nlast\n")
    assert last_lines(file, 100) == first_lines(file, 100) == "first\nsecret\nlast\n"
    assert last_lines(file, 9) == f"{CUT}\nlast\n"
    assert first_lines(file, 9) == f"first\n{CUT}"
    file.write_bytes("wide".encode("utf-16-le"))
    assert last_lines(file, 100) == first_lines(file, 100) == "wide"
    file.write_bytes(b"x" * 50)
    assert last_lines(file, 9) == f"{CUT}\n"
