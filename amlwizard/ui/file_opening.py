"""Files that the system asks the running program to open, as macOS does for a double-click and a drop on the Dock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QFileOpenEvent

if TYPE_CHECKING:
    from amlwizard.ui.wizard import SetupWizard


class FileOpening(QObject):
    """Opens in the window what could be dropped on it; lives as long as that. The rest is left to whoever else wants it."""

    def __init__(self, wizard: SetupWizard) -> None:
        super().__init__(wizard)
        self._wizard = wizard
        application = QCoreApplication.instance()
        if application is not None:
            application.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Take the event of what could be opened; while a run goes on, nothing is."""
        if event.type() != QEvent.Type.FileOpen or not isinstance(event, QFileOpenEvent):
            return False
        return self._wizard.open_dropped([event.file()])
