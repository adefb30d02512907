"""The log names every command before it runs, and what programs do not get of the environment (DESIGN section 6)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices, UvMethod
from amlwizard.core.events import LogEvent, StepEvent, StepState
from amlwizard.core.running import Command
from amlwizard.wiring import make_engine
from tests.support.recording_runner import RecordingRunner

if TYPE_CHECKING:
    from amlwizard.core.events import Event
    from amlwizard.core.running import OnLine, Outcome
    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e


class ToldRunner(RecordingRunner):
    """Notes its commands among the events of a run."""

    def __init__(self, told: list[Event | Command]) -> None:
        super().__init__()
        self._told = told

    async def run(self, command: Command, on_line: OnLine) -> Outcome:
        """Run one command to its end."""
        self._told.append(command)
        return await super().run(command, on_line)


def is_echo(event: object, command: Command) -> bool:
    """Tell whether an event names a command, whose scripts need not be shown."""
    if not isinstance(event, LogEvent) or not event.line.startswith(f"$ {command.argv[0]}"):
        return False
    return all(argument in event.line for argument in command.argv if "\n" not in argument)


@pytest.mark.posix
@pytest.mark.parametrize(
    ("kind", "state", "steps"),
    [
        ("rebuild", "refreshed", {"resolve", "build", "verify"}),
        ("rebuild", "without uv", {"resolve", "build", "verify"}),
        ("repair", "a damaged file", {"inspect", "repair", "verify"}),
        ("repair", "no pyvenv.cfg", {"build", "verify"}),
        ("repair", "no uv", {"install_uv", "inspect"}),
    ],
)
async def test_every_command_of_every_step_is_named_before_it_runs(
    installed: Computer, monkeypatch: pytest.MonkeyPatch, kind: str, state: str, steps: set[str]
) -> None:
    for name, value in installed.environ.items():
        monkeypatch.setenv(name, value)
    method = UvMethod.NONE if state == "without uv" else UvMethod.AUTO
    choices = Choices(root=installed.root, index_url=installed.index.index_url, refresh=kind == "rebuild", uv_method=method)
    match state:
        case "a damaged file":
            next((installed.root / ".venv").glob("lib/python*/site-packages/tinya/__init__.py")).write_text("broken")
        case "no pyvenv.cfg":
            (installed.root / ".venv" / "pyvenv.cfg").unlink()
        case "no uv":
            shutil.rmtree(installed.root / "tools")
    told: list[Event | Command] = []
    engine = make_engine(lambda: ToldRunner(told), "en")
    finished = await getattr(engine, kind)(choices, told.append)
    assert finished.code in {"AML_READY", "AML_REPAIRED"}, finished
    step, named = "", set()
    echoes: list[LogEvent] = []
    for each in told:
        if isinstance(each, StepEvent) and each.state is not StepState.PROGRESS:
            step = each.id if each.state is StepState.STARTED else ""
        elif isinstance(each, LogEvent):
            echoes.append(each)
        elif isinstance(each, Command) and step:
            echo = next((event for event in echoes if event.step == step and is_echo(event, each)), None)
            assert echo is not None, (step, each.argv)
            echoes.remove(echo)
            named.add(step)
    assert named == steps


def test_b25_variables_that_programs_do_not_get_are_named_once(installed: Computer) -> None:
    installed.extra |= {"TRAINING_TOKEN": "hunter2", "PYTHONPATH_OF_MINE": "elsewhere"}
    result = installed.run("rebuild", "--refresh")
    assert result.code == 0, result.finished
    lines = [event["line"] for event in result.events if event["event"] == "log"]
    (line,) = (line for line in lines if "TRAINING_TOKEN" in line)
    assert "PYTHONPATH_OF_MINE" in line
    (log,) = (installed.root / "runtime" / "logs").glob("*-rebuild-*.log")
    assert log.read_text(encoding="utf-8").count("TRAINING_TOKEN") == 1
    assert "hunter2" not in log.read_text(encoding="utf-8") + str(result.events) + result.stderr
