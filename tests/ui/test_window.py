"""The window with a scripted engine, driven by clicks."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QComboBox, QLabel, QLineEdit, QWidget, QWizard

from amlwizard.app import environment_state
from amlwizard.core.choices import Choices
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import ChangesEvent, FinishedEvent, PlanEvent, PlanStep, StepEvent, StepState
from amlwizard.core.facts import AddedPackage, EnvironmentFacts
from amlwizard.core.wording import size_text
from amlwizard.ui.log_pane import CAP
from amlwizard.ui.log_text import CUT
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from amlwizard.ui.theme import UNIT
from amlwizard.ui.wizard import SetupWizard
from tests.support.fake_engine import FakeEngine
from tests.support.fake_programs import fake_programs
from tests.support.played_window import at_maintenance, click, part, reading
from tests.support.waiting import until

if TYPE_CHECKING:
    from amlwizard.core.events import Emit
    from tests.support.played_window import Play

NAMES = (
    "startPage",
    "checkPage",
    "uvPage",
    "pythonPage",
    "environmentPage",
    "finishPage",
    "maintenancePage",
    "rootEdit",
    "requirementsEdit",
    "bundleEdit",
    "languageBox",
    "setupButton",
    "rescanButton",
    "candidatesView",
    "installUvButton",
    "installPythonButton",
    "buildButton",
    "planView",
    "stepsView",
    "progressBar",
    "progressLabel",
    "logPane",
    "logSearchEdit",
    "cancelButton",
    "retryButton",
    "rebuildButton",
    "keepAddedBox",
    "repairButton",
    "addPackagesButton",
    "updateButton",
    "undoButton",
    "freeSpaceButton",
    "uninstallButton",
    "verifyButton",
    "makeBundleButton",
    "shareButton",
    "offlineBox",
    "openFolderButton",
    "openJupyterButton",
    "openTerminalButton",
    "moreButton",
    "stopJupyterButton",
    "copyReportButton",
    "messageLabel",
    "networkPage",
    "networkButton",
)


def rows(wizard: QWidget) -> list[str]:
    view = part(wizard, "stepsView")
    return [view.topLevelItem(number).text(0) for number in range(view.topLevelItemCount())]


async def set_up(wizard: SetupWizard) -> None:
    """Press the big button as soon as it can be pressed."""
    wizard.survey()
    await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
    click(wizard, "setupButton")


def test_every_promised_name_is_there(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        assert wizard.objectName() == "wizard"
        for name in NAMES:
            part(wizard, name)
        for edit in wizard.findChildren(QLineEdit):
            assert edit.accessibleName() or edit.objectName().startswith("qt_"), edit.objectName()

    play(FakeEngine(), scene)


def test_a_page_without_buttons_below_reaches_the_foot_of_the_window(play: Play) -> None:
    def foot(wizard: SetupWizard) -> int:
        page = wizard.currentPage()
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        return wizard.height() - page.mapTo(wizard, page.rect().bottomLeft()).y()

    async def scene(wizard: SetupWizard) -> None:
        await until(lambda: foot(wizard) < UNIT)
        wizard.open_network()
        button = wizard.button(QWizard.WizardButton.BackButton)
        await until(lambda: bool(button.isVisible()) and foot(wizard) > button.height() + 2 * UNIT)
        wizard.back()
        await until(lambda: foot(wizard) < UNIT)

    play(FakeEngine(), scene)


def test_one_click_goes_from_start_to_finish(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine(pause=0.12)
    engine.memory.elsewhere[tmp_path] = EnvironmentFacts("ready", "environment.ready", python="3.11.2", packages=106)
    sentences = set()

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        assert wizard.currentId() == PageId.RUN

        def finished() -> bool:
            sentences.add(part(wizard, "progressLabel").text())
            return wizard.currentId() == PageId.FINISH

        await until(finished)
        assert part(wizard, "finishStateLabel").text() == (
            f"106 packages in {tmp_path}\nInterpreter: {tmp_path}/.venv/bin/python"
        )
        size = size_text(engine.use.total)
        await until(lambda: part(wizard, "finishSizeLabel").text() == f"Python 3.11.2, {size} on the disk")

    play(engine, scene)
    assert [name for name, _ in engine.calls] == ["install"]
    assert "Downloading scipy: 49 of 147 MB in all, about 9 seconds left" in sentences


def test_a_failure_names_cause_and_remedy_and_retry_mends_it(play: Play) -> None:
    engine = FakeEngine(fail_at="fetch")

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: not wizard.controller.running)
        message = part(wizard, "messageLabel").text()
        assert "refused the connection" in message
        assert "Ask IT" in message
        engine.fail_at = ""
        click(wizard, "retryButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)
    assert engine.calls[0] == engine.calls[1]


def test_a_failure_shows_its_code(play: Play) -> None:
    engine = FakeEngine(fail_at="fetch")
    engine.fails_with = "AML_NET_REFUSED"

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        assert not part(wizard, "codeLabel").isVisible()
        await until(lambda: not wizard.controller.running)
        assert part(wizard, "codeLabel").isVisible()
        assert part(wizard, "codeLabel").text() == "Error code: AML_NET_REFUSED"
        engine.fail_at = ""
        click(wizard, "retryButton")
        assert not part(wizard, "codeLabel").isVisible()

    play(engine, scene)


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        (("index.example.org", "files.example.org"), "Checking the network: index.example.org, files.example.org…"),
        (("a.example", "b.example", "c.example", "d.example"), "a.example, b.example, c.example and 1 other host…"),
        ((), "Looking at this computer…"),
    ],
)
def test_before_the_first_step_it_is_said_which_hosts_are_reached(play: Play, hosts: tuple[str, ...], words: str) -> None:
    class Reaching(FakeEngine):
        async def install(self, choices: Choices, emit: Emit) -> FinishedEvent:
            emit(PlanEvent((PlanStep("resolve", "resolve"),), None, None, hosts, (), ()))
            await self.release.wait()
            emit(StepEvent("resolve", StepState.STARTED))
            await asyncio.Event().wait()
            raise AssertionError

    engine = Reaching()

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: part(wizard, "progressLabel").text().endswith(words))
        engine.release.set()
        await until(lambda: not part(wizard, "progressLabel").text().endswith(words))

    play(engine, scene)


def test_cancel_answers_at_once_and_ends_in_cancelled(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: "fetch" in wizard.run_page._rows)
        click(wizard, "cancelButton")
        assert part(wizard, "progressLabel").text() == "Stopping…"
        await until(lambda: not wizard.controller.running)
        assert part(wizard, "messageLabel").text().startswith("Cancelled.")

    play(FakeEngine(hold_at="fetch"), scene)


def test_the_keyboard_alone_cancels_and_tries_again(play: Play) -> None:
    engine = FakeEngine(hold_at="fetch")
    engine.alive = 1

    def press(wizard: SetupWizard, key: Qt.Key) -> None:
        QTest.keyClick(wizard.focusWidget(), key)

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
        part(wizard, "setupButton").setFocus()
        press(wizard, Qt.Key.Key_Space)
        await until(lambda: "fetch" in wizard.run_page._rows)
        assert wizard.focusWidget() is part(wizard, "detailsButton")
        press(wizard, Qt.Key.Key_Tab)
        press(wizard, Qt.Key.Key_Space)
        assert part(wizard, "progressLabel").text().startswith("Stopping")
        assert wizard.focusWidget() is part(wizard, "detailsButton")
        engine.ended.set()
        await until(lambda: not wizard.controller.running)
        assert wizard.focusWidget() is part(wizard, "retryButton")
        engine.hold_at = ""
        press(wizard, Qt.Key.Key_Space)
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)


def test_the_bar_is_as_wide_with_the_rate_as_without(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        bar, rate = part(wizard, "progressBar"), part(wizard, "rateLabel")
        await until(lambda: bool(bar.isVisible()) and bool(rate.text()))
        wizard.run_page._timer.stop()
        widths = set()
        for speed in (None, 11e6, 456e6, 7.9e3):
            wizard.run_page._on_step(StepEvent("fetch", StepState.PROGRESS, 98 * 10**6, 147 * 10**6, "bytes", speed))
            wizard.run_page._tick()
            assert bool(rate.text()) is (speed is not None)
            QApplication.sendPostedEvents()
            widths.add(bar.width())
        assert len(widths) == 1

    play(FakeEngine(hold_at="fetch"), scene)


def test_the_imports_of_the_check_are_half_of_it(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        page = wizard.run_page
        await until(lambda: "verify" in page._rows and page._latest is not None and page._latest.id == "verify")
        page._timer.stop()
        page.now = lambda: page._begun + 1
        told = []
        for unit, done in (("files", 0), ("files", 19_110), ("modules", 0), ("modules", 19_110)):
            page._on_step(StepEvent("verify", StepState.PROGRESS, done, 19_110, unit))
            page._tick()
            told.append(page.percent)
        assert told[0] < told[1] == told[2] < told[3] == 98
        assert part(wizard, "progressLabel").text() == "Importing the packages: 19,110 of 19,110 modules"

    play(FakeEngine(hold_at="verify"), scene)


def test_stopping_tells_how_many_processes_are_left_and_how_many_there_were(play: Play) -> None:
    engine = FakeEngine(hold_at="fetch")
    engine.alive = 3

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: "fetch" in wizard.run_page._rows)
        click(wizard, "cancelButton")
        await until(lambda: part(wizard, "progressLabel").text() == "Stopping… Processes still running: 3")
        engine.ended.set()
        await until(lambda: not wizard.controller.running)
        assert part(wizard, "messageLabel").text().splitlines()[0] == "Cancelled. Processes stopped: 3."
        await until(lambda: wizard.controller.idle)

    play(engine, scene)


def test_a_step_at_the_side_has_its_tick_when_it_is_done(play: Play) -> None:
    engine = FakeEngine(hold_at="install_python")

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None)
        side = wizard.side
        assert set(side.states().values()) == {"current", "ahead"}
        click(wizard, "customiseButton")
        for _ in range(3):
            wizard.next()
        assert side.states() == {  # no uv was found
            "start": "done",
            "check": "done",
            "uv": "ahead",
            "python": "done",
            "environment": "current",
            "finish": "ahead",
        }
        click(wizard, "buildButton")
        await until(lambda: side.states()["python"] == "current")
        assert (side.states()["uv"], side.states()["environment"]) == ("done", "ahead")
        engine.release.set()
        await until(lambda: wizard.currentId() == PageId.FINISH)
        assert set(side.states().values()) == {"done"}

    play(engine, scene)


def test_a_failed_step_has_no_tick_at_the_side(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: not wizard.controller.running)
        assert (wizard.side.states()["python"], wizard.side.states()["environment"]) == ("done", "failed")

    play(FakeEngine(fail_at="fetch"), scene)


def test_a_setting_that_means_nothing_is_named_and_keeps_nobody_from_going_on(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.defaults = Defaults(Choices(root=tmp_path, unknown_settings=("language: xx (/x/settings.json)",)))

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
        assert "language: xx (/x/settings.json)" in part(wizard, "settingsProblemLabel").text()
        click(wizard, "readSettingsButton")
        await until(lambda: not part(wizard, "settingsProblemLabel").isVisible())

    play(engine, scene)


@pytest.mark.parametrize("state", ["absent", "ready"])
def test_settings_that_cannot_be_used_are_told_and_nothing_is_begun_before_they_are_mended(
    play: Play, tmp_path: Path, state: str
) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts(state, f"environment.{state}", python="3.11.2", packages=106)
    file = tmp_path / "settings.json"
    problem = RefusedError("AML_SETTING_INVALID", name="root", path=str(file))
    engine.defaults = Defaults(Choices(root=tmp_path / "other"), None, problem, file=file)

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None)
        assert wizard.currentId() == PageId.START
        assert f"root in {file}" in part(wizard, "settingsProblemLabel").text()
        assert "until the settings are mended" in part(wizard, "startProblemLabel").text()
        for name in ("setupButton", "customiseButton", "manageButton", "workspacesPanel"):
            assert not part(wizard, name).isEnabled(), name
        click(wizard, "openSettingsButton")
        assert opened == [str(file)]
        click(wizard, "networkButton")
        await until(part(wizard, "checkNetworkButton").isEnabled)
        click(wizard, "checkNetworkButton")
        assert f"root in {file}" in part(wizard, "networkStateLabel").text()
        wizard.back()
        engine.environment = EnvironmentFacts("absent")
        click(wizard, "readSettingsButton")
        await until(lambda: not part(wizard, "settingsProblemLabel").isVisible())
        assert engine.read_in not in {0, threading.get_ident()}
        for name in ("readSettingsButton", "openSettingsButton", "startProblemLabel"):
            assert not part(wizard, name).isVisible(), name
        assert part(wizard, "rootEdit").text() == str(tmp_path)
        assert part(wizard, "languageBox").currentData() == "zh_CN"
        await until(lambda: wizard.controller.plan is not None)
        assert part(wizard, "setupButton").isEnabled()

    with fake_programs() as opened:
        play(engine, scene)
    assert not [name for name, _ in engine.calls]


@pytest.mark.parametrize(
    ("fields", "note", "words"),
    [
        ({"rootEdit": ""}, "rootNoteLabel", "Choose a folder."),
        ({"rootEdit": "some/folder"}, "rootNoteLabel", "Give the whole path"),
        ({"requirementsEdit": ""}, "fileNoteLabel", "Choose the file that lists the packages."),
        ({"requirementsEdit": "wanted.txt"}, "fileNoteLabel", "Give the whole path"),
        ({"bundleEdit": ""}, "bundleNoteLabel", "Choose the bundle"),
        ({"bundleEdit": "a.amlbundle"}, "bundleNoteLabel", "Give the whole path"),
    ],
)
def test_what_is_missing_is_said_beside_its_field(play: Play, fields: dict[str, str], note: str, words: str) -> None:
    engine = FakeEngine()

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(part(wizard, "setupButton").isEnabled)
        for name, text in fields.items():
            kind = {"requirementsEdit": "file", "bundleEdit": "bundle"}.get(name)
            if kind is not None:
                part(wizard, f"{kind}Button").setChecked(True)
            part(wizard, name).setText(text)
        assert not part(wizard, "setupButton").isEnabled()
        assert part(wizard, note).isVisible()
        assert words in part(wizard, note).text()
        assert part(wizard, "spaceLabel").isVisible() is (note != "rootNoteLabel")
        assert not part(wizard, "startProblemLabel").isVisible()

    play(engine, scene)


@pytest.mark.parametrize("way", ["close", "escape"])
def test_the_finish_page_closes_the_window(play: Play, way: str) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: wizard.currentId() == PageId.FINISH)
        if way == "close":
            QTest.mouseClick(wizard.button(SetupWizard.WizardButton.FinishButton), Qt.MouseButton.LeftButton)
        else:
            QTest.keyClick(wizard, Qt.Key.Key_Escape)
        await until(lambda: not wizard.isVisible())
        assert not wizard.interrupted

    play(FakeEngine(), scene)


def test_closing_during_a_run_asks_on_the_page_then_stops_and_closes(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: wizard.controller.running)
        wizard.close()
        assert wizard.isVisible()
        click(wizard, "goOnButton")
        assert wizard.controller.running
        QTest.keyClick(wizard, Qt.Key.Key_Escape)
        click(wizard, "stopAndCloseButton")
        await until(lambda: not wizard.isVisible())
        assert wizard.controller.idle
        assert wizard.interrupted

    play(FakeEngine(hold_at="fetch"), scene)


def test_closing_while_a_run_is_being_stopped_asks_nothing_and_says_when_it_closes(play: Play) -> None:
    engine = FakeEngine(hold_at="fetch")
    engine.alive = 2

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: "fetch" in wizard.run_page._rows)
        QTest.keyClick(wizard, Qt.Key.Key_Escape)
        assert part(wizard, "goOnButton").isVisible()
        click(wizard, "cancelButton")
        assert not part(wizard, "guardLabel").isVisible()
        QTest.keyClick(wizard, Qt.Key.Key_Escape)
        assert part(wizard, "guardLabel").isVisible()
        assert "being stopped; the window closes" in part(wizard, "guardLabel").text()
        for name in ("goOnButton", "stopAndCloseButton"):
            assert not part(wizard, name).isVisible()
        assert wizard.isVisible()
        engine.ended.set()
        await until(lambda: not wizard.isVisible())

    play(engine, scene)


def test_customise_walks_the_pages_and_installs_one_tool(play: Play) -> None:
    engine = FakeEngine()

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None)
        click(wizard, "customiseButton")
        await until(lambda: part(wizard, "spaceLabel").text() == "42 GB free, 1.1 GB needed")
        assert part(wizard, "candidatesView").topLevelItemCount() == 2
        wizard.next()
        click(wizard, "installUvButton")
        await until(lambda: wizard.currentId() == PageId.UV and not wizard.controller.running)
        wizard.next()
        wizard.next()
        assert wizard.currentId() == PageId.ENVIRONMENT
        await until(lambda: part(wizard, "planView").topLevelItemCount() > 6)
        click(wizard, "buildButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)
    assert [choices.until for _, choices in engine.calls] == ["install_uv", None]


def test_what_a_plan_does_not_need_is_nothing_and_what_is_chosen_is_not_awaited(play: Play) -> None:
    class ChosenEngine(FakeEngine):
        async def plan(self, choices: Choices, emit: Emit) -> PlanEvent:
            return PlanEvent((PlanStep("build", "build"),), self.size, 0, (), (), ())

        size: int | None = 0

    engine = ChosenEngine()

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: not wizard.controller.surveying)
        assert part(wizard, "spaceLabel").text() == "42 GB free"
        assert part(wizard, "promiseLabel").text().startswith("Nothing will be downloaded.")
        for size, said in ((0, "nothing"), (None, "not known yet")):
            engine.size = size
            wizard.survey()
            await until(lambda: not wizard.controller.surveying)
            items = part(wizard, "planView").findItems("Download", Qt.MatchFlag.MatchExactly)
            assert [item.text(1) for item in items] == [said]
        (disk,) = part(wizard, "planView").findItems("Disk space", Qt.MatchFlag.MatchExactly)
        assert disk.text(1) == "nothing"

    play(engine, scene)


def test_a_ready_workspace_opens_on_the_maintenance_page(play: Play) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", python="3.11.2", packages=106)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "verifyButton")
        await until(lambda: bool(engine.calls) and not wizard.controller.running)
        assert wizard.run_page.title_label.text() == "Done"
        assert set(wizard.side.states().values()) == {"done"}
        wizard.back()
        assert wizard.currentId() == PageId.MAINTENANCE
        assert wizard.controller.facts is None  # the computer is looked at again
        assert list(wizard.side.states().values()) == [*["done"] * 5, "current"]
        await until(lambda: set(wizard.side.states().values()) == {"done"})
        click(wizard, "rebuildButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)
    assert [name for name, _ in engine.calls] == ["verify", "rebuild"]


@pytest.mark.parametrize("keep", [True, False])
def test_what_was_added_by_hand_is_named_and_kept_or_left_out_by_a_rebuild(play: Play, keep: bool) -> None:
    engine = FakeEngine()
    added = (AddedPackage("tinyx", "1.0"), AddedPackage("tinya", "1.0", "2.0"))
    engine.environment = EnvironmentFacts("ready", python="3.11.2", packages=106, added=added)
    engine.changes = ChangesEvent(added=(("tinyz", "3.0"),), changed=(("tinya", "1.0", "2.0"),))

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        box = wizard.findChild(QCheckBox, "keepAddedBox")
        assert box is not None
        assert box.isVisible()
        assert box.isChecked()
        assert part(wizard, "addedLabel").text() == "Added or changed by hand: tinyx 1.0, tinya 1.0 (in the lock: 2.0)"
        assert "tinyx 1.0" in box.accessibleDescription()
        if not keep:
            box.click()
        click(wizard, "verifyButton")
        await until(lambda: bool(engine.calls) and not wizard.controller.running)
        wizard.back()
        click(wizard, "rebuildButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)
        assert wizard.run_page.changes.text() == "What changes: 1 new, 1 in another version or build."
        lines = wizard.run_page.log.tail(20)
        assert "  + tinyz 3.0" in lines
        assert "  tinya 1.0 → 2.0" in lines
        wizard.words.set_language("zh_CN")
        assert "新增 1 个" in wizard.run_page.changes.text()

    play(engine, scene)
    assert [(name, choices.keep_added) for name, choices in engine.calls] == [("verify", True), ("rebuild", keep)]


def test_what_was_kept_before_is_named_and_can_be_left_out(play: Play) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", python="3.11.2", packages=106, kept=(AddedPackage("tinyx", "1.0"),))

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert part(wizard, "addedLabel").isVisible()
        assert part(wizard, "addedLabel").text() == "Added before, and kept: tinyx 1.0"
        box = wizard.findChild(QCheckBox, "keepAddedBox")
        assert box is not None
        assert box.isVisible()
        box.click()
        click(wizard, "rebuildButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)
    assert [(name, choices.keep_added) for name, choices in engine.calls] == [("rebuild", False)]


def test_where_nothing_was_added_by_hand_nothing_is_asked(play: Play) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", python="3.11.2", packages=106)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert not part(wizard, "keepAddedBox").isVisible()
        assert not part(wizard, "addedLabel").isVisible()

    play(engine, scene)


@pytest.mark.parametrize(("state", "page"), [("ready", PageId.MAINTENANCE), ("stale", PageId.START)])
def test_nothing_can_be_set_up_before_it_is_known_what_the_folder_holds(play: Play, state: str, page: PageId) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts(state, python="3.11.2", packages=106)
    engine.slow_look = threading.Event()

    async def scene(wizard: SetupWizard) -> None:
        try:
            assert not part(wizard, "setupButton").isEnabled()
            wizard.survey()
            assert part(wizard, "spaceLabel").text() == "Looking at this computer…"
            assert not part(wizard, "setupButton").isEnabled()
        finally:
            engine.slow_look.set()
        await until(lambda: wizard.controller.environment is not None)
        assert wizard.controller.facts is None  # the long look at the computer is not waited for
        assert wizard.currentId() == page
        if page == PageId.START:
            assert part(wizard, "presentLabel").isVisible()
            click(wizard, "setupButton")
            await until(lambda: wizard.currentId() == PageId.FINISH)
        else:
            assert "106" in wizard.maintenance_page.state.label.text()

    engine.hold_detect = True
    play(engine, scene)


def test_the_big_button_waits_for_another_folder(play: Play, tmp_path: Path) -> None:
    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
        part(wizard, "minimalButton").setChecked(True)
        assert part(wizard, "setupButton").isEnabled()  # the folder is the same
        part(wizard, "rootEdit").setText(str(tmp_path / "other"))
        assert not part(wizard, "setupButton").isEnabled()
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))

    play(FakeEngine(), scene)


@pytest.mark.parametrize(
    ("state", "reason", "arguments"),
    [
        ("moved", "environment.moved", {"recorded": "/old/aml", "root": "/new/aml"}),
        ("base_missing", "environment.base_missing", {"version": "3.11.7", "base": "/gone/python3.11"}),
    ],
)
def test_an_environment_to_be_repaired_opens_where_that_is_one_click(
    play: Play, state: str, reason: str, arguments: dict[str, object]
) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts(state, reason, arguments)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        said = part(wizard, "maintenanceStateLabel").text()
        assert all(str(value) in said for value in arguments.values())
        assert "Repair mends it." in said
        click(wizard, "repairButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)
    assert [name for name, _ in engine.calls] == ["repair"]


def test_a_refusal_stands_on_the_start_page(play: Play) -> None:
    engine = FakeEngine()
    engine.refusal = RefusedError("AML_FORMAT_TOO_NEW", path="/x/uv.json", found=9, known=1)

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        assert "/x/uv.json" in part(wizard, "startProblemLabel").text()
        assert not part(wizard, "setupButton").isEnabled()

    play(engine, scene)


@pytest.mark.posix
def test_b44_a_folder_that_cannot_be_used_is_told_beside_it_and_nothing_can_be_begun(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.tries_root = True
    (tmp_path / "file").touch()

    async def scene(wizard: SetupWizard) -> None:
        edit = part(wizard, "rootEdit")
        for folder, code in (
            (tmp_path / "file" / "aml", "AML_ROOT_IS_FILE"),
            (Path(tmp_path.anchor), "AML_ROOT_TOO_BROAD"),
        ):
            edit.setText(str(folder))
            wizard.survey()
            await until(lambda: wizard.controller.idle)
            assert wizard.controller.refusal is not None
            assert wizard.controller.refusal.code == code
            assert str(folder.parent) in part(wizard, "rootNoteLabel").text()
            assert not part(wizard, "setupButton").isEnabled()
            assert not part(wizard, "customiseButton").isEnabled()
        edit.setText(str(tmp_path / "aml"))
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        assert not part(wizard, "rootNoteLabel").isVisible()
        assert part(wizard, "setupButton").isEnabled()

    play(engine, scene)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_b37_b27_what_is_to_be_known_of_the_folder_and_the_network_stands_on_the_start_page(play: Play) -> None:
    engine = FakeEngine()
    engine.remarks = ("The folder belongs to OneDrive.", "Settings of pip are used.")

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        assert part(wizard, "startRemarksLabel").text() == "\n".join(engine.remarks)
        assert part(wizard, "setupButton").isEnabled()
        wizard.start_page.root_edit.setText("/elsewhere")
        assert part(wizard, "startRemarksLabel").text() == ""

    play(engine, scene)


def test_a_folder_that_cannot_be_used_is_refused_beside_its_field(play: Play, tmp_path: Path) -> None:
    file = tmp_path / "taken"
    file.write_text("")

    class LookingEngine(FakeEngine):
        def look(self) -> EnvironmentFacts:
            return environment_state(Choices(root=root))

    root = file
    engine = LookingEngine()

    async def scene(wizard: SetupWizard) -> None:
        nonlocal root
        wizard.survey()
        await until(lambda: bool(part(wizard, "rootNoteLabel").isVisible()))
        note = part(wizard, "rootNoteLabel").text()
        assert note.splitlines()[0] == f"{file} is a file, not a folder."
        assert not part(wizard, "presentLabel").isVisible()
        assert not part(wizard, "startProblemLabel").isVisible()
        assert not part(wizard, "setupButton").isEnabled()
        root = tmp_path / "free"
        part(wizard, "rootEdit").setText(str(root))
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
        assert not part(wizard, "rootNoteLabel").isVisible()

    play(engine, scene)


def test_a_disk_that_is_too_small_is_told_beside_the_folder_and_nothing_can_be_begun(play: Play) -> None:
    class LargeEngine(FakeEngine):
        async def plan(self, choices: Choices, emit: Emit) -> PlanEvent:
            return PlanEvent((PlanStep("build", "build"),), 0, self.needed, (), (), ())

        needed = 43 * 10**9

    engine = LargeEngine()

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: not wizard.controller.surveying)
        assert "43 GB needed, 42 GB free" in part(wizard, "rootNoteLabel").text()
        assert not part(wizard, "startProblemLabel").isVisible()
        for name in ("setupButton", "customiseButton"):
            assert not part(wizard, name).isEnabled()
        engine.needed = 42 * 10**9
        wizard.survey()
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
        assert not part(wizard, "rootNoteLabel").isVisible()

    play(engine, scene)


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("AML_ROOT_NOT_ALLOWED", {"root": "/x", "file": "/etc/settings.json", "allowed": "/home"}),
        ("AML_FOLDER_LINK", {"path": "/x/runtime"}),
        ("AML_NO_SPACE", {"cause": "/x: No space left on device"}),
    ],
)
def test_whatever_is_wrong_with_the_folder_stands_beside_it(play: Play, code: str, arguments: dict[str, str]) -> None:
    engine = FakeEngine()
    engine.refusal = RefusedError(code, **arguments)  # type: ignore[arg-type]

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        assert part(wizard, "rootNoteLabel").isVisible()
        assert next(iter(arguments.values())) in part(wizard, "rootNoteLabel").text()
        assert not part(wizard, "startProblemLabel").isVisible()
        assert not part(wizard, "setupButton").isEnabled()

    play(engine, scene)


def test_colours_of_its_own_follow_the_scheme(play: Play, qapp: Any) -> None:
    before = qapp.palette()
    dark = QPalette(QColor("#4a4f54"), QColor("#43484d"))
    dark.setColor(QPalette.ColorRole.Highlight, QColor("#800080"))

    async def scene(wizard: SetupWizard) -> None:
        def colours() -> tuple[QColor, QColor]:
            window = part(wizard, "minimalButton").palette().color(QPalette.ColorRole.Window)
            return window, part(wizard, "setupButton").palette().color(QPalette.ColorRole.Button)

        wizard.survey()
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
        light = colours()
        qapp.setPalette(dark)
        await until(lambda: colours()[1].hsvHue() == QColor("#800080").hsvHue())
        assert colours()[0].lightness() > dark.color(QPalette.ColorRole.Base).lightness() + 100
        qapp.setPalette(before)
        await until(lambda: colours() == light)

    try:
        play(FakeEngine(), scene)
    finally:
        qapp.setPalette(before)


def test_the_language_changes_every_text_at_once(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None)
        before = {widget: widget.text() for kind in (QLabel, QAbstractButton) for widget in wizard.findChildren(kind)}
        box: QComboBox = part(wizard, "languageBox")
        box.setCurrentIndex(box.findData("zh_CN"))
        same = {"amlwizard", "uv", "Python", "Py&Torch", "0:00"}
        english = {
            text
            for widget, text in before.items()
            if text.strip() and widget.text() == text and text not in same and not text.startswith(("/", "qt_"))
        }
        assert english == set()

    play(FakeEngine(), scene)


def test_the_log_is_capped_and_long_lines_are_cut(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        log = wizard.run_page.log
        log.add("x" * 5_000_000)
        for number in range(200_000):
            log.add(f"line {number}")
        await until(lambda: log.pane.document().lastBlock().text() == "line 199999")
        assert log.pane.blockCount() <= CAP
        log.add("y" * 5_000_000)
        await until(lambda: log.pane.document().lastBlock().text().startswith("y"))
        assert log.pane.document().lastBlock().length() <= CUT + 4

    play(FakeEngine(), scene)


def test_progress_that_stays_where_it_was_is_no_news(play: Play) -> None:
    engine = FakeEngine(hold_at="fetch")

    async def scene(wizard: SetupWizard) -> None:
        page, later = wizard.run_page, 0.0
        page.now = lambda: time.monotonic() + later
        sentence = part(wizard, "progressLabel")
        await set_up(wizard)
        await until(lambda: "98 of 147 MB" in sentence.text())
        later = 60.0
        await until(lambda: "Downloading scipy: no news for 1 min" in sentence.text())
        same = StepEvent("fetch", StepState.PROGRESS, 98 * 10**6, 147 * 10**6, "bytes", 0.0, page._latest.subject)
        wizard.controller.step_changed.emit(same)
        later = 90.0
        await until(lambda: "Downloading scipy: no news for 1 min 3" in sentence.text())
        wizard.controller.step_changed.emit(replace(same, done=99 * 10**6))
        await until(lambda: "99 of 147 MB" in sentence.text())

    play(engine, scene)


def test_a_step_that_the_plan_left_out_stands_in_its_usual_place(play: Play) -> None:
    engine = FakeEngine(hold_at="build")
    engine.skipped = "install_python"

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: len(engine.calls) == 1 and len(rows(wizard)) == 7)
        assert rows(wizard)[:3] == ["uv", "Python", "Packages"]
        assert reading(part(wizard, "detailsButton")) == "Details"
        engine.release.set()
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)


def test_there_is_no_way_back_while_a_retry_runs(play: Play) -> None:
    engine = FakeEngine(hold_at="fetch")

    async def scene(wizard: SetupWizard) -> None:
        back = wizard.button(SetupWizard.WizardButton.BackButton)
        await set_up(wizard)
        await until(lambda: len(engine.calls) == 1)
        click(wizard, "cancelButton")
        await until(lambda: not wizard.controller.running)
        assert back.isVisible()
        assert "untouched" in part(wizard, "messageLabel").text()
        click(wizard, "retryButton")
        await until(lambda: len(engine.calls) == 2)
        assert not back.isVisible()

    play(engine, scene)
