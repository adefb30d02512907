"""The functions for programs, with a scripted engine behind them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from amlwizard import api
from amlwizard.core.events import FinishedEvent, RunState
from amlwizard.core.paths import Workspace
from amlwizard.core.records import write_record
from tests.support.scripted_engine import ScriptedEngine

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no setting of this computer count."""
    for name in [name for name in os.environ if name.startswith(("AML_", "XDG_", "PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))


def use_engine(monkeypatch: pytest.MonkeyPatch, script: str) -> ScriptedEngine:
    engine = ScriptedEngine(script)
    monkeypatch.setattr(api, "build_engine", lambda _language: engine)
    return engine


def test_ensure_environment_returns_what_programs_need(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = use_engine(monkeypatch, "done")
    seen: list[object] = []
    environment = api.ensure_environment(
        tmp_path / "w", profile="minimal", offline=True, keep_added=False, on_event=seen.append
    )
    assert environment == api.Environment(tmp_path / "w", Path("/ws/.venv/bin/python"), 106, None)
    assert engine.choices is not None
    assert (engine.choices.profile, engine.choices.offline, engine.choices.keep_added) == ("minimal", True, False)
    assert isinstance(seen[-1], FinishedEvent)


def test_an_error_reads_as_its_sentence_with_its_code() -> None:
    error = api.RefusedError("AML_REQUIREMENTS_MISSING", file="/nope")
    assert str(error) == "The requirements file /nope does not exist. (AML_REQUIREMENTS_MISSING)"
    assert str(api.AmlError("AML_TEST", file="/nope")) == "AML_TEST"


@pytest.mark.parametrize(
    ("script", "kind"), [("failed", api.AmlError), ("refused", api.RefusedError), ("busy", api.BusyError)]
)
def test_failure_is_raised_by_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, kind: type) -> None:
    use_engine(monkeypatch, script)
    with pytest.raises(api.AmlError) as caught:
        api.ensure_environment(tmp_path)
    assert type(caught.value) is kind
    assert caught.value.code == "AML_TEST"


def test_wrong_choices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(api.RefusedError):
        api.ensure_environment(tmp_path, profile="minimal", requirements="requirements.txt")


async def test_cancelled_task_ends_after_the_engine_has_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = use_engine(monkeypatch, "wait")
    fetching = asyncio.Event()
    task = asyncio.create_task(api.ensure_environment_async(tmp_path, on_event=lambda _event: fetching.set()))
    await fetching.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.undone


def test_run_that_another_caller_cancelled_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_engine(monkeypatch, RunState.CANCELLED.value)
    with pytest.raises(api.AmlError):
        api.ensure_environment(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_interrupt_is_a_keyboard_interrupt_of_the_program(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from amlwizard import api\n"
        "from tests.support.scripted_engine import ScriptedEngine\n"
        "engine = ScriptedEngine('wait')\n"
        "api.build_engine = lambda language: engine\n"
        "try:\n"
        "    api.ensure_environment(sys.argv[1])\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7 if engine.undone else 8)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], cwd=PROJECT, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 7


def test_environment_python_and_job_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(tmp_path / "w")
    with pytest.raises(api.AmlError) as caught:
        api.environment_python(workspace.root)
    assert caught.value.code == "AML_JOB_NOT_READY"
    venv.create(workspace.venv, with_pip=False, symlinks=os.name != "nt")
    place = {"base": str(workspace.venv), "platbase": str(workspace.venv)}
    site = Path(sysconfig.get_path("purelib", sysconfig.get_preferred_scheme("prefix"), place))
    (site / "tiny-1.0.dist-info").mkdir(parents=True)
    workspace.kit.mkdir(parents=True)
    record = {"root": str(workspace.root), "python": "3.11.0", "lock": "", "build": "1", "created": ""}
    write_record(workspace.marker("0123456789ab"), record)
    assert api.environment_python(workspace.root) == workspace.python
    monkeypatch.setenv("AML_ROOT", str(workspace.root))
    assert api.environment_python() == workspace.python

    monkeypatch.setenv("WANTED", "1")
    monkeypatch.setenv("TOKEN", "secret")
    monkeypatch.chdir(tmp_path)
    variables = api.job_environment(workspace.root, "job", ["WANTED"])
    assert variables["AML_JOB_DIR"] == str(tmp_path / "job")
    assert variables["WANTED"] == "1"
    assert "TOKEN" not in variables
