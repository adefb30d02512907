"""The files that an offline run lacks, as a list that scrolls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from amlwizard.core.lacking import Lacking, size_of

if TYPE_CHECKING:
    from amlwizard.ui.words import Words

_FEWEST_ROWS: Final = 3
_MOST_ROWS: Final = 8
"""How many are seen without scrolling: as many as there is room for, between these."""


class LackingList(QTreeWidget):
    """One row a file: its name, its size, and where it is to be had. Hidden while nothing is lacking."""

    def __init__(self, words: Words, name: str) -> None:
        super().__init__()
        self._words = words
        self._shown: tuple[Lacking, ...] = ()
        self.setObjectName(name)
        self.setColumnCount(3)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        words.bind(self.setAccessibleName, "lacking.list")
        words.changed.connect(self._fill)
        self.setVisible(False)

    def show_lacking(self, arguments: dict[str, object]) -> None:
        """Show what an error or the end of a run names as lacking, if it does."""
        found = arguments.get("lacking")
        lacking = tuple(each for each in found if isinstance(each, Lacking)) if isinstance(found, tuple) else ()
        if lacking != self._shown:
            self._shown = lacking
            self._fill()
        self.setVisible(bool(lacking))

    def _fill(self) -> None:
        self.setHeaderLabels([self._words(f"lacking.column.{name}") for name in ("name", "size", "host")])
        self.clear()
        for each in self._shown:
            row = QTreeWidgetItem(self, [each.name, size_of(each, self._words.language), each.host])
            row.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            row.setToolTip(0, each.name)
        self.setMinimumHeight(self._height(_FEWEST_ROWS))
        self.setMaximumHeight(self._height(_MOST_ROWS))

    def _height(self, rows: int) -> int:
        shown = min(len(self._shown), rows)
        return self.header().sizeHint().height() + shown * max(self.sizeHintForRow(0), 0) + 2 * self.frameWidth()
