"""Opens the window as ``amlwizard gui`` does, writes a line when it is painted first, and closes it."""

from __future__ import annotations

import os
import sys

os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from amlwizard.__main__ import main
from amlwizard.ui.wizard import SetupWizard


class _Watch(QObject):
    """Sees the first paint of a wizard. It looks at that one's events alone, as those of all objects are thousands."""

    def __init__(self, wizard: SetupWizard) -> None:
        super().__init__(wizard)
        wizard.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, SetupWizard):
            watched.removeEventFilter(self)
            QTimer.singleShot(0, watched, lambda: _painted(watched))  # after the paint, before anything that waits
        return False


def _painted(wizard: SetupWizard) -> None:
    sys.stdout.write("painted\n")
    sys.stdout.flush()
    wizard.close()


def _show(wizard: SetupWizard) -> None:
    _Watch(wizard)
    QWidget.show(wizard)


if __name__ == "__main__":
    application = QApplication(sys.argv[:1])
    SetupWizard.show = _show  # type: ignore[method-assign]
    sys.argv[1:] = ["gui"]
    sys.exit(main())
