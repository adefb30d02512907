"""What everybody needs: the keyboard alone, screen readers, contrast, large text, and a window that keeps still."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from enum import Enum
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from PySide6.QtCore import QAbstractAnimation, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QFont, QImage, QKeySequence, QPainter, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QWidget,
)

from amlwizard.core.catalogue import LANGUAGES, has_text
from amlwizard.resources import resource
from amlwizard.ui.contrast import SHAPE, STRONG_TEXT, TEXT, contrast, is_strong, wanted
from amlwizard.ui.mnemonics import LETTERS, marked
from amlwizard.ui.still_bar import StillBar
from amlwizard.ui.theme import SIGN, PrimaryButton, icon, least_contrast
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import click, part, play_tour
from tests.support.schemes import SCHEMES, scheme_palette
from tests.support.waiting import until
from tests.ui.test_window import set_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QAccessibleAnnouncementEvent
    from pytestqt.qtbot import QtBot

    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play

ROOT = Path(__file__).resolve().parents[2]
IN_ROWS = re.compile("(open|find|forget|remove)-|change|choose(Bundle|Requirements)")
"""Buttons of lists, and those beside a field with a letter of its own: they say the same several times on a page."""


def shown(wizard: QWidget) -> Iterator[QWidget]:
    return (widget for widget in wizard.findChildren(QWidget) if widget.isVisible())


def letters(wizard: QWidget) -> Iterator[tuple[str, str]]:
    """Return the letter of each part of a window that is seen, with its name."""
    for widget in shown(wizard):
        if isinstance(widget, QAbstractButton) or (isinstance(widget, QLabel) and widget.buddy() is not None):
            letter = QKeySequence.mnemonic(widget.text()).toString()
            must = isinstance(widget, QPushButton | QCheckBox | QRadioButton) and not IN_ROWS.match(widget.objectName())
            if letter or must:
                yield letter, widget.objectName() or widget.text()


def test_every_letter_presses_one_thing_in_both_languages(qapp: Any) -> None:
    async def visit(wizard: SetupWizard, name: str) -> None:
        for language in LANGUAGES:
            wizard.words.set_language(language)
            found = list(letters(wizard))
            assert [part for letter, part in found if not letter] == [], name
            twice = {letter for letter, number in Counter(letter for letter, _ in found).items() if number > 1}
            assert [part for letter, part in found if letter in twice] == [], (name, language)
        wizard.words.set_language(LANGUAGES[0])

    stops = play_tour(qapp, visit)
    assert {name.split("-")[0] for name in stops} == {str(number) for number in range(1, 13)}


def test_letters_are_marked_in_the_text_or_added_to_it() -> None:
    assert [key for key in LETTERS if not has_text(key)] == []
    assert marked("Look again", "check.rescan") == "&Look again"
    assert marked("Undo last update", "page.maintenance.undo") == "U&ndo last update"
    assert marked("From a file", "page.start.packages.file") == "From a fi&le"
    assert marked("取消", "run.cancel") == "取消(&C)"
    assert marked("保存日志…", "run.log.save") == "保存日志(&E)…"
    assert marked("Change…", "page.start.choose") == "Change…"


def test_a_letter_with_alt_presses_its_button(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None and bool(part(wizard, "customiseButton").isEnabled()))
        wizard.activateWindow()
        await until(wizard.isActiveWindow)
        QTest.keyClick(wizard, Qt.Key.Key_C, Qt.KeyboardModifier.AltModifier)
        await until(lambda: wizard.currentPage() is wizard.check_page)
        wizard.words.set_language("zh_CN")
        QTest.keyClick(wizard, Qt.Key.Key_B, Qt.KeyboardModifier.AltModifier)
        await until(lambda: wizard.currentPage() is wizard.start_page)
        QTest.keyClick(wizard, Qt.Key.Key_F, Qt.KeyboardModifier.AltModifier)
        assert wizard.focusWidget() is part(wizard, "rootEdit")

    play(FakeEngine(), scene)


def reachable(wizard: QWidget) -> set[QWidget]:
    """Return what the Tab key has to lead to; of a group of radio buttons that is the chosen one."""
    return {
        widget
        for widget in shown(wizard)
        if widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not (isinstance(widget, QRadioButton) and not widget.isChecked())
    }


def tab_order(wizard: QWidget) -> Iterator[QWidget]:
    """Go by the Tab key from what has the focus, once round; return each place while the focus is there."""
    met: list[QWidget] = []
    while (widget := wizard.focusWidget()) is not None and widget not in met:
        met.append(widget)
        yield widget
        QTest.keyClick(widget, Qt.Key.Key_Tab)


def test_the_tab_key_leads_everywhere_in_the_order_of_reading_and_each_place_has_a_name(qapp: Any) -> None:
    async def visit(wizard: SetupWizard, name: str) -> None:
        await asyncio.sleep(0)
        wizard.activateWindow()
        all_of_it = reachable(wizard)
        if not all_of_it:
            pytest.fail(f"{name}: nothing can be reached")
        before = wizard.focusWidget()
        met = list(tab_order(wizard))
        assert {each.objectName() for each in all_of_it - set(met)} == set(), (name, [e.objectName() for e in met])
        page = wizard.currentPage()
        on_page = [each for each in met if page.isAncestorOf(each)]
        places = [(each.mapTo(page, each.rect().center()).y(), each) for each in on_page]
        first = min(range(len(places)), key=lambda number: places[number][0]) if places else 0
        places = places[first:] + places[:first]  # it may have begun in the middle
        for (above, one), (below, other) in pairwise(places):
            same_row = abs(above - below) < max(one.height(), other.height()) / 2
            left, right = (each.mapTo(page, each.rect().topLeft()).x() for each in (one, other))
            assert left < right if same_row else above < below, (name, one.objectName(), other.objectName())
        for widget in met:
            interface = QAccessible.queryAccessibleInterface(widget)
            assert interface is not None
            assert interface.text(QAccessible.Text.Name).strip(), (name, widget.objectName())
            assert "&" not in interface.text(QAccessible.Text.Name), (name, widget.objectName())
            if isinstance(widget, QLineEdit) and widget.placeholderText():
                assert interface.text(QAccessible.Text.Description) or interface.text(QAccessible.Text.Name), name
        if before is not None:
            before.setFocus()

    play_tour(qapp, visit)


class FakeReader:
    """Stands in for Qt's way to screen readers: keeps what it is told."""

    AnnouncementPoliteness = QAccessible.AnnouncementPoliteness
    told: ClassVar[list[tuple[str, bool]]] = []

    @classmethod
    def updateAccessibility(cls, event: QAccessibleAnnouncementEvent) -> None:  # noqa: N802 - Qt's name
        assert event.type() == QAccessible.Event.Announcement
        cls.told.append((event.message(), event.politeness() == cls.AnnouncementPoliteness.Assertive))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Return what screen readers are told, each with whether it is urgent."""
    monkeypatch.setattr("PySide6.QtGui.QAccessible", FakeReader)
    FakeReader.told.clear()
    return FakeReader.told


def test_pages_steps_progress_and_failures_are_announced(play: Play, told: list[tuple[str, bool]]) -> None:
    engine = FakeEngine(fail_at="build", hold_at="fetch")

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: "98" in part(wizard, "progressLabel").text() and bool(part(wizard, "progressBar").isVisible()))
        assert ("Building your environment", False) in told
        assert ("Step 2 of 7: Python", False) in told
        assert ("Step 4 of 7: Download", False) in told
        steps = len(told)
        wizard.controller.step_changed.emit(wizard.run_page._latest)  # progress alone is not spoken each time
        assert len(told) == steps
        wizard.run_page._spoken.timeout.emit()
        message, urgent = told[-1]
        assert re.match(r"\d+ %\. Downloading scipy: 98 of 147 MB", message)
        assert not urgent
        assert 10_000 <= wizard.run_page._spoken.interval() <= 60_000
        engine.release.set()
        await until(lambda: not wizard.controller.running)
        ((message, urgent),) = (each for each in told if "refused the connection" in each[0])
        assert urgent
        assert "Ask IT" in message
        assert not wizard.run_page._spoken.isActive()
        engine.fail_at = ""
        wizard.words.set_language("zh_CN")
        told.clear()
        click(wizard, "retryButton")
        await until(lambda: wizard.currentPage() is wizard.finish_page)
        assert told[-1][0].startswith(wizard.finish_page.title_label.text())
        assert any(message.startswith("第 7 步，共 7 步") for message, _ in told)

    play(engine, scene)


def test_what_is_asked_and_that_it_stops_is_told_as_well(play: Play, told: list[tuple[str, bool]]) -> None:
    engine = FakeEngine(hold_at="fetch")
    engine.alive = 1

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        await until(lambda: "fetch" in wizard.run_page._rows)
        wizard.close()
        asked = part(wizard, "goOnButton")
        assert wizard.focusWidget() is asked
        described = QAccessible.queryAccessibleInterface(asked).text(QAccessible.Text.Description)
        assert described == part(wizard, "guardLabel").text()
        click(wizard, "cancelButton")
        assert told[-1][0].startswith("Stopping")
        engine.ended.set()
        await until(lambda: not wizard.controller.running)
        assert any(message.startswith("Cancelled.") and not urgent for message, urgent in told)

    play(engine, scene)


def test_what_is_out_of_sight_or_no_news_is_not_announced(play: Play, told: list[tuple[str, bool]]) -> None:
    async def scene(wizard: SetupWizard) -> None:
        notice = wizard.start_page.problem
        wizard.network_page.state.show_text("cross", "elsewhere")
        notice.show_text("cross", "here")
        notice.show_text("cross", "here")
        notice.show_text("cross", "")
        assert told == [("here", True)]

    play(FakeEngine(), scene)


def pairs(widget: QWidget) -> Iterator[tuple[QPalette.ColorRole, QPalette.ColorRole]]:
    """Return the texts of a widget with what they stand on in this window, whose pages have the colour of inputs."""
    role = QPalette.ColorRole
    if isinstance(widget, QLineEdit):
        yield role.Text, role.Base
        yield role.PlaceholderText, role.Base
    elif isinstance(widget, QPushButton):
        yield role.ButtonText, role.Base if widget.isFlat() else role.Button
    elif isinstance(widget, QLabel | QCheckBox | QRadioButton):
        yield role.WindowText, role.Base


@pytest.mark.parametrize("scheme", SCHEMES)
def test_texts_and_outlines_are_told_from_what_is_behind_them(play: Play, qapp: Any, scheme: str) -> None:
    before = qapp.palette()
    palette = scheme_palette(scheme)
    enough = wanted(palette)
    assert enough == (STRONG_TEXT if scheme.startswith("contrast") else TEXT)

    async def scene(wizard: SetupWizard) -> None:
        qapp.setPalette(palette)  # the window is there already and follows
        wizard.open_network()
        await until(lambda: not wizard.controller.network.busy)
        wizard.show()
        active, page = QPalette.ColorGroup.Active, qapp.palette().color(QPalette.ColorRole.Base)
        for widget in wizard.findChildren(QWidget):
            for text, ground in pairs(widget):
                colours = [widget.palette().color(active, each) for each in (text, ground)]
                assert contrast(*colours) >= enough, (widget.objectName(), text.name, *map(QColor.name, colours))
            if isinstance(widget, PrimaryButton) and widget._primary:
                assert widget.palette().color(active, QPalette.ColorRole.Button) != palette.color(QPalette.ColorRole.Button)
                assert least_contrast(widget, widget.palette()) >= enough, widget.objectName()
        least = enough if enough == STRONG_TEXT else SHAPE
        for name in ("mirrorBox", "proxyEdit", "saveNetworkButton", "chooseCaFileButton"):
            widget = part(wizard, name)
            widget.setEnabled(True)
            widget.clearFocus()
            assert edge(widget, page) >= least, name
        for name in ("minimalButton", "offlineBox"):
            assert edge(part(wizard, name), page) >= least, name

    qapp.setStyle("Fusion")
    try:
        play(FakeEngine(), scene)
    finally:
        qapp.setPalette(before)


def edge(widget: QWidget, page: QColor) -> float:
    """Return the contrast of a widget's outline with the page, on a line through its left side."""
    picture = widget.grab().toImage()
    line = picture.height() // 2
    return max(contrast(picture.pixelColor(place, line), page) for place in range(4))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_signs_are_seen_on_the_page(scheme: str) -> None:
    page = scheme_palette(scheme).color(QPalette.ColorGroup.Active, QPalette.ColorRole.Base)
    for name in ("tick", "dot", "info", "ring", "skip", "triangle", "cross"):
        drawn = set(re.findall(r'"(#[0-9a-f]{6})"', resource("icons", f"{name}.svg").read_text()))
        assert drawn, name
        for colour in drawn:
            assert contrast(QColor(colour), page) >= SHAPE, (name, colour)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_note_does_not_look_like_a_radio_button(scheme: str, qapp: Any) -> None:
    page = scheme_palette(scheme).color(QPalette.ColorGroup.Active, QPalette.ColorRole.Base)
    picture = QImage(QSize(64, 64), QImage.Format.Format_RGB32)
    picture.fill(page)
    painter = QPainter(picture)
    icon("info").paint(painter, picture.rect())
    painter.end()
    disc, stroke = picture.pixelColor(10, 32), picture.pixelColor(32, 38)
    assert contrast(disc, page) >= SHAPE  # filled to its edge, where the button has a ring
    assert contrast(disc, stroke) >= SHAPE  # a letter is drawn in it


