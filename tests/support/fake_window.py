"""The window from its start to its end in a process of its own: ``python -m tests.support.fake_window ROOT MOMENT``.

Only the engine is exchanged. MOMENT tells when the window is closed as by its close box: ``idle`` once the survey is
through, ``run`` in the middle of a run, where the question that follows is answered with "stop and close".
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPushButton

from amlwizard.app import serve
from amlwizard.ui.wizard import SetupWizard
from tests.support.fake_engine import FakeEngine, fake_services


def main(root: str, moment: str) -> int:
    """Serve the window; return the program's exit code."""
    app = QApplication([sys.argv[0]])
    engine = FakeEngine(hold_at="fetch")
    timer = QTimer()
    timer.setInterval(20)

    def look() -> None:
        wizard = next((widget for widget in app.topLevelWidgets() if isinstance(widget, SetupWizard)), None)
        if wizard is None or (wizard.controller.plan is None and not engine.calls):
            return
        if moment == "run" and not engine.calls:
            wizard.start_page.setup_button.click()
            return
        timer.stop()
        wizard.close()
        if moment == "run":
            print("asked" if wizard.isVisible() else "closed", flush=True)
            button = wizard.findChild(QPushButton, "stopAndCloseButton")
            if button is not None:
                button.click()

    timer.timeout.connect(look)
    timer.start()
    return serve(app, fake_services(engine, Path(root)), "en")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
