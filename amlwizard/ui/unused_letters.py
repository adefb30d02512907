"""Keeps the letter of a button that cannot be pressed out of the field that has the focus: Qt would write it there."""

from __future__ import annotations

import sys
from typing import Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from amlwizard.ui.handle_events import HandleEvents

_HELD: Final = (Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier)
"""The right Alt key, which writes, is another one on X11, and Control and Alt on Windows; numbers typed have the keypad."""


class UnusedLetters(HandleEvents):
    """Takes letters with Alt that no button or field has taken, which the handle is told of; on macOS they write."""

    def takes(self, event: QEvent) -> bool:
        """Take them."""
        if sys.platform == "darwin" or event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        return event.modifiers() in _HELD and event.text().isprintable() and event.text() != ""
