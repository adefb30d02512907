"""Whether all of a page is seen at 1024x640 logical pixels, in both languages, at the usual and at a large text size.

python -m tests.support.fitting ROOT writes what is not, one a line. Each QT_SCALE_FACTOR needs a process of its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

import qasync
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QWidget,
)

from amlwizard.ui.page import Page
from tests.support.tour import Tour

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.ui.wizard import SetupWizard

SIZE: Final = (1024, 640)
LANGUAGES: Final = ("en", "zh_CN")
LARGE: Final = 1.5


def problems(wizard: SetupWizard, *, scrolls: bool) -> Iterator[str]:
    """Return what of the window cannot be seen; ``scrolls`` tells that a page may be higher than the window."""
    page = wizard.currentPage()
    assert isinstance(page, Page)
    if wizard.size().toTuple() != SIZE:
        yield f"the window became {wizard.size().toTuple()}"
    if not scrolls and page.area.verticalScrollBar().maximum():
        yield f"the page is higher by {page.area.verticalScrollBar().maximum()}"
    wide, room = page.area.widget().minimumSizeHint().width(), page.area.viewport().width()
    if wide > room:
        yield f"the page is wider by {wide - room}"
    for widget in wizard.findChildren(QWidget):
        if widget.isVisible() and (cut := _cut(widget)):
            yield f"{widget.objectName() or type(widget).__name__} {cut}"


def _cut(widget: QWidget) -> str:
    """Return what is cut of a widget."""
    if isinstance(widget, QAbstractButton | QComboBox) and widget.width() < widget.minimumSizeHint().width():
        return f"is {widget.width()} wide, not {widget.minimumSizeHint().width()}"
    if isinstance(widget, QLabel) and widget.text():
        wraps = widget.wordWrap()
        high = widget.heightForWidth(widget.width()) if wraps else widget.sizeHint().height()
        wide = 0 if wraps else widget.sizeHint().width()
        if widget.height() < high or widget.width() < wide:
            return f"with '{widget.text()}' is {widget.size().toTuple()}, not {(wide, high)}"
    if isinstance(widget, QAbstractScrollArea) and widget.horizontalScrollBar().maximum():
        return f"scrolls sideways by {widget.horizontalScrollBar().maximum()}"
    if isinstance(widget, QLineEdit) and not widget.text():
        more = widget.fontMetrics().horizontalAdvance(widget.placeholderText()) - widget.width()
        if more > 0 and not widget.accessibleDescription() and not widget.toolTip():
            return f"cuts its hint by {more}"
    return ""


async def _look(root: Path, usual: QFont) -> list[str]:
    found = []

    async def visit(wizard: SetupWizard, name: str) -> None:
        for language in LANGUAGES:
            wizard.words.set_language(language)
            for factor in (1.0, LARGE):
                font = QFont(usual)
                font.setPointSizeF(usual.pointSizeF() * factor)
                QApplication.setFont(font)
                wizard.resize(*SIZE)
                await _settled()
                found.extend(f"{name} {language} {factor}: {each}" for each in problems(wizard, scrolls=factor > 1))
        QApplication.setFont(usual)
        wizard.words.set_language(LANGUAGES[0])

    tour = Tour(root, LANGUAGES[0], visit)
    await tour.walk()
    print(f"{len(tour.stops)} stops")
    return found


async def _settled() -> None:
    """Let the events of a layout come; one leads to another."""
    for _ in range(5):
        QApplication.sendPostedEvents()
        await asyncio.sleep(0)


def main(arguments: list[str]) -> int:
    """Go through all pages."""
    app = QApplication([])
    app.setStyle("Fusion")
    app.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        found = runner.run(_look(Path(arguments[0]), app.font()))
    print("\n".join(found))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
