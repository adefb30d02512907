"""Keeps the letter of a button that cannot be pressed out of the field that has the focus: Qt would write it there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

_HELD: Final = (Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier)
"""The right Alt key, which writes, is another one on X11, and Control and Alt on Windows; numbers typed have the keypad."""


class UnusedLetters(QObject):
    """Takes letters with Alt that no button or field has taken; on macOS they write."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        if sys.platform != "darwin":
            window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take them from what comes from the system, which is told to the window's handle once shortcuts were tried."""
        handle = self._window.windowHandle()
        if watched is self._window:
            if event.type() == QEvent.Type.Show and handle is not None:
                self._window.removeEventFilter(self)
                handle.installEventFilter(self)
            return False
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        return event.modifiers() in _HELD and event.text().isprintable() and event.text() != ""
