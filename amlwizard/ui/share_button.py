"""The button that saves the lock of a workspace for a colleague."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton

from amlwizard.core.share_names import file_name
from amlwizard.ui.save_dialog import ask_where

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.ui.words import Words


class ShareButton(QPushButton):
    """Asks where the lock shall be saved.

    Signals:
        place_chosen: save it at this path.
    """

    place_chosen = Signal(str)

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._root: Path | None = None
        self.setObjectName("shareButton")
        words.bind_label(self.setText, "page.maintenance.share")
        words.bind(self.setToolTip, "page.maintenance.share.about")
        words.bind(self.setAccessibleDescription, "page.maintenance.share.about")
        self.clicked.connect(self._choose)

    def show_root(self, root: Path) -> None:
        """Name the workspace, after which the file is called."""
        self._root = root

    def _choose(self) -> None:
        if self._root is None:
            return
        title, kinds = (self._words(f"page.maintenance.share.{key}") for key in ("choose", "filter"))
        ask_where(self.window(), title, kinds, file_name(self._root), self.place_chosen.emit)
