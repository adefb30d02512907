"""The events that the system tells a window's handle, before Qt has made anything else of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class HandleEvents(QObject):
    """Watches the handle of a window, which is there once the window is shown."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)

    def takes(self, event: QEvent) -> bool:
        """Tell whether the event ends here."""
        raise NotImplementedError

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Go over from the window to its handle when that is made, and ask ``takes`` from then on."""
        if watched is not self._window:
            return self.takes(event)
        handle = self._window.windowHandle()
        if event.type() == QEvent.Type.Show and handle is not None:
            self._window.removeEventFilter(self)
            handle.installEventFilter(self)
        return False
