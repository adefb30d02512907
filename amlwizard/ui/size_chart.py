"""What a workspace takes on the disk, as bars with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPalette
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from amlwizard.core.wording import size_text
from amlwizard.ui.theme import UNIT, section_label, text_label

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from amlwizard.core.disk_use import DiskUse
    from amlwizard.ui.words import Words

_PARTS: Final = ("environment", "tools", "store", "cache")
_GROOVE: Final = 0.15
"""How much of the text's colour the empty part of a bar has."""


class _Bar(QWidget):
    """One bar in the colours of the palette, which it has anew whenever it is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self._share = 0.0
        self.setFixedHeight(UNIT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_share(self, share: float) -> None:
        """Fill this share of the bar."""
        self._share = share
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the groove, and the share upon it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        whole = QRectF(self.rect())
        radius = whole.height() / 2
        groove = self.palette().color(QPalette.ColorRole.WindowText)
        groove.setAlphaF(_GROOVE)
        painter.setBrush(groove)
        painter.drawRoundedRect(whole, radius, radius)
        if self._share > 0:
            width = max(whole.height(), whole.width() * self._share)
            painter.setBrush(self.palette().color(QPalette.ColorRole.Highlight))
            painter.drawRoundedRect(QRectF(0, 0, width, whole.height()), radius, radius)
        painter.end()


class SizeChart(QWidget):
    """A bar for each part, each as long as its share of the whole; the whole is told above."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._use: DiskUse | None = None
        self.setObjectName("sizeChart")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, UNIT, 0, 0)
        grid.setHorizontalSpacing(2 * UNIT)
        grid.setVerticalSpacing(UNIT // 2)
        grid.setColumnMinimumWidth(0, 11 * UNIT)
        grid.setColumnStretch(1, 1)
        self.head = section_label()
        self.head.setObjectName("sizeLabel")
        grid.addWidget(self.head, 0, 0, 1, 3)
        self._bars: dict[str, _Bar] = {}
        self._numbers: dict[str, QLabel] = {}
        for row, part in enumerate(_PARTS, 1):
            name, bar, number = text_label(), _Bar(), text_label(f"{part}SizeLabel")
            for label in (name, number):
                label.setWordWrap(False)
            number.setAlignment(Qt.AlignmentFlag.AlignRight)
            words.bind(name.setText, f"size.{part}")
            grid.addWidget(name, row, 0)
            grid.addWidget(bar, row, 1)
            grid.addWidget(number, row, 2)
            self._bars[part], self._numbers[part] = bar, number
        words.changed.connect(self._fill)
        self._fill()

    def show_use(self, use: DiskUse | None) -> None:
        """Show the sizes; None while they are not known."""
        self._use = use
        self._fill()

    def _fill(self) -> None:
        words, use = self._words, self._use
        head = words("size.unknown") if use is None else words("size.total", size=size_text(use.total, words.language))
        told = []
        for part in _PARTS:
            size = getattr(use, part) if use is not None else 0
            text = size_text(size, words.language) if use is not None else ""
            self._numbers[part].setText(text)
            self._bars[part].show_share(size / use.total if use is not None and use.total else 0)
            named = words("size.part", part=words(f"size.{part}"), size=text) if text else ""
            self._numbers[part].setAccessibleName(named)
            told.append(named)
        self.head.setText(head)
        self.setAccessibleName(head)
        self.setAccessibleDescription("\n".join(told).strip())
