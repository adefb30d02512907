"""Opens the window as ``amlwizard gui`` does, writes a line when it is painted first, and closes it."""

from __future__ import annotations

import os
import sys

os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWizard

from amlwizard.__main__ import main


class _Watch(QObject):
    """Sees every event of the application; stops looking at the first one that paints the wizard."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWizard):
            app = QApplication.instance()
            assert app is not None
            app.removeEventFilter(self)
            QTimer.singleShot(0, watched, lambda: _painted(watched))  # after the paint, before anything that waits
        return False


def _painted(wizard: QWizard) -> None:
    sys.stdout.write("painted\n")
    sys.stdout.flush()
    wizard.close()


if __name__ == "__main__":
    application = QApplication(sys.argv[:1])
    watch = _Watch()
    application.installEventFilter(watch)
    sys.argv[1:] = ["gui"]
    sys.exit(main())
