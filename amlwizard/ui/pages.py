"""The pages between start and run, and those after it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from amlwizard.core.catalogue import Phrase
from amlwizard.core.environment.threads import run_stoppable
from amlwizard.core.wording import card_text, number_text, size_text, step_title
from amlwizard.ui.findings import (
    candidate_note,
    closed_sentence,
    error_sentence,
    source_text,
    tool_sentence,
)
from amlwizard.ui.opening import OpeningPanel
from amlwizard.ui.page import Page
from amlwizard.ui.theme import UNIT, Notice, PrimaryButton, icon
from amlwizard.ui.torch_row import TorchRow

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QHideEvent, QShowEvent

    from amlwizard.core.disk_use import DiskUse
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.facts import Candidate
    from amlwizard.ui.controller import Controller
    from amlwizard.ui.services import Services
    from amlwizard.ui.words import Words


class CheckPage(Page):
    """What was found on the computer."""

    name = "check"
    rescan = Signal()

    def build(self) -> None:
        """Lay out the table."""
        self.problem = Notice("checkProblemLabel")
        self.uv = Notice("uvFoundLabel")
        self.python = Notice("pythonFoundLabel")
        self.graphics = Notice("graphicsFoundLabel")
        for notice in (self.problem, self.uv, self.python, self.graphics):
            self.column.addWidget(notice)
        self.view = QTreeWidget()
        self.view.setObjectName("candidatesView")
        self.view.setRootIsDecorated(False)
        self.view.setColumnCount(5)
        self.view.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.words.bind(self.view.setAccessibleName, "check.candidates")
        self.column.addWidget(self.view, 1)
        self.rescan_button = self.new_button("rescanButton", "check.rescan", self.rescan.emit)
        row = QHBoxLayout()
        row.addWidget(self.rescan_button)
        row.addStretch(1)
        self.column.addLayout(row)
        self.controller.survey_changed.connect(self.refresh)

    def refresh(self) -> None:
        """Show the findings; a survey that goes on has none yet."""
        controller = self.controller
        words = self.words
        columns = ("what", "version", "where", "note", "path")
        self.view.setHeaderLabels([words(f"check.column.{name}") for name in columns])
        self.view.clear()
        self.rescan_button.setEnabled(not controller.surveying)
        refusal = controller.refusal
        self.problem.show_text("triangle", error_sentence(words, refusal) if refusal else "")
        facts = controller.facts
        self.uv.setVisible(facts is not None)
        self.python.setVisible(facts is not None)
        cards = facts.graphics if facts is not None else ()
        self.graphics.show_text("info", "\n".join(card_text(card, words.language) for card in cards))
        if facts is not None:
            self.uv.show_text("tick" if facts.uv else "info", tool_sentence(words, facts, "uv"))
            self.python.show_text("tick" if facts.python else "info", tool_sentence(words, facts, "python"))
            for found in facts.candidates:
                self._add_row(found, candidate_note(words, found, chosen=found in (facts.uv, facts.python)))

    def _add_row(self, found: Candidate, note: str) -> None:
        name = {"uv": "uv", "python": "Python"}.get(found.kind, found.kind)
        path = str(found.path)
        row = QTreeWidgetItem(self.view, [name, found.version, source_text(self.words, found.source), note, path])
        row.setIcon(0, icon("tick" if found.usable else "skip"))
        row.setToolTip(4, path)


class ToolPage(Page):
    """uv or Python: what would be used, and a button that sets up the workspace's own.

    Signals:
        install: set this tool up now; carries the id of the step.
    """

    install = Signal(str)
    kind: str
    step: str
    button_name: str

    def build(self) -> None:
        """Lay out the state and the button."""
        self.state = Notice(f"{self.kind}StateLabel")
        self.column.addWidget(self.state)
        self.button = PrimaryButton(self.button_name)
        self.words.bind_label(self.button.setText, f"page.{self.name}.install")
        self.button.clicked.connect(lambda: self.install.emit(self.step))
        self.column.addWidget(self.button)
        self.column.addStretch(1)
        self.controller.survey_changed.connect(self.refresh)

    def refresh(self) -> None:
        """Show what was found."""
        facts = self.controller.facts
        closed = closed_sentence(self.words, self.controller.holder, self.controller.write_refusal)
        if facts is None or closed:
            self.state.show_text("info", closed or self.words("found.looking"))
            self.button.setVisible(False)
            return
        chosen = facts.uv if self.kind == "uv" else facts.python
        self.state.show_text("tick" if chosen else "info", tool_sentence(self.words, facts, self.kind))
        self.button.setVisible(chosen is None)


class UvPage(ToolPage):
    """The page of uv."""

    name = "uv"
    kind = "uv"
    step = "install_uv"
    button_name = "installUvButton"


class PythonPage(ToolPage):
    """The page of the interpreter."""

    name = "python"
    kind = "python"
    step = "install_python"
    button_name = "installPythonButton"


class EnvironmentPage(Page):
    """The plan in words before anything is done, and the choice between builds where there are several."""

    name = "environment"
    build_wanted = Signal()

    def build(self) -> None:
        """Lay out the plan."""
        self.torch = TorchRow(self.words)
        self.column.addWidget(self.torch)
        self.view = QTreeWidget()
        self.view.setObjectName("planView")
        self.view.setColumnCount(2)
        self.view.setHeaderHidden(True)
        self.view.setRootIsDecorated(False)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.words.bind(self.view.setAccessibleName, "page.environment.title")
        self.view.setSelectionMode(QTreeWidget.SelectionMode.NoSelection)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.column.addWidget(self.view, 1)
        self.busy = Notice("environmentBusyLabel")
        self.column.addWidget(self.busy)
        self.column.addSpacing(UNIT)
        self.button = PrimaryButton("buildButton")
        self.words.bind_label(self.button.setText, "page.environment.build")
        self.button.clicked.connect(self.build_wanted)
        self.column.addWidget(self.button)
        self.column.addStretch(0)
        self.controller.survey_changed.connect(self.refresh)

    def refresh(self) -> None:
        """Show the plan."""
        plan, holder, facts = self.controller.plan, self.controller.holder, self.controller.facts
        surveyed = self.controller.surveyed
        if facts is not None or not self.controller.surveying:  # while it is looked at, the row stays as it is
            wished = surveyed.accelerator if surveyed is not None else None
            self.torch.show_choice(facts.torch if facts is not None else None, wished)
        self.view.clear()
        closed = self.controller.write_refusal
        self.busy.show_text("info", closed_sentence(self.words, holder, closed))
        self.button.setEnabled(self.controller.refusal is None and holder is None and closed is None)
        if plan is None:
            return
        language = self.words.language
        unknown = self.text("unknown" if plan.chooses else "untold")

        def size(number: int | None) -> list[str]:
            return [unknown] if number is None else [size_text(number, language)] if number else []

        rows = {
            "steps": [step_title(step.id, step.title, language) for step in plan.steps],
            "download": size(plan.download_bytes),
            "disk": size(plan.disk_bytes),
            "hosts": plan.hosts,
            "writes": plan.writes,
            "replaces": plan.replaces,
        }
        for key, values in rows.items():
            label = self.text(key)
            for value in values or (self.text("none"),):
                QTreeWidgetItem(self.view, [label, value])
                label = ""
        rows_shown = self.view.topLevelItemCount()
        self.view.setMaximumHeight(4 + sum(self.view.sizeHintForRow(number) for number in range(rows_shown)))


class ReadyPage(Page):
    """A page about an environment that is there."""

    def __init__(self, words: Words, controller: Controller, services: Services) -> None:
        self.services = services
        self.root = services.defaults.choices.root
        self._measuring: asyncio.Task[None] | None = None
        super().__init__(words, controller)

    def build(self) -> None:
        """Lay out the state and the ways to open the environment."""
        self.state = Notice(f"{self.name}StateLabel")
        self.column.addWidget(self.state)
        self.opening = OpeningPanel(self.words, self.controller, self.services.opening, self.root)
        self.jupyter_button = self.opening.jupyter_button
        self.row = self._new_row()
        for button in self.opening.buttons:
            self.row.addWidget(button)
        self.row.addStretch(1)
        self.column.addWidget(self.opening)

    def _new_row(self) -> QHBoxLayout:
        """Return a row of the page that is still empty.

        PySide makes objects for what is in a layout that is put into another one, and keeps them although a widget goes to
        another row later; the memory may then belong to an event.
        """
        row = QHBoxLayout()
        self.column.addLayout(row)
        return row

    def landing(self) -> QWidget:
        """Return the big button, or whatever else opens the environment."""
        opens = (self.opening.terminal_button, self.opening.folder_button)
        return super().landing() or next(button for button in opens if button.isEnabled())

    def show_root(self, root: Path) -> None:
        """Name the workspace that the page is about."""
        self.root = root
        self.opening.show_root(root)
        self.opening.set_usable(True)
        self.refresh()

    def measure(self) -> None:
        """Find out what the workspace takes on the disk."""
        if self._measuring is not None:
            self._measuring.cancel()
        self._measuring = self.controller.begin_beside(self._find_use(self.root))

    def hideEvent(self, event: QHideEvent) -> None:
        """Measure no longer, unless the window is only out of sight."""
        super().hideEvent(event)
        if self._measuring is not None and not event.spontaneous():
            self._measuring.cancel()

    async def _find_use(self, root: Path) -> None:
        use = await run_stoppable(lambda stopped: self.services.disk_use(root, stopped))
        if root == self.root:
            self.show_use(use)

    def show_use(self, use: DiskUse | None) -> None:
        """Show what the workspace takes; None while that is not known."""
        raise NotImplementedError


class FinishPage(ReadyPage):
    """What was made, and what next."""

    name = "finish"
    maintain = Signal()

    def build(self) -> None:
        """Lay out the page."""
        self.made: FinishedEvent | None = None
        self._use: DiskUse | None = None
        self._version = ""
        super().build()
        self.torch = Notice("torchSeesLabel")
        self.size_taken = Notice("finishSizeLabel")
        for below in (self.torch, self.size_taken):
            self.column.insertWidget(self.column.indexOf(self.state) + 1, below)
        self.manage_button = self.new_button("finishManageButton", "page.start.manage", self.maintain.emit)
        row = self._new_row()
        row.addWidget(self.manage_button)
        row.addStretch(1)
        self.column.addStretch(1)
        self.controller.finished.connect(self._on_finished)

    def _on_finished(self, event: FinishedEvent) -> None:
        self.made = event
        self.refresh()

    def show_root(self, root: Path) -> None:
        """Tell of the workspace, of which is not known yet what it takes."""
        self._use, self._version = None, ""
        super().show_root(root)

    def showEvent(self, event: QShowEvent) -> None:
        """Measure what the workspace takes."""
        super().showEvent(event)
        if not event.spontaneous():
            self.measure()

    async def _find_use(self, root: Path) -> None:
        """Find out which Python it has as well."""
        with suppress(OSError):  # a drive that is gone
            found = await asyncio.to_thread(self.services.memory.look, root)
            if root == self.root and found is not None:
                self._version = found.python or ""
        await super()._find_use(root)

    def show_use(self, use: DiskUse | None) -> None:
        """Say how big it is."""
        self._use = use
        self.refresh()

    def refresh(self) -> None:
        """Say what was made, where, and how big it is."""
        event = self.made
        if event is None:
            return
        key = "page.finish.made" if event.python and event.packages is not None else "page.finish.made.plain"
        packages = number_text(event.packages or 0)
        self.state.show_text("tick", self.words(key, python=event.python, packages=packages, root=event.root or self.root))
        seen = event.arguments.get("torch")
        self.torch.show_text("info", self.words(seen.key, **seen.arguments) if isinstance(seen, Phrase) else "")
        size = size_text(self._use.total, self.words.language) if self._use is not None else ""
        told = self.words("size.total", size=size) if size else self.words("size.unknown")
        if size and self._version:
            told = self.words("page.finish.size", version=self._version, size=size)
        self.size_taken.show_text("info", told)
