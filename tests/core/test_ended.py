"""The ends of real children, as they are told."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.ended import exit_code
from amlwizard.core.environment.build import run_or_raise
from amlwizard.core.errors import AmlError
from amlwizard.core.running import Command, Exited, NotStarted, TimedOut
from tests.support.recording_runner import RecordingRunner

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = (sys.executable, "-I", "-c")


def command(folder: Path, *argv: str) -> Command:
    return Command(argv, dict(os.environ), folder)


@pytest.mark.posix
async def test_an_installer_that_is_killed_is_told_as_that_with_what_it_said(tmp_path: Path) -> None:
    code = "import os, signal; print('half done', flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    with pytest.raises(AmlError) as caught:
        await run_or_raise(RecordingRunner(), command(tmp_path, *PYTHON, code), lambda _line: None, "AML_SYNC_FAILED")
    assert (caught.value.code, caught.value.detail) == ("AML_TOOL_KILLED", "half done")
    assert caught.value.arguments["signal"] == signal.SIGKILL


async def test_an_installer_that_fails_is_told_by_its_own_words_or_by_the_step(tmp_path: Path) -> None:
    for said, code in (("No space left on device", "AML_NO_SPACE"), ("something new", "AML_SYNC_FAILED")):
        failing = command(tmp_path, *PYTHON, f"import sys; print({said!r}); sys.exit(3)")
        with pytest.raises(AmlError) as caught:
            await run_or_raise(RecordingRunner(), failing, lambda _line: None, "AML_SYNC_FAILED")
        assert caught.value.code == code
        assert caught.value.arguments["reason"] == "exit code 3"


async def test_an_installer_that_is_not_there_is_named(tmp_path: Path) -> None:
    gone = str(tmp_path / "uv")
    with pytest.raises(AmlError) as caught:
        await run_or_raise(RecordingRunner(), command(tmp_path, gone), lambda _line: None, "AML_SYNC_FAILED")
    assert (caught.value.code, caught.value.arguments["program"]) == ("AML_TOOL_NOT_STARTED", gone)


def test_a_limit_is_told_as_the_one_it_was() -> None:
    assert exit_code(Exited(7), "uv", "") == 7
    for outcome, code in (
        (TimedOut(5.0, idle=True), "AML_TOOL_SILENT"),
        (TimedOut(5.0, idle=False), "AML_TOOL_TIMEOUT"),
        (NotStarted("no", None), "AML_TOOL_NOT_STARTED"),
    ):
        with pytest.raises(AmlError) as caught:
            exit_code(outcome, "uv", "")
        assert caught.value.code == code
