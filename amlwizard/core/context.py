"""What the steps of one run share: the wish, the findings, the tools, and the way to run and report."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amlwizard.core.child_env import tool_environment
from amlwizard.core.errors import AmlError
from amlwizard.core.events import Emit, LogEvent, StepEvent, StepState
from amlwizard.core.redact import redact
from amlwizard.core.running import Command, Exited, NotStarted, OutputLine, Signalled, TimedOut
from amlwizard.core.tool_output import TAIL_LINES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import Facts, PythonFacts
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.paths import Workspace
    from amlwizard.core.running import Runner
    from amlwizard.core.wish import Wish

IDLE_SECONDS = 600.0
"""The limit of a long step: ten minutes without output, bytes or files (DESIGN section 6)."""


@dataclass(frozen=True)
class ToolResult:
    """How a tool ended that could be started and was not stopped."""

    code: int
    stdout: tuple[str, ...]
    tail: tuple[str, ...]
    """The last lines of both streams, redacted."""


@dataclass
class RunContext:
    """The state of one run; steps read it and leave their results in it."""

    workspace: Workspace
    choices: Choices
    parent_environment: Mapping[str, str]
    runner: Runner
    fetcher: Fetcher
    emit: Emit
    language: str
    tmp: Path
    facts: Facts
    wish: Wish
    step: str = ""
    uv: Path | None = None
    python: PythonFacts | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every password that this run knows, for redaction."""
        return tuple(password for _, password in self.choices.credentials.values())

    def log(self, line: str) -> None:
        """Report one line, redacted."""
        self.emit(LogEvent(self.step, redact(line, self.secrets)))

    def progress(
        self, done: int, total: int | None, unit: str, *, rate: float | None = None, subject: str | None = None
    ) -> None:
        """Report how far the present step is."""
        self.emit(StepEvent(self.step, StepState.PROGRESS, done, total, unit, rate, subject))

    def require_python(self) -> PythonFacts:
        """Return the chosen interpreter; it is there in every step after ``install_python``."""
        if self.python is None:
            raise AmlError("AML_PYTHON_MISSING", wanted=self.choices.python or "")
        return self.python

    async def run_tool(
        self,
        argv: Sequence[str],
        *,
        variables: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        total_seconds: float | None = None,
        idle_seconds: float | None = IDLE_SECONDS,
        quiet_stdout: bool = False,
    ) -> ToolResult:
        """Run a tool to its end, echo the command and its lines into the log, all redacted.

        Raises:
            AmlError: the tool could not be started, was killed, or reached a limit.
        """
        environment = tool_environment(
            self.parent_environment,
            tmp=self.tmp,
            extra={**self.fetcher.child_variables(), **(variables or {})},
        )
        self.log("$ " + " ".join(argv))
        stdout: list[str] = []
        tail: deque[str] = deque(maxlen=TAIL_LINES)

        def on_line(line: OutputLine) -> None:
            clean = redact(line.text, self.secrets)
            if line.stream == "stdout":
                stdout.append(line.text)
                if quiet_stdout:
                    return
            tail.append(clean)
            self.emit(LogEvent(self.step, clean))

        command = Command(
            argv=tuple(argv),
            env=environment.variables,
            cwd=cwd or self.workspace.root,
            total_seconds=total_seconds,
            idle_seconds=idle_seconds,
        )
        outcome = await self.runner.run(command, on_line)
        program = argv[0]
        detail = "\n".join(tail)
        match outcome:
            case Exited(code):
                return ToolResult(code, tuple(stdout), tuple(tail))
            case NotStarted(reason):
                raise AmlError("AML_TOOL_NOT_STARTED", program=program, reason=reason)
            case Signalled(number):
                raise AmlError("AML_TOOL_KILLED", detail=detail, program=program, signal=number)
            case TimedOut(seconds, idle):
                code_name = "AML_TOOL_SILENT" if idle else "AML_TOOL_TIMEOUT"
                raise AmlError(code_name, detail=detail, program=program, seconds=round(seconds))
