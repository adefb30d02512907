"""The window by keyboard alone: where it lands, what Enter and Esc do, and the keys of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFocusFrame, QWizard

from amlwizard.core.facts import EnvironmentFacts
from amlwizard.ui.step_list import PageId
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import at_maintenance, part
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play

READY = EnvironmentFacts("ready", "environment.ready", python="3.11.2", packages=106)
KEY = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
PLAIN = Qt.KeyboardModifier.NoModifier


def ready() -> FakeEngine:
    engine = FakeEngine()
    engine.environment = READY
    return engine


def press(wizard: SetupWizard, key: Qt.Key, held: Qt.KeyboardModifier = PLAIN) -> None:
    """Press a key where the keyboard is."""
    QTest.keyClick(wizard.focusWidget() or wizard, key, held)


def choose(button: Any) -> None:
    """Press a button that the Tab key has led to."""
    button.setFocus(Qt.FocusReason.OtherFocusReason)
    press(button.window(), KEY.Key_Space)


async def survey(wizard: SetupWizard) -> None:
    """Look at the computer until the plan is there."""
    wizard.survey()
    await until(lambda: wizard.controller.plan is not None and wizard.controller.idle)


def has_focus(wizard: SetupWizard, name: str) -> bool:
    widget = wizard.focusWidget()
    return widget is not None and widget.objectName() == name


def test_each_page_begins_where_it_is_used_first_and_that_is_seen(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        assert has_focus(wizard, "rootEdit")
        await survey(wizard)
        choose(part(wizard, "networkButton"))
        await until(lambda: has_focus(wizard, "mirrorBox"))
        assert wizard.focusWidget() is part(wizard, "mirrorBox")
        press(wizard, KEY.Key_Escape)
        assert has_focus(wizard, "rootEdit")
        await until(lambda: wizard.controller.plan is not None and wizard.controller.idle)
        choose(part(wizard, "customiseButton"))
        following = wizard.button(QWizard.WizardButton.NextButton)
        for page, spot in (
            (PageId.CHECK, following),
            (PageId.UV, part(wizard, "installUvButton")),
            (PageId.PYTHON, following),
            (PageId.ENVIRONMENT, part(wizard, "buildButton")),
        ):
            assert wizard.currentId() == page
            assert wizard.focusWidget() is spot
            if spot is not part(wizard, "buildButton"):
                choose(following)
        press(wizard, KEY.Key_Return)
        await until(lambda: wizard.currentId() == PageId.FINISH)
        await until(lambda: has_focus(wizard, "openJupyterButton"))

    play(FakeEngine(), scene)


def test_the_page_of_an_environment_begins_with_its_big_button_however_late_that_is_there(play: Play) -> None:
    engine = ready()
    engine.opening.held.clear()

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE and wizard.controller.idle)
        assert has_focus(wizard, "openTerminalButton")
        engine.opening.held.set()
        await until(lambda: has_focus(wizard, "openJupyterButton"))

    play(engine, scene)


def test_the_focus_stays_where_the_user_has_moved_it(play: Play) -> None:
    engine = ready()
    engine.opening.held.clear()

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE and wizard.controller.idle)
        press(wizard, KEY.Key_Tab)
        assert has_focus(wizard, "openFolderButton")
        engine.opening.held.set()
        await until(lambda: wizard.maintenance_page.opening.has_jupyter)
        assert has_focus(wizard, "openFolderButton")

    play(engine, scene)


def test_another_folder_can_be_typed_at_once(play: Play, tmp_path: Path) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        choose(part(wizard, "otherFolderButton"))
        assert wizard.currentId() == PageId.START
        for sign in "/x":
            QTest.keyClick(wizard.focusWidget(), sign)
        assert part(wizard, "rootEdit").text() == "/x"

    play(ready(), scene)


def test_a_job_that_ends_on_its_own_page_leaves_the_focus_on_the_way_back(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        choose(part(wizard, "verifyButton"))
        await until(lambda: wizard.currentId() == PageId.RUN and not wizard.controller.running)
        assert wizard.focusWidget() is wizard.button(QWizard.WizardButton.BackButton)
        press(wizard, KEY.Key_Return)
        assert wizard.currentId() == PageId.MAINTENANCE

    play(ready(), scene)


def test_enter_in_a_field_is_not_for_the_next_page_as_well(play: Play) -> None:
    engine = ready()
    engine.hold_at = "fetch"

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        choose(part(wizard, "addPackagesButton"))
        for sign in "polars":
            QTest.keyClick(wizard.focusWidget(), sign)
        press(wizard, KEY.Key_Return)
        await until(lambda: wizard.controller.running)
        assert not part(wizard, "detailsButton").isChecked()

    play(engine, scene)


@pytest.mark.parametrize(
    ("opens", "asks"),
    [
        ("addPackagesButton", "addEdit"),
        ("updateButton", "aheadLeaveButton"),
        ("freeSpaceButton", "aheadLeaveButton"),
        ("uninstallButton", "keepButton"),
    ],
)
def test_escape_closes_what_is_open_on_the_page_before_the_window(play: Play, opens: str, asks: str) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        choose(part(wizard, opens))
        assert wizard.focusWidget() is part(wizard, asks)
        press(wizard, KEY.Key_Escape)
        assert not part(wizard, asks).isVisible()
        assert has_focus(wizard, opens)
        assert wizard.isVisible()
        press(wizard, KEY.Key_Escape)
        await until(lambda: not wizard.isVisible())

    engine = ready()
    play(engine, scene)
    assert engine.calls == []


def test_escape_leads_back_from_a_run_that_is_over_and_through_the_pages(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await survey(wizard)
        choose(part(wizard, "customiseButton"))
        assert wizard.currentId() == PageId.CHECK
        press(wizard, KEY.Key_Escape)
        assert wizard.currentId() == PageId.START
        choose(part(wizard, "setupButton"))
        await until(lambda: part(wizard, "retryButton").isVisible())
        press(wizard, KEY.Key_Escape)
        assert wizard.currentId() == PageId.START
        assert wizard.isVisible()

    play(FakeEngine(fail_at="build"), scene)


def test_escape_at_the_question_whether_to_stop_lets_the_run_go_on(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await survey(wizard)
        choose(part(wizard, "setupButton"))
        await until(lambda: "fetch" in wizard.run_page._rows)
        press(wizard, KEY.Key_Escape)
        assert has_focus(wizard, "goOnButton")
        press(wizard, KEY.Key_Escape)
        assert not part(wizard, "guardLabel").isVisible()
        assert has_focus(wizard, "detailsButton")
        assert wizard.controller.running

    play(FakeEngine(hold_at="fetch"), scene)


def test_the_log_is_searched_from_wherever_the_keyboard_is(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await survey(wizard)
        choose(part(wizard, "setupButton"))
        log, pane = wizard.run_page.log, part(wizard, "logPane")
        await until(lambda: log.pane.document().lastBlock().text() == "+ package 2")
        wizard.activateWindow()
        await until(wizard.isActiveWindow)
        press(wizard, KEY.Key_F, CONTROL)
        assert has_focus(wizard, "logSearchEdit")
        for sign in "package":
            QTest.keyClick(wizard.focusWidget(), sign)
        found = []
        for key, held in ((KEY.Key_F3, PLAIN), (KEY.Key_F3, PLAIN), (KEY.Key_F3, Qt.KeyboardModifier.ShiftModifier)):
            press(wizard, key, held)
            found.append(log.hits.text())
        assert found == ["1 of 3", "2 of 3", "1 of 3"]
        press(wizard, KEY.Key_Escape)
        assert pane.hasFocus()
        assert log.search.text() == ""
        assert wizard.controller.running

    play(FakeEngine(hold_at="verify"), scene)


def test_any_key_makes_the_focus_seen_and_the_mouse_ends_that(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        wizard.activateWindow()
        await until(wizard.isActiveWindow)
        ring, handle = wizard.findChild(QFocusFrame), wizard.windowHandle()
        shortcut = QKeyEvent(QEvent.Type.ShortcutOverride, KEY.Key_N, Qt.KeyboardModifier.AltModifier)
        QApplication.sendEvent(handle, shortcut)
        part(wizard, "networkButton").setFocus()
        assert ring.isVisible()
        assert ring.widget() is part(wizard, "networkButton")
        QTest.mouseClick(handle, Qt.MouseButton.LeftButton)
        part(wizard, "rootEdit").setFocus()
        assert not ring.isVisible()

    play(FakeEngine(), scene)


@pytest.mark.parametrize("held", [ALT, ALT | Qt.KeyboardModifier.ShiftModifier])
def test_the_letter_of_a_button_that_cannot_be_pressed_yet_is_not_written_into_a_field(
    play: Play, held: Qt.KeyboardModifier
) -> None:
    engine = FakeEngine()
    engine.hold_detect = True

    async def scene(wizard: SetupWizard) -> None:
        edit = part(wizard, "rootEdit")
        before = edit.text()
        assert has_focus(wizard, "rootEdit")
        assert not part(wizard, "setupButton").isEnabled()
        QTest.keyClick(wizard.windowHandle(), KEY.Key_S, held)
        assert edit.text() == before
        QTest.keyClick(wizard.windowHandle(), KEY.Key_S)
        assert edit.text() == "s"

    play(engine, scene)


def test_what_the_right_alt_key_writes_is_written(play: Play) -> None:
    """Windows reports that key as Control and Alt."""

    async def scene(wizard: SetupWizard) -> None:
        QTest.keyClick(wizard.windowHandle(), KEY.Key_Q, ALT | CONTROL)
        assert part(wizard, "rootEdit").text() == "q"

    play(FakeEngine(), scene)
