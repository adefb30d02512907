"""The real window and the real engine, closed while a child runs: ``python -m tests.support.closed_window PAGE``.

The settings come from variables and from options that PAGE brings. From PAGE the work begins that belongs there; as soon
as a process of it is at work, the window is closed by its close box, twice, and the question that follows is answered with
"stop and close". Printed are the page, how often the question kept the window open, and the ids of the processes that
were alive.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ["QT_API"] = "pyside6"

import psutil
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from amlwizard.app import serve, window_services
from amlwizard.core.settings import ChoiceOptions, load_settings, resolve_choices
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from amlwizard.ui.wizard import SetupWizard

_ASK_NOTHING = {PageId.CHECK, PageId.NETWORK}
"""Where no job goes on, but a look at the computer or at the network."""


class User:
    """Walks to a page, begins what can be begun there, and closes the window."""

    def __init__(self, page: PageId, at_work: str) -> None:
        self._page = page
        self._at_work = at_work
        self._begun = False
        self._timer = QTimer()
        self._timer.setInterval(20)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _look(self) -> None:
        wizard = next((each for each in QApplication.topLevelWidgets() if isinstance(each, SetupWizard)), None)
        if wizard is None:
            return
        if not self._begun:
            self._begin(wizard)
        elif (alive := self._alive()) and (wizard.controller.running or self._page in _ASK_NOTHING):
            self._timer.stop()
            self._close(wizard, alive)

    def _begin(self, wizard: SetupWizard) -> None:
        """Go on to the page and press its button, as far as the survey allows it."""
        controller = wizard.controller
        if self._page is PageId.CHECK:  # what is at work there is the survey itself
            if controller.surveying:
                wizard.start_page.customise.emit()
                self._begun = wizard.currentId() == PageId.CHECK
            return
        if controller.surveying or controller.surveyed is None:
            return
        if self._page is PageId.NETWORK:
            if wizard.currentId() != PageId.NETWORK:
                wizard.open_network()
            if controller.network.busy:
                return
        (Path(os.environ["STUB_FOLDER"]) / "hang").touch()
        if self._page is PageId.MAINTENANCE:
            wizard.maintenance_page.rebuild_button.click()
        elif self._page is PageId.START:
            wizard.start_page.setup_button.click()
        elif self._page is PageId.NETWORK:
            wizard.network_page.check_button.click()
        else:
            wizard.start_page.customise.emit()
            while wizard.currentId() != self._page:
                wizard.next()
            pages = {
                PageId.UV: wizard.uv_page,
                PageId.PYTHON: wizard.python_page,
                PageId.ENVIRONMENT: wizard.environment_page,
            }
            pages[self._page].button.click()
        self._begun = True

    def _alive(self) -> list[int]:
        """Return the ids of all descendants once the one is there whose command line holds the words."""
        found = psutil.Process().children(recursive=True)
        lines = []
        for process in found:
            try:
                lines.append(" ".join(process.cmdline()))
            except psutil.Error:
                continue
        return [process.pid for process in found] if any(self._at_work in line for line in lines) else []

    def _close(self, wizard: SetupWizard, alive: list[int]) -> None:
        running = wizard.controller.running
        held_open = 0
        for _ in range(2):
            wizard.close()
            held_open += wizard.isVisible() and wizard.run_page.guard.isVisible()
        print(json.dumps({"page": PageId(wizard.currentId()).name, "held_open": held_open, "alive": alive}), flush=True)
        if running:
            wizard.run_page.stop_button.click()


def main(page: str) -> int:
    """Serve the window; return the program's exit code."""
    app = QApplication([sys.argv[0]])
    chosen: ChoiceOptions = {"requirements": os.environ["WANTED_FILE"]}
    if page == "UV":
        chosen["uv_method"] = "pip-target"
    else:
        chosen["uv"] = Path(os.environ["STUB_FOLDER"]) / "uv"
    if page in {"PYTHON", "NETWORK"}:
        chosen["python"] = "3.42"
    choices = resolve_choices(load_settings(os.environ), os.environ, Path.cwd(), **chosen)
    user = User(PageId[page], "--target" if page == "UV" else "sleep")
    defaults = Defaults(choices)
    code = serve(app, window_services("en", defaults, lambda: defaults), "en")
    del user
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
