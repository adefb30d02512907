"""An engine for tests of the text front end: it does what a script says, with the behaviour that ``Engine`` promises.

It runs in the process under test, which is started as ``python -m tests.support.scripted_engine SCRIPT ARGS``, or in the
test itself. Only the engine and the job runner are exchanged: parsing, signals, reports and exit codes are the real ones.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.engine import Engine
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.events import (
    DetectedEvent,
    FinishedEvent,
    LogEvent,
    PlanEvent,
    PlanStep,
    RunState,
    StepEvent,
    StepState,
)
from amlwizard.core.facts import Candidate, EnvironmentFacts, Facts, Host

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices
    from amlwizard.core.events import Emit

STEPS = ("install_uv", "resolve", "fetch")
PLAN = PlanEvent(
    steps=tuple(PlanStep(step, f"Title of {step}") for step in STEPS),
    download_bytes=147_000_000,
    disk_bytes=900_000_000,
    hosts=("files.example.org",),
    writes=("/ws/.venv",),
    replaces=("/ws/old",),
)
FACTS = Facts(
    host=Host("linux", "x86_64", "Debian 12", "glibc 2.36", 2, 8_000_000_000),
    candidates=(
        Candidate("uv", Path("/usr/bin/uv"), "path", "0.13.9", usable=True),
        Candidate("python", Path("/opt/python3.12"), "usual", "3.12.1", usable=True),
        Candidate("python", Path("/usr/bin/python2"), "path", "", reason="cli.detect.none"),
    ),
    uv=Candidate("uv", Path("/usr/bin/uv"), "path", "0.13.9", usable=True),
    python=None,
    environment=EnvironmentFacts("absent"),
)


class ScriptedEngine(Engine):
    """``script`` is one of the words that the methods below know."""

    def __init__(self, script: str) -> None:
        super().__init__(lambda: None, lambda _choices: None)  # type: ignore[arg-type, return-value]
        self.script = script
        self.choices: Choices | None = None
        self.undone = False

    async def detect(self, choices: Choices, emit: Emit) -> Facts:
        self._refuse_or_crash()
        await self._wait_if_told()
        emit(DetectedEvent({"uv": None, "python": None, "candidates": [], "host": {}, "environment": {}}))
        return FACTS

    async def plan(self, choices: Choices, emit: Emit) -> PlanEvent:
        self.choices = choices
        self._refuse_or_crash()
        plan = PLAN if self.script != "ready" else PlanEvent((), 0, None, (), (), ())
        emit(plan)
        return plan

    async def install(self, choices: Choices, emit: Emit) -> FinishedEvent:
        self.choices = choices
        self._refuse_or_crash()
        try:
            await self._steps(emit)
        except asyncio.CancelledError:
            await asyncio.sleep(0.3)  # ends children; a second cancel must not disturb it
            self.undone = True
            emit(StepEvent("fetch", StepState.CANCELLED, seconds=0.5))
            return self._finish(emit, RunState.CANCELLED, "AML_TEST_CANCELLED", "All children are stopped.")
        return self._finish(emit, RunState(self.script) if self.script in set(RunState) else RunState.READY)

    rebuild = install
    verify = install
    repair = install

    async def _steps(self, emit: Emit) -> None:
        if self.script == "ready":
            return
        emit(PLAN)
        emit(StepEvent("install_uv", StepState.SKIPPED))
        emit(StepEvent("resolve", StepState.STARTED))
        emit(LogEvent("resolve", "\x1b[31m$ uv pip compile\x1b[0m"))
        emit(StepEvent("resolve", StepState.DONE, seconds=0.9))
        emit(StepEvent("fetch", StepState.STARTED))
        for done in range(0, 101, 20):
            emit(StepEvent("fetch", StepState.PROGRESS, done * 10**6, 100 * 10**6, "bytes", 11e6, "scipy-1.0.whl"))
            await asyncio.sleep(0.03)
        await self._wait_if_told()
        while self.script == "talk":
            emit(LogEvent("fetch", "still at it " + "." * 4000))
            await asyncio.sleep(0.001)
        emit(StepEvent("fetch", StepState.DONE, seconds=65.0))

    async def _wait_if_told(self) -> None:
        if self.script == "wait":
            print("waiting", file=sys.stderr, flush=True)
            await asyncio.Event().wait()

    def _refuse_or_crash(self) -> None:
        if self.script == "refuse":
            raise RefusedError("AML_FORMAT_TOO_NEW", path="/ws/runtime/uv.json", found=9, known=1)
        if self.script == "fail":
            raise AmlError("AML_NO_GUI", detail="last words")
        if self.script == "crash":
            raise ZeroDivisionError("https://mei:hunter2@index.example.org/simple")

    def _finish(self, emit: Emit, state: RunState, code: str = "AML_TEST", message: str = "The end.") -> FinishedEvent:
        hint = "" if state in {RunState.READY, RunState.DONE} else "What to do."
        detail = "\x1b[1mlast words\x1b[0m" if state is RunState.FAILED else ""
        event = FinishedEvent(
            state, code, message, hint, python="/ws/.venv/bin/python", packages=106, seconds=1.5, detail=detail
        )
        emit(event)
        return event


def main() -> int:
    """Run a command line with a scripted engine."""
    from amlwizard import __main__ as program
    from amlwizard import cli

    script = sys.argv.pop(1)
    cli.build_engine = lambda _language: ScriptedEngine(script)
    code = program.main()
    if any(name.partition(".")[0] in {"PySide6", "shiboken6", "qasync"} for name in sys.modules):
        print("Qt was imported", file=sys.stderr)
        return 99
    return code


if __name__ == "__main__":
    sys.exit(main())
