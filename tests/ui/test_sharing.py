"""The window beside other runs in the same folder, and the way to remove everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from amlwizard.core.errors import AmlError, BusyError
from amlwizard.core.events import FinishedEvent, RunState, StepEvent, StepState
from amlwizard.core.facts import EnvironmentFacts, Holder
from amlwizard.core.outcome import finished_event
from amlwizard.ui import controller, wizard
from amlwizard.ui.step_list import PageId
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import at_maintenance, click, part, reading
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.events import Emit
    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play

HOLDER = Holder(4711, "2026-01-02T03:04:05Z", "install")
BUSY = BusyError("AML_WORKSPACE_BUSY", pid=HOLDER.pid, since=HOLDER.since, command=HOLDER.command)
READY = EnvironmentFacts("ready", python="3.11.2", packages=106)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the window look at the folder many times a second."""
    monkeypatch.setattr(controller, "_WATCH_SECONDS", 0.01)
    monkeypatch.setattr(wizard, "_GLANCE_MS", 20)


class MetEngine(FakeEngine):
    """Has an environment that is ready, ends with an error as long as there is one, and can uninstall."""

    def __init__(self, error: AmlError | None = None) -> None:
        super().__init__()
        self.environment = READY
        self.error = error

    async def rebuild(self, choices: Choices, emit: Emit) -> FinishedEvent:
        if self.error is not None:
            self.calls.append(("rebuild", choices))
            return finished_event(self.error, choices.root, "en")
        return await super().rebuild(choices, emit)

    async def uninstall(self, choices: Choices, emit: Emit) -> FinishedEvent:
        self.calls.append(("uninstall", choices))
        if self.error is not None:
            return finished_event(self.error, choices.root, "en")
        emit(StepEvent("uninstall", StepState.STARTED))
        emit(StepEvent("uninstall", StepState.PROGRESS, 600, 18_600, "files"))
        await self.release.wait()
        emit(StepEvent("uninstall", StepState.DONE, seconds=0.4))
        self.environment = EnvironmentFacts("absent")
        end = AmlError("AML_UNINSTALLED", root=str(choices.root))
        kept = f"Kept: {choices.root}/notebooks"
        return finished_event(end, choices.root, "en", state=RunState.DONE, detail=kept)


async def survey_in_use(wizard: SetupWizard, engine: FakeEngine) -> None:
    """Open the start page for a folder that another run holds."""
    engine.holder = HOLDER
    wizard.survey()
    await until(lambda: bool(part(wizard, "startBusyLabel").isVisible()))


async def rebuild_in_use(wizard: SetupWizard, engine: MetEngine) -> None:
    """Ask for a rebuild just when another run has taken the folder."""
    await at_maintenance(wizard)
    engine.holder = HOLDER
    click(wizard, "rebuildButton")


def test_a_folder_in_use_is_watched_until_it_is_free(play: Play) -> None:
    engine = FakeEngine()

    async def scene(wizard: SetupWizard) -> None:
        await survey_in_use(wizard, engine)
        said = part(wizard, "startBusyLabel").text()
        assert "install (process 4711)" in said
        assert "since 2026-01-02 " in said
        assert not part(wizard, "setupButton").isEnabled()
        engine.holder = Holder(4712, "2026-01-02T03:05:05Z", "repair")
        await until(lambda: "repair (process 4712)" in part(wizard, "startBusyLabel").text())
        click(wizard, "customiseButton")
        wizard.next()
        for name in ("uvStateLabel", "pythonStateLabel"):
            assert "repair" in part(wizard, name).text()
            wizard.next()
        assert wizard.currentId() == PageId.ENVIRONMENT
        assert "repair" in part(wizard, "environmentBusyLabel").text()
        assert not part(wizard, "buildButton").isEnabled()
        engine.holder = None
        await until(lambda: bool(part(wizard, "buildButton").isEnabled()))
        assert not part(wizard, "environmentBusyLabel").isVisible()
        await until(lambda: wizard.controller.plan is not None)

    play(engine, scene)


