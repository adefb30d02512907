"""A progress bar that moves only when something has happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QPalette
from PySide6.QtWidgets import QProgressBar, QStyle, QStyleOptionProgressBar, QStylePainter

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent


class StillBar(QProgressBar):
    """Shows that nobody knows how far it is by a pattern; styles would move something to and fro.

    So nothing in the window is animated, whether the system asks for that or not.
    """

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar."""
        if self.maximum() != 0:
            super().paintEvent(event)
            return
        option = QStyleOptionProgressBar()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_ProgressBarGroove, option)
        inner = self.style().subElementRect(QStyle.SubElement.SE_ProgressBarContents, option, self)
        colour = self.palette().color(QPalette.ColorRole.Highlight)
        painter.fillRect(inner.adjusted(2, 2, -2, -2), QBrush(colour, Qt.BrushStyle.BDiagPattern))
        painter.end()
