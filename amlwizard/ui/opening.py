"""The ways to open a ready environment: the buttons of a page, and what they have to say."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QStandardPaths, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.opening.jupyter import JupyterState
from amlwizard.ui.findings import error_sentence
from amlwizard.ui.theme import UNIT, Notice, PrimaryButton

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from PySide6.QtGui import QHideEvent, QShowEvent

    from amlwizard.core.opening.shells import Shell
    from amlwizard.ui.controller import Controller
    from amlwizard.ui.services import OpeningService
    from amlwizard.ui.words import Words

_LOOK_MS: Final = 1000
_MENU: Final = "menu" if sys.platform.startswith("linux") else "desktop"
"""Where a shortcut goes: desktops of Linux show none, or ask whether it is to be trusted."""


class OpeningPanel(QWidget):
    """Shows what JupyterLab does, with a button that stops it, and what the other buttons came to.

    Signals:
        offered: other buttons are offered than before.

    Attributes:
        buttons: for the page to place; the first is ``jupyter_button``.
        has_jupyter: whether the environment holds JupyterLab.
    """

    offered = Signal()

    def __init__(self, words: Words, controller: Controller, service: OpeningService, root: Path) -> None:
        super().__init__()
        self._words = words
        self._controller = controller
        self._service = service
        self._root = root
        self.state = JupyterState.STOPPED
        self.has_jupyter = False
        self._usable = False
        self._stopping = False
        self._looking: asyncio.Task[None] | None = None
        self.jupyter_button = PrimaryButton("openJupyterButton")
        self.jupyter_button.clicked.connect(self._start_jupyter)
        self.terminal_button = self._button("openTerminalButton", "ready.terminal", self._open_terminal)
        self.folder_button = self._button("openFolderButton", "ready.folder", self._open_folder)
        self.more_button = self._button("moreButton", "ready.more")
        self.buttons = (self.jupyter_button, self.terminal_button, self.folder_button, self.more_button)
        self.stop_button = self._button("stopJupyterButton", "ready.jupyter.stop", self._stop_jupyter)
        words.bind_label(self.jupyter_button.setText, "ready.jupyter")
        self._build_menu()
        self._running = Notice("jupyterStateLabel")
        self._said = Notice("openingLabel")
        row = QHBoxLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        column.addLayout(row)
        row.addWidget(self._running, 1)
        row.addWidget(self.stop_button)
        column.addWidget(self._said)
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._look)
        words.changed.connect(self._show)
        words.changed.connect(self._build_menu)
        self._show()

    def show_root(self, root: Path) -> None:
        """Name the workspace, and look at once what it holds where it is seen; what was said about another one is over."""
        if root != self._root:
            self.has_jupyter = False
            self._build_menu()
        self._root = root
        self.state = JupyterState.STOPPED
        self._say("", "")
        self._show()
        self._stop_looking()  # it may be about another workspace
        if self.isVisible():
            self._look()

    def set_usable(self, usable: bool) -> None:
        """Offer what needs an environment that works, or keep from it."""
        self._usable = usable
        self.jupyter_button.setVisible(usable and self.has_jupyter)
        self.terminal_button.setEnabled(usable)
        self.more_button.setEnabled(usable)

    def showEvent(self, event: QShowEvent) -> None:
        """Look what goes on as long as anybody sees it."""
        super().showEvent(event)
        self._look()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no more."""
        self._timer.stop()
        self._stop_looking()  # when the window closes, its parts are gone before the end of a look
        super().hideEvent(event)

    def _button(self, name: str, key: str, press: Callable[[], None] | None = None) -> QPushButton:
        button = QPushButton()
        button.setObjectName(name)
        self._words.bind_label(button.setText, key)
        if press is not None:
            button.clicked.connect(press)
        return button

    def _build_menu(self) -> None:
        menu = self.more_button.menu() or QMenu(self.more_button)
        menu.clear()
        menu.addAction(self._words("ready.copy.interpreter"), self._copy_interpreter)
        for shell in self._service.shells():
            name = self._words(f"ready.shell.{shell}")
            menu.addAction(self._words("ready.copy.activation", shell=name), partial(self._copy_activation, shell))
        self.more_button.setMenu(menu)
        if not self.has_jupyter:
            return
        menu.addSeparator()
        menu.addAction(self._words(f"ready.shortcut.{_MENU}"), self._add_shortcut)
        menu.addAction(self._words("ready.kernel"), self._add_kernel)

    def _look(self) -> None:
        if self._looking is None or self._looking.done():
            # no task of the controller: its own glances wait until it has none
            self._looking = asyncio.get_running_loop().create_task(self._look_at(self._root))

    def _stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _look_at(self, root: Path) -> None:
        try:
            has_jupyter = await asyncio.to_thread(self._service.has_jupyter, root)
            state = await asyncio.to_thread(self._service.jupyter, root)
        except OSError:  # a drive that is gone; the page tells of that
            return
        if root != self._root:
            return
        if has_jupyter is not self.has_jupyter:
            self.has_jupyter = has_jupyter
            self._build_menu()
            self.set_usable(self._usable)
            self.offered.emit()
        if state is not self.state:
            self.state = state
            self._show()

    def _show(self) -> None:
        """Say what JupyterLab does; that it does nothing needs no words."""
        state = "stopping" if self._stopping else self.state.value
        sign = {"running": "tick", "failed": "cross"}.get(state, "dot")
        text = ""
        if state == JupyterState.FAILED:
            log = self._service.jupyter_log(self._root)
            text = error_sentence(self._words, AmlError("AML_JUPYTER_FAILED", path=str(log)))
        elif state != JupyterState.STOPPED:
            text = self._words(f"ready.jupyter.{state}")
        self._running.show_text(sign, text)
        self.stop_button.setVisible(state in {JupyterState.STARTING, JupyterState.RUNNING})

    def _start_jupyter(self) -> None:
        if self._stopping:
            return
        root, language = self._root, self._words.language

        async def start() -> None:
            if self.state is not JupyterState.RUNNING:
                self.state = JupyterState.STARTING
                self._show()
            try:
                await asyncio.to_thread(self._service.start_jupyter, root, language)
            finally:
                self.state = await asyncio.to_thread(self._service.jupyter, root)
                self._show()

        self._do(start)

    def _stop_jupyter(self) -> None:
        root = self._root

        async def stop() -> None:
            self._stopping = True
            self._show()
            try:
                await run_whole(self._service.stop_jupyter, root)
                self.state = await asyncio.to_thread(self._service.jupyter, root)
            finally:
                self._stopping = False
                self._show()
            self.jupyter_button.setFocus()

        self._do(stop)

    def _open_terminal(self) -> None:
        self._do(lambda: asyncio.to_thread(self._service.open_terminal, self._root))

    def _open_folder(self) -> None:
        opened = QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._root)))
        self._say("cross", "" if opened else self._words("ready.folder.failed", path=self._root))

    def _copy_interpreter(self) -> None:
        self._copy(self._service.interpreter(self._root))

    def _copy_activation(self, shell: Shell) -> None:
        self._copy(self._service.activation(self._root, shell))

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._say("tick", self._words("ready.copied", text=text))

    def _add_shortcut(self) -> None:
        kinds = QStandardPaths.StandardLocation
        kind = kinds.ApplicationsLocation if _MENU == "menu" else kinds.DesktopLocation
        place = Path(QStandardPaths.writableLocation(kind))
        root = self._root

        async def add() -> None:
            path = await run_whole(self._service.add_shortcut, root, place)
            self._say("tick", self._words("ready.shortcut.made", path=path))

        self._do(add)

    def _add_kernel(self) -> None:
        root = self._root

        async def add() -> None:
            name = await run_whole(self._service.add_kernel, root)
            self._say("tick", self._words("ready.kernel.made", name=root.name, folder=name))

        self._do(add)

    def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do what was asked for beside all else; what goes wrong is told on the page."""

        async def done() -> None:
            try:
                await work()
            except AmlError as error:
                self._say("cross", error_sentence(self._words, error))

        self._say("", "")
        self._controller.begin_beside(done())

    def _say(self, sign: str, text: str) -> None:
        self._said.show_text(sign or "dot", text)
