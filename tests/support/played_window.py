"""A window that lives in the event loop of a test while a scene is played with it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

import qasync
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QWidget

from amlwizard.ui.step_list import PageId
from amlwizard.ui.wizard import SetupWizard
from tests.support.fake_engine import FakeEngine
from tests.support.waiting import until

if TYPE_CHECKING:
    from amlwizard.ui.services import Services

Scene = Callable[[SetupWizard], Awaitable[None]]
Play = Callable[[FakeEngine, Scene], None]
"""Plays a scene with a window on an engine."""


def play_scene(qapp: Any, services: Services, scene: Scene, seconds: float = 90.0, *, complete: bool = True) -> None:
    """Show a window, play a scene, and close the window when it is over or after so many seconds.

    It has all its pages then, or the start page alone, as at its first paint.
    """

    async def main() -> None:
        wizard = SetupWizard(services, "en")
        if complete:
            wizard.complete()
        wizard.show()
        try:
            await asyncio.wait_for(scene(wizard), seconds)
        finally:
            wizard.close_now()
            await until(lambda: wizard.controller.idle, seconds)
            wizard.deleteLater()

    qapp.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qapp)) as runner:
        runner.run(main())
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def play_tour(qapp: Any, visit: Callable[[SetupWizard, str], Awaitable[None]]) -> list[str]:
    """Go through all pages, and return the names of what was visited."""
    from tests.support.tour import Tour  # which needs what is here

    tour = Tour(Path("/home/mei/aml"), "en", visit)
    qapp.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qapp)) as runner:
        runner.run(tour.walk())
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return tour.stops


async def at_maintenance(wizard: SetupWizard, seconds: float = 60.0) -> None:
    """Look at a workspace whose environment is ready, and wait until the window shows it."""
    wizard.survey()
    await until(lambda: wizard.currentId() == PageId.MAINTENANCE and not wizard.controller.surveying, seconds)
    opening = wizard.maintenance_page.opening
    await until(lambda: opening._looking is not None and opening._looking.done(), seconds)


def part(wizard: QWidget, name: str) -> Any:
    """Return a part of the window by its object name."""
    found = wizard.findChild(QWidget, name)
    assert found is not None, name
    return found


def reading(button: QAbstractButton) -> str:
    """Return the text of a button without the letter that presses it."""
    return re.sub(r"\(&.\)|&", "", button.text())


def click(wizard: QWidget, name: str) -> None:
    """Click on a button that a user could click on."""
    button = part(wizard, name)
    assert button.isVisible(), name
    assert button.isEnabled(), name
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
