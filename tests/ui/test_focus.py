"""Where the keyboard is can be seen on every page, in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFocusFrame, QLineEdit, QWidget

from amlwizard.core.choices import Choices
from amlwizard.core.facts import EnvironmentFacts
from amlwizard.core.preflight import Address, Reached
from amlwizard.ui.step_list import PageId
from amlwizard.ui.wishes import Job
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import at_maintenance, click, part
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
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


@pytest.fixture(params=["light", "dark"], autouse=True)
def scheme(request: pytest.FixtureRequest, qapp: Any) -> Iterator[None]:
    """Show the window in a light or a dark palette, in a style that there is on every system."""
    palette, style = QPalette(qapp.palette()), qapp.style().objectName()
    qapp.setStyle("Fusion")
    if request.param == "dark":
        qapp.setPalette(QPalette(QColor("#4a4f54"), QColor("#2b2e31")))
    yield
    qapp.setPalette(palette)
    qapp.setStyle(style)


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


def walk(wizard: SetupWizard, *expected: str) -> None:
    """Go round the page by Tab; each widget that is met shows the focus, and the expected ones are met."""
    widgets: list[QWidget] = []
    QTest.keyClick(wizard.focusWidget() or wizard, Qt.Key.Key_Tab)
    while (widget := wizard.focusWidget()) is not None and widget not in widgets:
        widgets.append(widget)
        assert differing(wizard, widget) >= FEWEST, widget.objectName()
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    assert set(expected) <= {widget.objectName() for widget in widgets}


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


def test_on_the_pages_before_a_run(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.memory.states = {tmp_path: READY, tmp_path / "speech": READY, tmp_path / "essay": None}

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()) and wizard.controller.idle)
        walk(wizard, "rootEdit", "defaultButton", "setupButton", "customiseButton", "networkButton", "languageBox")
        row = next(iter(wizard.start_page.workspaces._rows.values()))
        row.forget_button.setFocus(Qt.FocusReason.TabFocusReason)
        row.forget_button.click()  # the list is made anew
        await until(lambda: len(engine.memory.states) == 2 and wizard.controller.idle)
        for kind, name in (("file", "requirementsEdit"), ("bundle", "bundleEdit")):
            click(wizard, f"{kind}Button")
            walk(wizard, f"{kind}Button", name)
        click(wizard, "defaultButton")
        click(wizard, "customiseButton")
        for names in (("candidatesView", "rescanButton"), ("installUvButton",), (), ("buildButton",)):
            walk(wizard, *names)
            wizard.next()

    play(engine, scene)


def test_on_the_page_of_the_network(play: Play) -> None:
    engine = FakeEngine()
    engine.reached = (Reached(Address("https://files.example.org/numpy.whl", "fetch"), None, None),)

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        wizard.open_network()
        await until(lambda: wizard.controller.idle)
        click(wizard, "checkNetworkButton")
        await until(lambda: wizard.controller.network.check is not None and wizard.controller.idle)
        walk(wizard, "mirrorBox", "proxyEdit", "copyForItButton", "hostsView")
        part(wizard, "indexUrlEdit").setText("https://index.example.org/simple")
        walk(wizard, "keepLoginBox", "saveNetworkButton")

    play(engine, scene)


def test_while_a_run_goes_on_and_after_it_failed(play: Play) -> None:
    engine = FakeEngine(hold_at="fetch", fail_at="fetch")
    engine.fails_with, engine.log = "AML_NET_REFUSED", "run.log"

    async def scene(wizard: SetupWizard) -> None:
        wizard.run_job(Job.INSTALL, Choices(root=wizard.start_page.choices().root))
        wizard.run_page.details.setChecked(True)
        await until(lambda: part(wizard, "progressBar").isVisible())
        walk(wizard, "detailsButton", "cancelButton", "logPane", "logSearchEdit", "stepsView")
        engine.release.set()
        await until(lambda: not wizard.controller.running)
        walk(wizard, "retryButton", "networkSettingsButton", "runCopyForItButton", "openLogButton", "copyReportButton")

    play(engine, scene)


def test_on_the_page_of_an_environment(play: Play) -> None:
    engine = FakeEngine()
    engine.environment = READY
    engine.can_undo = True

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await until(lambda: wizard.controller.idle)
        walk(wizard, "openJupyterButton", "updateButton", "maintenanceNetworkButton", "uninstallButton")
        click(wizard, "uninstallButton")
        walk(wizard, "removeButton", "keepButton")
        click(wizard, "keepButton")
        click(wizard, "addPackagesButton")
        walk(wizard, "addPackagesButton")
        wizard.run_job(Job.REBUILD, wizard.controller.surveyed)
        await until(lambda: wizard.currentId() == PageId.FINISH)
        await until(lambda: wizard.controller.idle)
        walk(wizard, "finishManageButton", "openFolderButton")

    play(engine, scene)
