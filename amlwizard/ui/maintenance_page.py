"""The page about an environment that is there: what is the case, and what can be done about it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QWidget

from amlwizard.core.bundle.names import SUFFIX
from amlwizard.core.events import RunState
from amlwizard.core.facts import EnvironmentFacts
from amlwizard.core.wording import added_text
from amlwizard.ui.added_panel import AddedPanel
from amlwizard.ui.ahead_panel import AheadPanel
from amlwizard.ui.findings import (
    closed_sentence,
    environment_sentence,
    environment_sign,
    error_sentence,
    is_in_between,
)
from amlwizard.ui.lacking_list import LackingList
from amlwizard.ui.pages import ReadyPage
from amlwizard.ui.save_dialog import ask_where
from amlwizard.ui.share_button import ShareButton
from amlwizard.ui.size_chart import SizeChart
from amlwizard.ui.theme import UNIT, Notice, PrimaryButton, text_label
from amlwizard.ui.wishes import Job

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QHideEvent, QShowEvent

    from amlwizard.core.disk_use import DiskUse
    from amlwizard.core.events import FinishedEvent

_CAPTION: Final = 12 * UNIT
"""How wide the names of the groups of buttons are at least, so that the buttons begin below one another."""


class MaintenancePage(ReadyPage):
    """The environment that is there, and what can be done with it.

    Signals:
        job: begin a job (``Job``).
        change: add packages, and take others out; two tuples of requirements.
        foresee: find out what a job would do (``Job``).
        make_bundle: write a bundle to this place.
        share: save the lock at this place.
        elsewhere: choose another folder.
        network: go to the settings of the network.
    """

    name = "maintenance"
    job = Signal(object)
    change = Signal(tuple, tuple)
    foresee = Signal(object)
    make_bundle = Signal(str)
    share = Signal(str)
    elsewhere = Signal()
    network = Signal()

    def build(self) -> None:
        """Lay out the page: the way into the environment, groups of what can be done, and below what one of these needs."""
        self.damaged = False
        self._measured: EnvironmentFacts | None = None
        super().build()
        self.install_button = PrimaryButton("installButton")
        self.words.bind_label(self.install_button.setText, "page.start.setup")
        self.install_button.clicked.connect(lambda: self.job.emit(Job.INSTALL))
        self.row.insertWidget(0, self.install_button)
        self.busy = Notice("maintenanceBusyLabel")
        self.column.addWidget(self.busy)
        self.lacking = LackingList(self.words, "maintenanceLackingView")
        self.column.addWidget(self.lacking)
        self.column.addSpacing(UNIT)
        self._build_groups()
        self._build_question()
        self.added_panel = AddedPanel(self.words)
        self.added_panel.setVisible(False)
        self.added_panel.add.connect(lambda names: self.change.emit(names, ()))
        self.added_panel.remove.connect(lambda name: self.change.emit((), (name,)))
        self.column.addWidget(self.added_panel)
        self.ahead = AheadPanel(self.words, self.controller.foresight)
        self.ahead.agreed.connect(self.job)
        self.ahead.leave_button.clicked.connect(self._focus_asked)
        self.column.addWidget(self.ahead)
        self._build_added()
        self.chart = SizeChart(self.words)
        self.column.addWidget(self.chart)
        self.column.addStretch(1)
        self.controller.survey_changed.connect(self.refresh)
        self.controller.finished.connect(self._on_finished)
        self.controller.foresight.changed.connect(self._make_room)

    def _build_groups(self) -> None:
        """Make the buttons, group by group."""
        self.add_button = self.new_button("addPackagesButton", "page.maintenance.add")
        self.add_button.setCheckable(True)
        self.add_button.toggled.connect(self._on_add)
        self.update_button = self.new_button(
            "updateButton", "page.maintenance.update", lambda: self._look_ahead(Job.UPDATE)
        )
        self.undo_button = self.new_button("undoButton", "page.maintenance.undo", lambda: self.job.emit(Job.UNDO))
        self.rebuild_button = self.new_button(
            "rebuildButton", "page.maintenance.rebuild", lambda: self.job.emit(Job.REBUILD)
        )
        self.repair_button = PrimaryButton("repairButton")
        self.words.bind_label(self.repair_button.setText, "page.maintenance.repair")
        self.repair_button.clicked.connect(lambda: self.job.emit(Job.REPAIR))
        self.verify_button = self.new_button("verifyButton", "page.maintenance.verify", lambda: self.job.emit(Job.VERIFY))
        self.bundle_button = self.new_button("makeBundleButton", "page.maintenance.bundle", self._choose_place)
        self.share_button = ShareButton(self.words)
        self.share_button.place_chosen.connect(self.share)
        self._asked = self.update_button
        self.free_button = self.new_button("freeSpaceButton", "page.maintenance.free", lambda: self._look_ahead(Job.STORE))
        self.elsewhere_button = self.new_button("otherFolderButton", "page.maintenance.elsewhere", self.elsewhere.emit)
        self.network_button = self.new_button("maintenanceNetworkButton", "run.network", self.network.emit)
        self.uninstall_button = self.new_button("uninstallButton", "page.maintenance.uninstall", self.ask_to_uninstall)
        self._group("packages", self.add_button, self.update_button, self.undo_button)
        self.mending = self._group("environment", self.rebuild_button, self.repair_button, self.verify_button)
        self._group("others", self.bundle_button, self.share_button)
        self._group("folder", self.free_button, self.elsewhere_button, self.network_button, self.uninstall_button)

    def _group(self, name: str, *buttons: QPushButton) -> QHBoxLayout:
        row = self._new_row()
        caption = text_label()
        caption.setWordWrap(False)
        caption.setMinimumWidth(_CAPTION)
        self.words.bind(caption.setText, f"page.maintenance.{name}")
        row.addWidget(caption)
        for button in buttons:
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _build_added(self) -> None:
        self.keep_added = QCheckBox()
        self.keep_added.setObjectName("keepAddedBox")
        self.keep_added.setChecked(True)
        self.keep_added.toggled.connect(self.controller.foresight.forget)  # it would change something else
        self.words.bind_label(self.keep_added.setText, "page.maintenance.keep_added")
        self.added = text_label("addedLabel")
        self.column.addWidget(self.keep_added)
        self.column.addWidget(self.added)

    def _build_question(self) -> None:
        """Make room for the question before everything is removed; it is asked on the page."""
        self.question = QWidget()
        row = QHBoxLayout(self.question)
        row.setContentsMargins(0, UNIT, 0, 0)
        label = text_label("uninstallQuestionLabel")
        self.words.bind(label.setText, "page.maintenance.uninstall.ask")
        self.remove_button = self.new_button(
            "removeButton", "page.maintenance.uninstall.do", lambda: self.job.emit(Job.UNINSTALL)
        )
        self.keep_button = self.new_button("keepButton", "page.maintenance.uninstall.keep", self._keep)
        self.words.bind(self.keep_button.setAccessibleDescription, "page.maintenance.uninstall.ask")  # it is focused
        row.addWidget(label, 1)
        row.addWidget(self.remove_button)
        row.addWidget(self.keep_button)
        self.question.setVisible(False)
        self.column.addWidget(self.question)

    def _keep(self) -> None:
        """Remove nothing."""
        self.question.hide()
        self._make_room()
        self.uninstall_button.setFocus()

    def dismiss(self) -> bool:
        """Ask no longer, and leave everything as it is."""
        if not self.question.isHidden():
            self._keep()
        elif self.controller.foresight.job is not None:
            self.ahead.leave_button.click()
        elif self.add_button.isChecked():
            self.add_button.setChecked(False)
            self.add_button.setFocus()
        else:
            return False
        return True

    def ask_to_uninstall(self) -> None:
        """Ask on the page whether everything shall be removed."""
        self.add_button.setChecked(False)
        self.controller.foresight.forget()
        self.question.setVisible(True)
        self._make_room()
        self.keep_button.setFocus()

    def _on_add(self, opened: bool) -> None:
        """Open or close the line for names."""
        if opened:
            self.question.hide()
            self.controller.foresight.forget()
        self.added_panel.setVisible(opened)
        self._make_room()
        if opened:
            self.added_panel.edit.setFocus()

    def _look_ahead(self, job: Job) -> None:
        """Find out what a job would do, and ask then."""
        self.add_button.setChecked(False)
        self.question.hide()
        self._asked = self.update_button if job is Job.UPDATE else self.free_button
        self.foresee.emit(job)
        self.ahead.leave_button.setFocus()

    def _focus_asked(self) -> None:
        """Give the focus back to the button that the question came from."""
        self._asked.setFocus()

    def _make_room(self) -> None:
        """Show one thing at a time below the buttons."""
        asks = self.controller.foresight.job is not None or not self.question.isHidden() or self.add_button.isChecked()
        self.chart.setVisible(not asks)
        self._show_added()

    def showEvent(self, event: QShowEvent) -> None:
        """Measure what the folder takes."""
        super().showEvent(event)
        self._measure()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop whatever only this page shows, unless the window is only out of sight."""
        super().hideEvent(event)
        if event.spontaneous():
            return
        self._measured = None
        self.add_button.setChecked(False)
        self.question.hide()
        self.controller.foresight.forget()

    def _measure(self) -> None:
        """Measure anew for each look at the folder, as long as the page is seen."""
        environment = self.controller.environment
        if environment is None or environment is self._measured or not self.isVisible():
            return
        self._measured = environment
        self.measure()

    def show_use(self, use: DiskUse | None) -> None:
        """Show it as bars."""
        self.chart.show_use(use)

    def show_root(self, root: Path) -> None:
        """Name the workspace that the page is about; what was chosen for another one does not hold."""
        if root != self.root:
            self.keep_added.setChecked(True)
            self.chart.show_use(None)
        self.share_button.show_root(root)
        super().show_root(root)

    def _on_finished(self, event: FinishedEvent) -> None:
        """Remember what only a proof can find; any run that went well settles it."""
        self.damaged = event.code == "AML_VERIFY_FAILED" and event.state is RunState.NOT_READY
        self.refresh()

    def _choose_place(self) -> None:
        """Ask where the bundle shall be."""
        title, kinds = self.words("page.maintenance.bundle.choose"), self.words("page.start.bundle.filter")
        ask_where(self.window(), title, kinds, f"{self.root.name}{SUFFIX}", self.make_bundle.emit)

    def refresh(self) -> None:
        """Show the state, and first among the buttons the one that mends it."""
        facts, refusal, closed = self.controller.facts, self.controller.refusal, self.controller.write_refusal
        environment = facts.environment if facts is not None else self.controller.environment
        if environment is None:
            self.state.show_text("info", self.words("found.looking"))
        elif self.controller.holder is not None and is_in_between(environment):
            self.state.show_text("info", str(self.root))
        else:
            if self.damaged and environment.ready:
                environment = EnvironmentFacts("damaged", "environment.not_passed")
            sentence = f"{environment_sentence(self.words, environment)}\n{self.root}"
            sign = environment_sign(environment)
            if refusal is not None and (closed is None or closed.code != refusal.code):  # it stands below
                sentence += f"\n{error_sentence(self.words, refusal)}"
            self.state.show_text(sign, sentence)
        self.lacking.show_lacking(refusal.arguments if refusal is not None else {})
        self._offer(environment)
        self._show_added()
        self._measure()

    def _show_added(self) -> None:
        """Name what was added by hand, and whether it is to be kept; where packages are added it is listed instead."""
        present = self.controller.environment
        told = (("added", present.added), ("kept", present.kept)) if present is not None else ()
        lines = [self.text(key, packages=added_text(added, self.words.language)) for key, added in told if added]
        self.added.setText("\n".join(lines))
        self.keep_added.setAccessibleDescription("\n".join(lines))
        self.keep_added.setVisible(bool(lines))
        self.added.setVisible(bool(lines) and not self.add_button.isChecked())
        packages = (*present.added, *present.kept) if present is not None else ()
        self.added_panel.open_for(packages, free=self.add_button.isEnabled())

    def _offer(self, environment: EnvironmentFacts | None) -> None:
        """Show the buttons that fit a state; while it is not known, those of an environment that is in order."""
        holder, refused = self.controller.holder, self.controller.write_refusal
        self.busy.show_text("info", closed_sentence(self.words, holder, refused))
        free = holder is None and refused is None
        state = "ready" if environment is None else environment.state
        action = "none" if environment is None else environment.action
        works = state in {"ready", "stale"}
        self.opening.set_usable(works)
        self.jupyter_button.set_primary(works and action == "none")
        self.install_button.setVisible(action == "install")
        self.install_button.setEnabled(free)
        urgent = action == "repair"
        self.repair_button.set_primary(urgent)
        if urgent:
            self.row.insertWidget(0, self.repair_button)
        else:
            self.mending.insertWidget(2, self.repair_button)
        self._order_tabs(urgent=urgent)
        ours = state not in {"absent", "foreign"}
        for button in (self.rebuild_button, self.repair_button):
            button.setEnabled(free and ours)
        self.verify_button.setEnabled(holder is None and ours)  # it writes nothing
        for button in (self.uninstall_button, self.remove_button):
            button.setEnabled(free)
        built = free and state in {"ready", "stale"}
        self.add_button.setEnabled(built)
        surveyed = self.controller.surveyed
        offline = surveyed is not None and surveyed.offline
        self._give_reason(self.update_button, "update", built and not offline, "offline" if offline else "about")
        undoes = self.controller.can_undo
        self._give_reason(self.undo_button, "undo", free and ours and undoes, "about" if undoes else "none")
        self._give_reason(self.free_button, "free", free and ours, "about")
        self.bundle_button.setEnabled(holder is None and state == "ready")
        self.share_button.setEnabled(state == "ready")

    def _order_tabs(self, *, urgent: bool) -> None:
        """Let the Tab key go along the rows; otherwise it goes by the order in which the buttons were made."""
        first = (self.install_button, self.repair_button) if urgent else (self.install_button,)
        mending = () if urgent else (self.rebuild_button, self.repair_button, self.verify_button)
        for row in ((*first, *self.opening.buttons, self.opening.stop_button), mending):
            for before, after in pairwise(row):
                QWidget.setTabOrder(before, after)

    def _give_reason(self, button: QPushButton, name: str, enabled: bool, about: str) -> None:
        """Enable a button or not, and say what it does, or why it cannot."""
        button.setEnabled(enabled)
        reason = self.text(f"{name}.{about}")
        button.setToolTip(reason)
        button.setAccessibleDescription(reason)