def test_what_a_start_page_notes_beside_its_radio_buttons_has_the_sign_of_a_note(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        part(wizard, "fileButton").setChecked(True)
        note = wizard.start_page.file_note
        assert note.label.text()
        sign = note.findChild(QLabel)
        assert sign is not None
        assert sign.pixmap().toImage() == icon("info").pixmap(SIGN).toImage()

    play(FakeEngine(), scene)


def test_the_contrast_of_two_colours_is_that_of_the_guidelines() -> None:
    black, white = QColor("black"), QColor("white")
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(white, black) == contrast(black, white)
    assert contrast(white, white) == 1
    assert contrast(QColor("#767676"), white) == pytest.approx(4.54, abs=0.01)


class Preference(Enum):
    NoPreference = 0
    HighContrast = 1


@pytest.mark.parametrize("preference", Preference)
def test_qt_tells_from_6_10_on_whether_high_contrast_is_wanted(qapp: Any, preference: Preference) -> None:
    hints = SimpleNamespace(accessibility=lambda: SimpleNamespace(contrastPreference=lambda: preference))
    assert is_strong(scheme_palette("light"), hints) is (preference is Preference.HighContrast)
    assert is_strong(scheme_palette("contrast"), hints)


def test_before_the_palette_tells_it(qapp: Any) -> None:
    hints = SimpleNamespace()
    assert [scheme for scheme in SCHEMES if is_strong(scheme_palette(scheme), hints)] == ["contrast", "contrast-light"]


def test_a_button_that_the_style_draws_in_colours_of_its_own_keeps_those_of_the_system(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    button = PrimaryButton("someButton")
    qtbot.addWidget(button)
    usual = QPalette().color(QPalette.ColorRole.ButtonText)
    assert button.palette().color(QPalette.ColorRole.ButtonText) != usual
    monkeypatch.setattr("amlwizard.ui.theme.least_contrast", lambda _button, _palette: 1.2)
    monkeypatch.setattr(PrimaryButton, "_last", None)
    button.set_primary(True)
    assert button.palette().color(QPalette.ColorRole.ButtonText) == usual


@pytest.mark.parametrize("scale", ["1", "1.5", "2"])
def test_every_page_is_seen_whole_in_both_languages_and_with_large_text(scale: str) -> None:
    environment = {**os.environ, "QT_SCALE_FACTOR": scale, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.support.fitting", "/home/mei/aml"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    stops, *found = done.stdout.splitlines()
    assert int(stops.split()[0]) > 20, done.stderr
    assert [line for line in found if line] == []
    assert done.returncode == 0, done.stderr


def test_the_text_follows_the_size_of_the_system(play: Play, qapp: Any) -> None:
    before = qapp.font()
    larger = QFont(before)
    larger.setPointSizeF(before.pointSizeF() * 2)

    async def scene(wizard: SetupWizard) -> None:
        parts = [wizard.start_page.title_label, *(part(wizard, name) for name in ("setupButton", "rootEdit", "logPane"))]
        sizes = [each.font().pointSizeF() for each in parts]
        qapp.setFont(larger)
        await until(lambda: parts[0].font().pointSizeF() > sizes[0])
        assert [each.font().pointSizeF() for each in parts] == pytest.approx([2 * size for size in sizes])
        assert part(wizard, "logPane").font().family() != larger.family()

    try:
        play(FakeEngine(), scene)
    finally:
        qapp.setFont(before)


def test_nothing_is_animated(qtbot: QtBot) -> None:
    def animations(bar: QProgressBar) -> int:
        qtbot.addWidget(bar)
        bar.setStyle(style)
        bar.setRange(0, 0)
        bar.resize(200, 20)
        bar.show()
        bar.grab()
        return len(bar.findChildren(QAbstractAnimation))

    from PySide6.QtWidgets import QStyleFactory

    style = QStyleFactory.create("Fusion")
    assert animations(QProgressBar()) == 1
    still = StillBar()
    assert animations(still) == 0
    assert still.grab().toImage() != _empty(still)
    told = re.compile("QPropertyAnimation|QVariantAnimation|QTimeLine|QMovie|setAnimated")
    assert [path.name for path in (ROOT / "amlwizard").rglob("*.py") if told.search(path.read_text(encoding="utf-8"))] == []


def _empty(bar: StillBar) -> object:
    """Return the picture of the bar without progress."""
    bar.setRange(0, 100)
    bar.setValue(0)
    return bar.grab().toImage()


def test_all_signs_are_our_own() -> None:
    foreign = re.compile(r"standardIcon|StandardPixmap|fromTheme|ThemeIcon|setClearButtonEnabled|QMessageBox")
    sources = (ROOT / "amlwizard" / "ui").rglob("*.py")
    assert [path.name for path in sources if foreign.search(path.read_text(encoding="utf-8"))] == []
    pictures = re.compile("[\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]")
    for path in (ROOT / "resources" / "messages").glob("*.json"):
        for key, texts in json.loads(path.read_text(encoding="utf-8")).items():
            assert not any(pictures.search(texts[language]) for language in LANGUAGES), key
    assert {path.suffix for path in (ROOT / "resources" / "icons").iterdir()} == {".svg"}
