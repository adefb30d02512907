"""A window that tells what happens to it: ``python -m tests.support.called_window [BUNDLE]``.

It opens as ``amlwizard gui`` does, for the folder in AML_ROOT. ``open`` is printed when it is painted and minimised,
``forward`` when another window has called it forward, with the bundle that stands on its page then; a line on standard
input closes it.
"""

from __future__ import annotations

import os
import sys

os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QEvent, QObject, QSocketNotifier, QTimer
from PySide6.QtWidgets import QApplication, QWizard

from amlwizard.__main__ import main
from amlwizard.ui.wizard import SetupWizard


class _Watch(QObject):
    """Sees the first paint of the wizard, and that it comes back from being minimised."""

    def __init__(self) -> None:
        super().__init__()
        self._wizard: QWizard | None = None
        self._said = False
        self.notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
        self.notifier.activated.connect(self._close)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, SetupWizard):
            if self._wizard is None and event.type() == QEvent.Type.Paint:
                self._wizard = watched
                QTimer.singleShot(0, self._minimise)
            elif event.type() == QEvent.Type.WindowStateChange and self._said and not watched.isMinimized():
                QTimer.singleShot(0, self._tell_forward)
        return False

    def _minimise(self) -> None:
        assert self._wizard is not None
        self._wizard.showMinimized()
        self._said = True
        print("open", flush=True)

    def _tell_forward(self) -> None:
        assert isinstance(self._wizard, SetupWizard)
        if self._wizard.isMinimized():  # it has been told already
            return
        print("forward", self._wizard.start_page.bundle_edit.text(), flush=True)
        self._wizard.showMinimized()

    def _close(self) -> None:
        self.notifier.setEnabled(False)
        assert self._wizard is not None
        self._wizard.close()


if __name__ == "__main__":
    application = QApplication(sys.argv[:1])
    watch = _Watch()
    application.installEventFilter(watch)
    sys.argv[1:] = sys.argv[1:] or ["gui"]
    sys.exit(main())
