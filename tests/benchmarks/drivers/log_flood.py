"""A run whose child prints as fast as it can, in a window with the log open; writes figures of it as one line of JSON.

The engine is a scripted one, but the runner, the child, the redaction of its lines and the window are the real ones.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ["QT_API"] = "pyside6"

import psutil
import qasync
from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from amlwizard.core.choices import Choices
from amlwizard.core.events import FinishedEvent, LogEvent, PlanEvent, PlanStep, RunState, StepEvent, StepState
from amlwizard.core.redact import redact
from amlwizard.core.running import Command
from amlwizard.process.qprocess_runner import QProcessRunner
from amlwizard.ui.wishes import Job
from amlwizard.ui.wizard import SetupWizard
from tests.support.fake_engine import FakeEngine, fake_services
from tests.support.heart import Heart
from tests.support.waiting import until

if TYPE_CHECKING:
    from amlwizard.core.events import Emit
    from amlwizard.core.running import OutputLine
    from amlwizard.ui.log_pane import LogPane

LINES = 1_000_000
"""As many lines are given to the log alone, and printed by the child before it is cancelled."""
WARM = 100_000
_TURN_SECONDS = 0.006
_LONGEST = 120.0
_TEXT = "Downloading numpy-2.1.0-cp311-cp311-manylinux_2_17_x86_64.whl ({})"
_CHILD = (
    "import sys\nwrite = sys.stdout.write\nwhile True:\n    write('Downloading numpy-2.1.0-cp311-cp311 (16 MB)\\n' * 1000)"
)


class Flood(FakeEngine):
    """Runs a child that prints until it is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = QProcessRunner(f"bench-{os.getpid()}")
        self.heard = 0

    def processes(self) -> int:
        return self.runner.processes()

    async def install(self, choices: Choices, emit: Emit) -> FinishedEvent:
        emit(PlanEvent((PlanStep("build", "build"),), None, None, (), (), ()))
        emit(StepEvent("build", StepState.STARTED))

        def on_line(line: OutputLine) -> None:
            self.heard += 1
            emit(LogEvent("build", redact(line.text)))

        with tempfile.TemporaryDirectory() as folder:
            command = Command((sys.executable, "-S", "-c", _CHILD), dict(os.environ), Path(folder))
            try:
                await self.runner.run(command, on_line)
            except asyncio.CancelledError:
                return FinishedEvent(RunState.CANCELLED, "AML_CANCELLED", "Cancelled.", arguments={"stopped": 1})
        raise RuntimeError("the child has ended")


async def _give(log: LogPane, lines: int) -> float:
    """Give lines to the log in turns as the runner does; return the seconds until the last one is laid out."""
    began = time.perf_counter()
    given = 0
    while given < lines:
        turn_ends = time.perf_counter() + _TURN_SECONDS
        while given < lines and time.perf_counter() < turn_ends:
            for _ in range(32):
                log.add(_TEXT.format(given))
                given += 1
        await asyncio.sleep(0)
    last = _TEXT.format(given - 1)
    await until(lambda: log.pane.document().lastBlock().text() == last, _LONGEST)
    return time.perf_counter() - began


async def _cancel(wizard: SetupWizard) -> dict[str, float]:
    """Click on Cancel from outside the window's thread; return when the window reacted, and when all was over."""
    button = wizard.run_page.cancel_button
    place = QPointF(button.rect().center())
    left, nothing = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    began: list[float] = []
    events = [
        QMouseEvent(kind, place, button.mapToGlobal(place), left, held, nothing)
        for kind, held in (
            (QEvent.Type.MouseButtonPress, left),
            (QEvent.Type.MouseButtonRelease, Qt.MouseButton.NoButton),
        )
    ]

    def click() -> None:
        began.append(time.perf_counter())
        for event in events:
            QCoreApplication.postEvent(button, event)

    thread = threading.Thread(target=click)
    thread.start()
    await until(lambda: wizard.run_page.sentence.text().startswith("Stopping"), _LONGEST)
    wizard.repaint()
    reacted = time.perf_counter()
    await until(lambda: not wizard.controller.running, _LONGEST)
    thread.join()
    return {"reacted": reacted - began[0], "over": time.perf_counter() - began[0]}


async def _measure() -> dict[str, float]:
    engine = Flood()
    with tempfile.TemporaryDirectory() as folder:
        wizard = SetupWizard(fake_services(engine, Path(folder)), "en")
        wizard.complete()
        wizard.show()
        page = wizard.run_page
        page.details.setChecked(True)
        wizard.run_job(Job.INSTALL, Choices(root=Path(folder)))
        await until(lambda: engine.heard >= WARM, _LONGEST)
        memory = psutil.Process().memory_info().rss
        began, before = time.perf_counter(), engine.heard
        heart = Heart()
        await until(lambda: engine.heard >= before + LINES, _LONGEST)
        figures = {"printed": (time.perf_counter() - began) / (engine.heard - before) * LINES, "late": heart.late}
        figures["work"] = heart.work
        figures |= await _cancel(wizard)
        page.log.clear()
        figures["given"] = await _give(page.log, LINES)
        figures["grown"] = float(psutil.Process().memory_info().rss - memory)
        wizard.close_now()
        await until(lambda: wizard.controller.idle, _LONGEST)
        return figures


def main(arguments: list[str]) -> Any:
    """Measure once and write the figures."""
    app = QApplication(arguments[:1])
    app.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        print(json.dumps(runner.run(_measure())))


if __name__ == "__main__":
    main(sys.argv)