def test_an_idle_window_notices_another_run_and_what_it_has_changed(play: Play) -> None:
    engine = MetEngine()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        engine.holder = HOLDER
        await until(lambda: bool(part(wizard, "maintenanceBusyLabel").isVisible()))
        assert "install (process 4711)" in part(wizard, "maintenanceBusyLabel").text()
        assert not part(wizard, "rebuildButton").isEnabled()
        engine.holder = None
        await until(lambda: bool(part(wizard, "rebuildButton").isEnabled()))
        await until(lambda: wizard.controller.idle)
        engine.environment = EnvironmentFacts("damaged", "environment.no_packages")  # by a run too short to be met
        engine.mark += 1
        await until(lambda: "Damaged" in part(wizard, "maintenanceStateLabel").text())

    play(engine, scene)


def test_what_a_run_at_work_goes_through_is_not_called_interrupted(play: Play) -> None:
    engine = FakeEngine()
    engine.holder = HOLDER
    engine.environment = EnvironmentFacts("unfinished", "environment.unfinished")

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: bool(part(wizard, "startBusyLabel").isVisible()) and wizard.controller.free is not None)
        assert wizard.controller.environment is engine.environment
        assert wizard.currentId() == PageId.START
        assert not part(wizard, "presentLabel").isVisible()
        engine.holder = None
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE)
        assert "interrupted" in part(wizard, "maintenanceStateLabel").text()
        await until(lambda: wizard.controller.idle)
        engine.holder = HOLDER
        await until(lambda: bool(part(wizard, "maintenanceBusyLabel").isVisible()))
        assert "interrupted" not in part(wizard, "maintenanceStateLabel").text()

    play(engine, scene)


def test_a_window_in_the_task_bar_does_not_look(play: Play) -> None:
    engine = MetEngine()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        wizard._glances.stop()  # each glance is the test's own
        await until(lambda: wizard.controller.idle)
        wizard.showMinimized()
        engine.mark += 1
        wizard._glance()
        assert wizard.controller.idle
        wizard.showNormal()
        wizard._glance()
        assert not wizard.controller.idle
        await until(lambda: wizard.controller.idle)

    play(engine, scene)


def test_a_run_that_makes_the_environment_leads_to_it(play: Play) -> None:
    engine = FakeEngine()

    async def scene(wizard: SetupWizard) -> None:
        await survey_in_use(wizard, engine)
        engine.environment = READY
        engine.holder = Holder()  # somebody of whom nothing is known
        await until(lambda: "working in this folder." in part(wizard, "startBusyLabel").text())
        engine.holder = None
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE)
        assert part(wizard, "rebuildButton").isEnabled()
        assert not part(wizard, "maintenanceBusyLabel").isVisible()

    play(engine, scene)


