"""Where the keyboard is can be seen on every page, in light and dark."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFocusFrame, QLineEdit, QWidget

from amlwizard.core.facts import EnvironmentFacts
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import click, part, play_tour
from tests.support.schemes import scheme_palette
from tests.support.waiting import until
from tests.ui.test_access import tab_order

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play

AROUND = 4
"""How many pixels around a widget may show that it has the focus."""
FEWEST = 100
"""How many pixels have to differ clearly; a cursor, or dots around a word, are too small to count."""
CLEARLY = 75
"""How much lighter or darker a pixel has to be, of 255."""
READY = EnvironmentFacts("ready", python="3.11.2", packages=106)


def seen(wizard: SetupWizard, widget: QWidget) -> bytes:
    """Return how light each pixel of a widget and of a little around it is."""
    place = QRect(widget.mapTo(wizard, QPoint(0, 0)), widget.size())
    image = wizard.grab(place.adjusted(-AROUND, -AROUND, AROUND, AROUND)).toImage()
    return bytes(image.convertToFormat(QImage.Format.Format_Grayscale8).constBits())


def differing(wizard: SetupWizard, widget: QWidget) -> int:
    """Count the pixels in which it is seen that a widget has the focus."""
    if isinstance(widget, QLineEdit):
        widget.deselect()  # a selection shows it too, but is not always there
    with_focus = seen(wizard, widget)
    widget.clearFocus()
    without = seen(wizard, widget)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    return sum(abs(one - other) >= CLEARLY for one, other in zip(with_focus, without, strict=True))


def test_it_is_seen_of_every_place_that_the_keyboard_reaches(qapp: Any) -> None:
    palette, style = QPalette(qapp.palette()), qapp.style().objectName()

    async def visit(wizard: SetupWizard, name: str) -> None:
        before = wizard.focusWidget()
        for scheme in ("light", "dark"):
            qapp.setPalette(scheme_palette(scheme))
            await asyncio.sleep(0)
            wizard.activateWindow()
            QTest.keyClick(wizard.focusWidget() or wizard, Qt.Key.Key_Tab)
            for widget in tab_order(wizard):
                assert differing(wizard, widget) >= FEWEST, (name, scheme, widget.objectName())
        if before is not None:
            before.setFocus()

    qapp.setStyle("Fusion")  # there is one on every system
    try:
        play_tour(qapp, visit)
    finally:
        qapp.setPalette(palette)
        qapp.setStyle(style)


def test_nothing_is_surrounded_before_the_keyboard_is_used_and_when_nothing_has_the_focus(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        ring = wizard.findChild(QFocusFrame)
        click(wizard, "offlineBox")
        assert not ring.isVisible()
        QTest.keyClick(part(wizard, "offlineBox"), Qt.Key.Key_Tab)
        assert ring.isVisible()
        wizard.focusWidget().clearFocus()
        assert not ring.isVisible()
        await until(lambda: wizard.controller.idle)
        wizard.open_network()
        assert ring.isVisible() is (wizard.focusWidget() is not None)

    play(FakeEngine(), scene)


def test_the_ring_outlives_what_it_surrounds(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.memory.states = {tmp_path: READY, tmp_path / "speech": READY, tmp_path / "essay": None}

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        QTest.keyClick(part(wizard, "rootEdit"), Qt.Key.Key_Tab)
        row = next(iter(wizard.start_page.workspaces._rows.values()))
        row.forget_button.setFocus(Qt.FocusReason.TabFocusReason)
        row.forget_button.click()  # the list is made anew
        await until(lambda: len(engine.memory.states) == 2 and wizard.controller.idle)
        for widget in tab_order(wizard):
            assert differing(wizard, widget) >= FEWEST, widget.objectName()

    play(engine, scene)
