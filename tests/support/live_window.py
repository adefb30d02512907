"""The real window and the real engine in a process of their own: ``python -m tests.support.live_window FILE [OUT]``.

FILE is a requirements file or a bundle. The window is walked from start to finish as by a user, with a file by way of a
check of the network; where OUT is given, it makes a bundle there in the end. Meanwhile every file that is opened and
every module that is imported on the event loop's thread is noted; ``{"page": ..., "opened": [...], "imported": [...]}``
is printed in the end.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from amlwizard.app import serve, window_services
from amlwizard.core.settings import ChoiceOptions, load_settings, resolve_choices
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from amlwizard.ui.wizard import SetupWizard
from amlwizard.window_claim import claim_window

if TYPE_CHECKING:
    from amlwizard.ui.network import NetworkDesk


class Watch:
    """Notes what blocks the thread that it is made in."""

    def __init__(self) -> None:
        self.on = False
        self.opened: list[str] = []
        self.imported: list[str] = []
        self._thread = threading.get_ident()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on or threading.get_ident() != self._thread:
            return
        if event == "open":
            self.opened.append(str(arguments[0]))
        elif event == "import":
            self.imported.append(str(arguments[0]))


def desk(wizard: SetupWizard) -> NetworkDesk:
    """Return what goes on about the network."""
    return wizard.controller.network


def main(file: str, out: str = "") -> int:
    """Serve the window; return the program's exit code."""
    app = QApplication([sys.argv[0]])
    chosen: ChoiceOptions = {"bundle": file} if file.endswith(".amlbundle") else {"requirements": file}
    choices = resolve_choices(load_settings(os.environ), os.environ, Path.cwd(), **chosen)
    watch = Watch()
    timer = QTimer()
    timer.setInterval(20)

    def look() -> None:
        wizard = next((widget for widget in app.topLevelWidgets() if isinstance(widget, SetupWizard)), None)
        if wizard is None:
            return
        controller = wizard.controller
        if wizard.currentId() == PageId.START:
            watch.on = True
            if controller.plan is not None and not controller.surveying:
                checks = desk(wizard).check is None and not file.endswith(".amlbundle")
                (wizard.start_page.network_button if checks else wizard.start_page.setup_button).click()
        elif wizard.currentId() == PageId.NETWORK:
            if desk(wizard).check is not None and not desk(wizard).busy:
                wizard.back()
            elif not desk(wizard).busy:
                wizard.network_page.check_button.click()
        elif not controller.running and out and wizard.currentId() == PageId.FINISH:
            wizard.finish_page.manage_button.click()
            wizard.maintenance_page.make_bundle.emit(out)
        elif not controller.running:
            watch.on = False
            timer.stop()
            page = PageId(wizard.currentId()).name
            print(json.dumps({"page": page, "opened": watch.opened, "imported": watch.imported}), flush=True)
            wizard.close()

    timer.timeout.connect(look)
    timer.start()
    defaults = Defaults(choices)
    return serve(app, window_services("en", defaults, lambda: defaults), "en", claim_window(choices.root))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