def test_a_wish_that_meets_another_run_can_be_retried_when_that_has_ended(play: Play) -> None:
    engine = MetEngine(BUSY)

    async def scene(wizard: SetupWizard) -> None:
        await rebuild_in_use(wizard, engine)
        await until(lambda: bool(engine.calls) and not wizard.controller.running)
        assert wizard.run_page.title_label.text() == "The folder is in use"
        assert "install (process 4711)" in part(wizard, "messageLabel").text()
        assert not part(wizard, "retryButton").isEnabled()
        assert not part(wizard, "logPane").isVisible()
        engine.error = engine.holder = None
        await until(lambda: bool(part(wizard, "retryButton").isEnabled()))
        assert wizard.run_page.title_label.text() == "The folder is free again"
        assert wizard.focusWidget() is part(wizard, "retryButton")
        click(wizard, "retryButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)


def test_an_uninstallation_that_met_another_run_is_asked_for_again(play: Play) -> None:
    engine = MetEngine(BUSY)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        engine.holder = HOLDER
        click(wizard, "uninstallButton")
        click(wizard, "removeButton")
        await until(lambda: bool(engine.calls) and not wizard.controller.running)
        engine.error = engine.holder = None
        again = part(wizard, "retryButton")
        await until(lambda: bool(again.isEnabled()))
        assert reading(again) == "Uninstall…"
        assert "Uninstall asks again" in part(wizard, "messageLabel").text()
        assert not again.hasFocus()
        assert not again.isDefault()
        QTest.keyClick(wizard, Qt.Key.Key_Return)
        assert len(engine.calls) == 1
        click(wizard, "retryButton")
        assert wizard.currentId() == PageId.MAINTENANCE
        assert wizard.focusWidget() is part(wizard, "keepButton")
        assert len(engine.calls) == 1
        engine.release.set()
        click(wizard, "removeButton")
        await until(lambda: len(engine.calls) == 2 and not wizard.controller.running)
        assert wizard.run_page.title_label.text() == "Done"

    play(engine, scene)


def test_a_window_that_watches_closes_at_once(play: Play) -> None:
    engine = MetEngine(BUSY)

    async def scene(wizard: SetupWizard) -> None:
        await rebuild_in_use(wizard, engine)
        wizard.close_now()  # the run ends meanwhile by finding the folder in use
        await until(lambda: not wizard.isVisible())
        assert wizard.controller.idle

    play(engine, scene)


PROGRAMS = tuple((f"python{number}", 100 + number) for number in range(10))


@pytest.mark.parametrize(
    ("error", "lead"),
    [
        (AmlError("AML_ENVIRONMENT_OPEN", path="/x/.venv", users="", programs=PROGRAMS), "These programs use"),
        (BusyError("AML_ENVIRONMENT_IN_USE", jobs="", programs=PROGRAMS), "These jobs use"),
    ],
    ids=["open", "jobs"],
)
def test_programs_in_the_way_stand_on_the_page_one_a_line(play: Play, error: AmlError, lead: str) -> None:
    engine = MetEngine(error)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "rebuildButton")
        await until(lambda: bool(engine.calls) and not wizard.controller.running)
        assert wizard.run_page.title_label.text() == "The folder is in use"
        lines = part(wizard, "messageLabel").text().splitlines()
        assert lines[0].startswith(lead)
        assert [line.strip() for line in lines[1:8]] == [f"{name} (process {pid})" for name, pid in PROGRAMS[:7]]
        assert lines[8].strip().startswith("and 3 more")
        assert "then try again" in lines[9]
        click(wizard, "copyReportButton")
        assert not part(wizard, "copyReportButton").isEnabled()
        await until(lambda: part(wizard, "runRemarkLabel").text() == "The report is on the clipboard.")
        assert part(wizard, "copyReportButton").isEnabled()
        report = QGuiApplication.clipboard().text()
        assert "python9 (process 109)" in report
        assert f": rebuild: {'busy' if isinstance(error, BusyError) else 'failed'}, {error.code}." in report
        engine.error = None
        click(wizard, "retryButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)


def test_uninstall_asks_on_the_page_shows_how_far_it_is_and_leads_to_the_start(play: Play, tmp_path: Path) -> None:
    engine = MetEngine()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "uninstallButton")
        assert wizard.focusWidget() is part(wizard, "keepButton")
        click(wizard, "keepButton")
        assert not part(wizard, "removeButton").isVisible()
        assert engine.calls == []
        click(wizard, "uninstallButton")
        click(wizard, "removeButton")
        await until(lambda: "600 of 18,600 files" in part(wizard, "progressLabel").text())
        engine.release.set()
        await until(lambda: not wizard.controller.running)
        assert wizard.run_page.title_label.text() == "Done"
        assert f"Kept: {tmp_path}/notebooks" in part(wizard, "messageLabel").text()
        wizard.back()
        await until(lambda: wizard.currentId() == PageId.START and bool(part(wizard, "setupButton").isEnabled()))
        assert not part(wizard, "manageButton").isVisible()

    play(engine, scene)


def test_a_cancelled_uninstallation_does_not_promise_what_is_gone(play: Play) -> None:
    engine = MetEngine()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "uninstallButton")
        click(wizard, "removeButton")
        await until(lambda: bool(engine.calls))
        click(wizard, "cancelButton")
        await until(lambda: not wizard.controller.running)
        assert "untouched, and what was downloaded" not in part(wizard, "messageLabel").text()

    play(engine, scene)
