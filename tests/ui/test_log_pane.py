"""The log as a user meets it: followed, read, searched, filtered, copied and saved."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QApplication, QFileDialog

from amlwizard.core.errors import AmlError
from amlwizard.core.events import LogEvent
from amlwizard.ui.log_pane import CAP, LogPane
from amlwizard.ui.words import Words
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import click, part, reading
from tests.support.waiting import until
from tests.ui.test_window import set_up

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play


@pytest.fixture
def log(qtbot: QtBot) -> LogPane:
    """Return a log that is shown alone."""
    pane = LogPane(Words("en"))
    qtbot.addWidget(pane)
    pane.resize(600, 400)
    pane.show()
    return pane


def fill(qtbot: QtBot, log: LogPane, *lines: str) -> None:
    """Add lines and wait until they are laid out."""
    for line in lines:
        log.add(line)
    qtbot.waitUntil(lambda: not log._waiting)


def shown(log: LogPane) -> list[str]:
    """Return the lines that are laid out."""
    return str(log.pane.toPlainText()).split("\n")


def top(log: LogPane) -> str:
    """Return the first line that is in sight."""
    return str(log.pane.firstVisibleBlock().text())


def last_is_in_sight(log: LogPane) -> bool:
    """Tell whether the end of the last line is."""
    cursor = QTextCursor(log.pane.document())
    cursor.movePosition(QTextCursor.MoveOperation.End)
    return bool(log.pane.viewport().rect().contains(log.pane.cursorRect(cursor).center()))


def turn_wheel(log: LogPane, notches: int) -> None:
    """Turn the wheel of the mouse over the lines; upwards where positive."""
    view = log.pane.viewport()
    place = QPointF(view.rect().center())
    none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(place, view.mapToGlobal(place), QPoint(), QPoint(0, 120 * notches), *none, False)
    QApplication.sendEvent(view, event)


NUMBERED = [f"line {number}" for number in range(200)]


def test_the_newest_lines_are_followed_until_the_user_scrolls_up(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, *NUMBERED)
    assert last_is_in_sight(log)
    assert not log.follow_button.isVisible()
    turn_wheel(log, 5)
    assert log.follow_button.isVisible()
    assert reading(log.follow_button) == "Go on"
    before = top(log)
    for number in range(CAP + 100):
        log.add(f"new {number}")
    qtbot.waitUntil(lambda: reading(log.follow_button) == "Go on (5,100 new lines)")
    assert top(log) == before, "what is read stays where it is"
    qtbot.mouseClick(log.follow_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: shown(log)[-1] == "new 5099")
    assert last_is_in_sight(log)
    assert not log.follow_button.isVisible()
    assert log.pane.blockCount() <= CAP


def test_scrolling_back_to_the_end_goes_on_as_well(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, *NUMBERED)
    turn_wheel(log, 2)
    log.add("new")
    qtbot.waitUntil(lambda: reading(log.follow_button) == "Go on (1 new line)")
    turn_wheel(log, -5)
    qtbot.waitUntil(lambda: shown(log)[-1] == "new")
    assert last_is_in_sight(log)


def test_keys_scroll_too_and_selecting_stops_the_following(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, *NUMBERED)
    qtbot.keyClick(log.pane, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert top(log) == "line 0"
    assert log.follow_button.isVisible()
    log.follow()
    assert last_is_in_sight(log)
    QTest.mouseDClick(log.pane.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(10, 20))
    assert log.pane.textCursor().hasSelection()
    assert log.follow_button.isVisible()


def test_another_size_of_the_window_is_no_scrolling(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, *(f"{line} " * 20 for line in NUMBERED))
    for width, height in ((300, 300), (900, 200), (500, 600)):
        log.resize(width, height)
        qtbot.waitUntil(lambda: last_is_in_sight(log))
        assert not log.follow_button.isVisible()


def test_a_log_that_is_opened_late_shows_its_end(qtbot: QtBot, log: LogPane) -> None:
    log.hide()
    fill(qtbot, log, *(f"{line} " * 20 for line in NUMBERED))
    log.resize(350, 500)
    log.show()
    qtbot.waitUntil(lambda: last_is_in_sight(log))
    assert not log.follow_button.isVisible()


def test_lines_laid_out_while_hidden_are_followed_to_the_last_when_the_log_is_shown(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, *NUMBERED)
    log.problems.click()
    log.problems.click()  # the cursor, which Qt brings into sight when the log is shown, is at the top from now on
    log.hide()
    fill(qtbot, log, *(f"{line} " * 20 for line in NUMBERED))
    for number in range(CAP + 1000):
        log.add(f"late {number}")
    log.show()
    qtbot.waitUntil(lambda: shown(log)[-1] == f"late {CAP + 999}")
    qtbot.waitUntil(lambda: last_is_in_sight(log))
    assert log.following
    assert not log.follow_button.isVisible()


def test_only_the_user_ends_the_following(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, *NUMBERED)
    bar = log.pane.verticalScrollBar()
    font = log.pane.font()
    font.setPointSize(font.pointSize() * 2)

    def to_the_top() -> None:
        bar.setValue(0)

    def another_font() -> None:
        log.pane.setFont(font)

    for happens in (to_the_top, another_font):
        happens()
        qtbot.waitUntil(lambda: last_is_in_sight(log))
        assert log.following, happens.__name__
    bar.triggerAction(QAbstractSlider.SliderAction.SliderPageStepSub)
    assert not log.following
    assert not last_is_in_sight(log)
    bar.triggerAction(QAbstractSlider.SliderAction.SliderToMaximum)
    assert log.following
    qtbot.keyClick(log.pane, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert log.following, "that key moves nothing"


def test_the_keyboard_goes_through_the_log_from_top_to_bottom(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, *NUMBERED)
    turn_wheel(log, 5)
    log.search.setFocus()
    names = [log.search.objectName()]
    for _ in range(7):
        focused = QApplication.focusWidget()
        assert focused is not None
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        names.append(focused.objectName())
    assert names == [
        "logSearchEdit",
        "previousMatchButton",
        "nextMatchButton",
        "logPane",
        "logProblemsBox",
        "followLogButton",
        "copyLogButton",
        "saveLogButton",
    ]


def test_the_search_counts_and_goes_round_both_ways(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, "Numpy 🎉 numpy", "", "scipy", *NUMBERED, "with numpy")
    qtbot.keyClicks(log.search, "numpy")
    assert log.hits.text() == "3 matches"
    seen = []
    for modifier in [Qt.KeyboardModifier.NoModifier] * 4 + [Qt.KeyboardModifier.ShiftModifier] * 2:
        qtbot.keyClick(log.search, Qt.Key.Key_Return, modifier)
        cursor = log.pane.textCursor()
        assert cursor.selectedText().casefold() == "numpy"
        seen.append((cursor.blockNumber(), cursor.positionInBlock(), log.hits.text()))
        assert log.pane.viewport().rect().intersects(log.pane.cursorRect())
    first, second, last = (0, 5, "1 of 3"), (0, 14, "2 of 3"), (203, 10, "3 of 3")
    assert seen == [first, second, last, first, last, second]
    assert log.follow_button.isVisible(), "a match that is looked at stays"
    log.search.setText("nothing like it")
    assert log.hits.text() == "No match"
    qtbot.keyClick(log.search, Qt.Key.Key_Return)
    log.search.clear()
    assert not log.hits.isVisible()


def test_only_problems_are_shown_and_then_all_lines_at_the_same_place(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, *NUMBERED, "error: no compiler", *NUMBERED, "warning: old", "错误：磁盘已满", *NUMBERED)
    bar = log.pane.verticalScrollBar()
    turn_wheel(log, 60)
    before = top(log), bar.value()
    assert before[0] != "line 0"
    log.problems.click()
    assert shown(log) == ["error: no compiler", "warning: old", "错误：磁盘已满"]
    qtbot.keyClicks(log.search, "line")
    assert log.hits.text() == "No match", "what is not shown is not found"
    log.problems.click()
    assert (top(log), bar.value()) == before
    assert len(shown(log)) == 603
    assert log.hits.text() == "600 matches"


def test_the_filter_holds_for_lines_that_come_later(qtbot: QtBot, log: LogPane) -> None:
    log.problems.click()
    fill(qtbot, log, "fine", "still fine")
    assert shown(log) == [""]
    assert log.pane.placeholderText() == "No line here tells of a problem"
    fill(qtbot, log, "fatal: not a repository", "fine")
    assert shown(log) == ["fatal: not a repository"]
    log.problems.click()
    assert shown(log) == ["fine", "still fine", "fatal: not a repository", "fine"]
    assert last_is_in_sight(log)
    log.clear()
    assert shown(log) == [""]


def test_the_selection_is_copied_or_all_that_is_shown(qtbot: QtBot, log: LogPane) -> None:
    fill(qtbot, log, "one", "\x1b[31merror: two\x1b[0m", "three")
    log.copy()
    assert QGuiApplication.clipboard().text() == "one\nerror: two\nthree"
    log.search.setText("two")
    log.find_next()
    log.copy()
    assert QGuiApplication.clipboard().text() == "two"
    log.follow()
    log.problems.click()
    log.copy()
    assert QGuiApplication.clipboard().text() == "error: two"


def choose(wizard: SetupWizard, path: Path) -> None:
    """Choose a place in the dialog of the log."""
    click(wizard, "saveLogButton")
    dialog = wizard.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(path))
    dialog.reject()


def test_the_log_is_saved_off_the_thread_of_the_window(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine(hold_at="build", lines=2)
    engine.log = "/logs/install.log"
    engine.fail_at = "build"
    target = tmp_path / "saved.log"

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        wizard.run_page.details.setChecked(True)
        await until(lambda: wizard.run_page.log.tail(1) == ["+ package 1"])
        choose(wizard, target)
        remark = part(wizard, "logRemarkLabel")
        await until(lambda: remark.text() == f"Saved to {target}")
        assert engine.saved is not None
        thread, *wanted = engine.saved
        assert thread != threading.get_ident()
        assert wanted == [None, ["+ package 0", "+ package 1"], target]
        engine.release.set()
        await until(lambda: not wizard.controller.running)
        engine.save_problem = AmlError("AML_CANNOT_WRITE", path=str(target), reason="it is full")
        choose(wizard, target)
        await until(lambda: remark.text().startswith(f"{target} could not be written: it is full"))
        assert engine.saved[1] == "/logs/install.log"

    play(engine, scene)


def test_enter_in_the_search_presses_no_button(play: Play) -> None:
    engine = FakeEngine(fail_at="build")

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: not wizard.controller.running)
        log = wizard.run_page.log
        wizard.controller.log_sink(LogEvent("build", "error: no compiler"))
        await until(lambda: "error: no compiler" in log.pane.toPlainText())
        log.search.setFocus()
        QTest.keyClicks(log.search, "compiler")
        QTest.keyClick(log.search, Qt.Key.Key_Enter)
        assert log.hits.text() == "1 of 1"
        assert not wizard.controller.running, "nothing was retried"

    play(engine, scene)


def test_the_title_tells_the_progress_and_the_end_asks_for_attention(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeEngine(hold_at="verify")
    asked: list[object] = []
    monkeypatch.setattr(QApplication, "alert", asked.append)

    async def scene(wizard: SetupWizard) -> None:
        rest = wizard.windowTitle()
        assert rest == "amlwizard: set up data science"
        await set_up(wizard)
        assert wizard.windowTitle() == f"0 % – {rest}"
        await until(lambda: wizard.windowTitle() == f"80 % – {rest}")
        assert engine.awake is True
        assert asked == []
        wizard.words.set_language("zh_CN")
        assert wizard.windowTitle() == "80% – amlwizard：搭建数据科学环境"
        engine.release.set()
        await until(lambda: not wizard.controller.running)
        assert wizard.windowTitle() == "amlwizard：搭建数据科学环境"
        assert asked == [wizard]
        assert engine.awake is False

    play(engine, scene)
