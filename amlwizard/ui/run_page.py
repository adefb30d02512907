"""The run view: steps, progress, log, and how it ended."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from amlwizard.core.events import ChangesEvent, FinishedEvent, LogEvent, PlanEvent, RunState, StepEvent, StepState
from amlwizard.core.wording import (
    amount_text,
    changes_lines,
    changes_summary,
    clock_text,
    doing_text,
    duration_text,
    progress_text,
    rate_text,
    size_text,
    step_title,
)
from amlwizard.ui.announcing import announce
from amlwizard.ui.endings import HELD, end_text, is_about_network, is_good, is_in_the_way, report_lines
from amlwizard.ui.findings import error_sentence
from amlwizard.ui.lacking_list import LackingList
from amlwizard.ui.log_pane import CAP, LogPane
from amlwizard.ui.page import Page
from amlwizard.ui.still_bar import StillBar
from amlwizard.ui.theme import SIGN, UNIT, FontFollower, Notice, icon, text_label
from amlwizard.ui.wishes import Job

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QShowEvent

    from amlwizard.core.errors import AmlError
    from amlwizard.ui.wishes import Wish

_WEIGHTS: Final = {
    "check_bundle": 5,
    "install_uv": 3,
    "install_python": 15,
    "unpack": 5,
    "resolve": 5,
    "fetch": 45,
    "build": 12,
    "verify": 18,
    "commit": 2,
    "gather": 60,
    "bundle": 40,
}
_SIGNS: Final = {
    StepState.STARTED: "dot",
    StepState.PROGRESS: "dot",
    StepState.DONE: "tick",
    StepState.SKIPPED: "skip",
    StepState.FAILED: "cross",
    StepState.CANCELLED: "triangle",
}
_PARTS: Final = {"verify": ("files", "modules")}
"""What a step counts one after the other, by its units; each takes about as long."""
_BAR_AFTER: Final = 0.3
_WAITING_AFTER: Final = 5.0
_MEASURE_EVERY: Final = 2.0
_TICK_MS: Final = 100
_WHOLE: Final = 1000
_HOSTS: Final = 3
"""How many hosts are named while they are reached."""
_SPOKEN_MS: Final = 20_000
"""How often progress is announced."""


class RunPage(Page):
    """Shows one run from its start to its end.

    Signals:
        close_agreed: the user wants the run stopped and the window closed.
        uninstall_again: the user wants an uninstallation that did not come to its end; it has to be asked for again.
        network: the user wants to see the settings of the network.
        advanced: ``percent`` of the run is another.
    """

    name = "run"
    close_agreed = Signal()
    uninstall_again = Signal()
    network = Signal()
    advanced = Signal()

    def build(self) -> None:
        """Lay out the view."""
        self._steps: dict[str, StepEvent | None] = {}
        self._titles: dict[str, str] = {}
        self._rows: dict[str, QTreeWidgetItem] = {}
        self._latest: StepEvent | None = None
        self._hosts: tuple[str, ...] = ()
        self._finished: FinishedEvent | None = None
        self.now: Callable[[], float] = time.monotonic
        self._begun = self._news = self._measured = self.now()
        self._done = 0
        self._stopping = False
        self._left = 0
        self._build_progress()
        self._build_end()
        self._changes: ChangesEvent | None = None
        self.changes = text_label("changesLabel")
        self.changes.setVisible(False)
        self.column.addWidget(self.changes)
        self._build_steps()
        self._build_guard()
        self.log = LogPane(self.words)
        self.log.setVisible(False)
        self.log.save_wanted.connect(self._save_log)
        self.details = QPushButton()
        self.details.setObjectName("detailsButton")
        self.details.setCheckable(True)
        self.words.bind_label(self.details.setText, "run.details")
        self.details.toggled.connect(self._show_details)
        self.cancel_button = self.new_button("cancelButton", "run.cancel", self._on_cancel)
        row = QHBoxLayout()
        row.addWidget(self.details)
        row.addStretch(1)
        row.addWidget(self.cancel_button)
        self.column.addLayout(row)
        self.column.addWidget(self.log, 1)
        self.column.addStretch(0)
        keys = QKeySequence.StandardKey
        for key, slot in (
            (keys.Find, self._search),
            (keys.FindNext, self.log.find_next),
            (keys.FindPrevious, self.log.find_previous),
        ):
            QShortcut(key, self, slot)  # from wherever the keyboard is while the page is seen
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._spoken = QTimer(self)
        self._spoken.setInterval(_SPOKEN_MS)
        self._spoken.timeout.connect(self._speak)
        controller = self.controller
        controller.started.connect(self._on_started)
        controller.planned.connect(self._on_planned)
        controller.changes_told.connect(self._on_changes)
        controller.step_changed.connect(self._on_step)
        controller.stopping.connect(self._on_stopping)
        controller.finished.connect(self._on_finished)
        controller.survey_changed.connect(self._on_survey)
        controller.log_saved.connect(self._on_log_saved)
        controller.reported.connect(self._on_reported)
        controller.log_sink = self._on_log

    def _build_progress(self) -> None:
        self.sentence = text_label("progressLabel")
        self.clock = text_label("clockLabel")
        self.clock.setWordWrap(False)
        row = QHBoxLayout()
        row.addWidget(self.sentence, 1)
        row.addWidget(self.clock, 0, Qt.AlignmentFlag.AlignTop)
        self.column.addLayout(row)
        self.bar = StillBar()
        self.bar.setObjectName("progressBar")
        self.bar.setRange(0, _WHOLE)
        self.bar.setTextVisible(False)
        self.words.bind(self.bar.setAccessibleName, "run.progress")
        self.rate = text_label("rateLabel")
        self.rate.setWordWrap(False)
        row = QHBoxLayout()
        row.addWidget(self.bar, 1)
        row.addWidget(self.rate)
        self.column.addLayout(row)

    def _build_steps(self) -> None:
        self.view = QTreeWidget()
        self.view.setObjectName("stepsView")
        self.view.setColumnCount(3)
        self.view.setHeaderHidden(True)
        self.view.setSelectionMode(QTreeWidget.SelectionMode.NoSelection)
        self.view.setRootIsDecorated(False)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.viewport().setAutoFillBackground(False)
        header = self.view.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.words.bind(self.view.setAccessibleName, "run.steps")
        self.column.addWidget(self.view)

    def _build_end(self) -> None:
        self.message = Notice("messageLabel")
        self.column.addWidget(self.message)
        self.code = text_label("codeLabel")
        FontFollower(self.code, 0.85)
        self.code.setIndent(SIGN.width() + UNIT)  # below the message, not its sign
        self.code.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.column.addWidget(self.code)
        self.lacking = LackingList(self.words, "runLackingView")
        self.column.addWidget(self.lacking)
        self.end = QWidget()
        row = QHBoxLayout(self.end)
        row.setContentsMargins(0, 0, 0, 0)
        self.retry_button = QPushButton()
        self.retry_button.setObjectName("retryButton")
        self.retry_button.clicked.connect(self._on_retry)
        self.network_button = self.new_button("networkSettingsButton", "run.network", self.network.emit)
        self.it_button = self.new_button("runCopyForItButton", "network.copy", self._copy_for_it)
        self.log_button = self.new_button("openLogButton", "run.log.open", self._open_log)
        self.copy_button = self.new_button("copyReportButton", "run.copy", self._copy_report)
        for button in (self.retry_button, self.network_button, self.it_button, self.log_button, self.copy_button):
            row.addWidget(button)
        row.addStretch(1)
        self.end.setVisible(False)
        self.column.addWidget(self.end)
        self.remark = Notice("runRemarkLabel")
        self.column.addWidget(self.remark)
        self._for_it = False
        self.controller.network.changed.connect(self._on_network)
        self.controller.network.checked.connect(self._on_checked)

    def _build_guard(self) -> None:
        self.guard = QWidget()
        row = QHBoxLayout(self.guard)
        row.setContentsMargins(0, 0, 0, 0)
        self.question = text_label("guardLabel")
        self.stop_button = self.new_button("stopAndCloseButton", "run.guard.stop", self._on_stop_and_close)
        self.go_on_button = self.new_button("goOnButton", "run.guard.go_on", self._on_go_on)
        row.addWidget(self.question, 1)
        row.addWidget(self.stop_button)
        row.addWidget(self.go_on_button)
        self.guard.setVisible(False)
        self.column.addWidget(self.guard)

    def title_changed(self) -> None:
        """Name the job that runs, or how it ended."""
        event = self._finished
        if event is not None:
            free = event.code == HELD and self.controller.holder is None
            state = RunState.BUSY if is_in_the_way(event) else event.state
            self.set_title(self.words("run.title.free" if free else f"run.title.ended.{state.value}"))
            return
        wish = self.controller.wish
        self.set_title(self.words(f"run.title.{wish.subject}" if wish else "run.title.install"))

    def showEvent(self, event: QShowEvent) -> None:
        """Leave out what was said before the user went elsewhere, unless that still goes on."""
        super().showEvent(event)
        if not event.spontaneous() and not self._for_it and self.copy_button.isEnabled():
            self.remark.show_text("info", "")

    def ask_to_close(self) -> None:
        """Ask on the page whether to stop and close; a run that is being stopped already leaves nothing to be asked."""
        if self._stopping:
            self.close_agreed.emit()
            return
        self._show_guard()
        self.guard.setVisible(True)
        self.go_on_button.setFocus()

    def dismiss(self) -> bool:
        """Let the run go on where it was asked whether to stop it."""
        asks = self.guard.isVisible() and not self._stopping
        if asks:
            self.go_on_button.click()
        return asks

    def show_stopping(self, *, closes: bool = False) -> None:
        """Say at once that the run is being stopped, and that the window closes then."""
        self._stopping = True
        self._show_guard()
        self.guard.setVisible(closes)
        self.details.setFocus()  # or it would go from the button to whatever comes next
        self.cancel_button.setEnabled(False)
        self._tick()
        announce(self.sentence, self.sentence.text())

    def _show_guard(self) -> None:
        question = self.words("run.guard.closing" if self._stopping else "run.guard")
        self.question.setText(question)
        self.go_on_button.setAccessibleDescription(question)  # it is focused when the question comes
        for button in (self.stop_button, self.go_on_button):
            button.setVisible(not self._stopping)

    def refresh(self) -> None:
        """Renew all texts, after a change of the language too."""
        for step in self._rows:
            self._render(step)
        self._show_changes()
        self._show_guard()
        self._tick()
        self._show_end()

    def _on_started(self, _wish: Wish) -> None:
        self._steps.clear()
        self._titles.clear()
        self._rows.clear()
        self.view.clear()
        self.view.setFixedHeight(0)
        self.log.clear()
        self._latest = self._finished = self._changes = None
        self._hosts = ()
        self._show_changes()
        self.title_changed()
        self._stopping = False
        self._left = 0
        self._begun = self.now()
        self._done = 0
        self._note_news()
        self.bar.setVisible(False)
        for label in (self.sentence, self.clock, self.rate):
            label.setVisible(True)
        self.cancel_button.setEnabled(True)
        self.cancel_button.setVisible(True)
        self.guard.setVisible(False)
        self._show_end()
        self.details.setFocus()
        self._timer.start()
        self._spoken.start()
        self.advanced.emit()
        self._tick()

    def _on_stopping(self, left: int) -> None:
        self._left = left
        self._tick()

    def _on_planned(self, plan: PlanEvent) -> None:
        self._hosts = plan.hosts
        for step in plan.steps:
            self._add_row(step.id, step.title)

    def _add_row(self, step: str, title: str) -> None:
        if step in self._rows:
            return
        self._steps[step] = None
        self._titles[step] = title
        row = QTreeWidgetItem()
        self.view.insertTopLevelItem(self._place(step), row)
        row.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._rows[step] = row
        self._render(step)
        height = sum(self.view.sizeHintForRow(number) for number in range(len(self._rows)))
        self.view.setFixedHeight(height + 4)

    def _place(self, step: str) -> int:
        """Return the row for a step: what the plan left out, as there is nothing to do, still stands in its usual place."""
        order = list(_WEIGHTS)
        if step not in order:
            return len(self._rows)
        later = order[order.index(step) + 1 :]
        rows = [self.view.indexOfTopLevelItem(row) for name, row in self._rows.items() if name in later]
        return min(rows, default=len(self._rows))

    def _on_step(self, event: StepEvent) -> None:
        self._add_row(event.id, event.id)
        if not _tells_the_same(event, self._steps[event.id]):
            self._note_news()
        self._steps[event.id] = event
        if event.state in {StepState.STARTED, StepState.PROGRESS}:
            self._latest = event
        if event.state is StepState.STARTED:
            number, title = (
                list(self._rows).index(event.id) + 1,
                step_title(event.id, self._titles[event.id], self.words.language),
            )
            announce(self.view, self.words("announce.step", number=number, count=len(self._rows), step=title))
        if event.state is not StepState.PROGRESS:  # progress is drawn by the timer, however fast it comes
            self._render(event.id)

    def _on_changes(self, event: ChangesEvent) -> None:
        self._changes = event
        for line in changes_lines(event, self.words.language):
            self.log.add(line)
        self._show_changes()

    def _show_changes(self) -> None:
        event = self._changes
        self.changes.setText(changes_summary(event, self.words.language) if event is not None else "")
        self.changes.setVisible(event is not None)

    def _on_log(self, event: LogEvent) -> None:
        self._note_news()
        self.log.add(event.line)

    def _note_news(self) -> None:
        self._news = self._measured = self.now()
        self.controller.forget_written()

    def _render(self, step: str) -> None:
        language = self.words.language
        event = self._steps[step]
        row = self._rows[step]
        title = step_title(step, self._titles[step], language)
        state = self.words(f"run.state.{event.state.value if event else 'waiting'}")
        if event is not None and event.state is StepState.PROGRESS and event.done is not None:
            state = amount_text(event.done, event.total, event.unit, language)
        row.setIcon(0, icon(_SIGNS[event.state] if event else "ring"))
        row.setText(0, title)
        row.setText(1, state)
        row.setText(2, duration_text(event.seconds, language) if event and event.seconds is not None else "")
        row.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{title}: {state}")

    def _tick(self) -> None:
        if self._finished is not None or not self.controller.running:
            return
        now = self.now()
        language = self.words.language
        event = self._latest
        silent = now - self._news > _WAITING_AFTER
        if self._stopping:
            self.sentence.setText(
                self.words("run.stopping.count", number=self._left) if self._left else self.words("run.stopping")
            )
        elif event is None:
            self.sentence.setText(self._before_steps())
        elif silent:
            self.sentence.setText(self._silence(event, now))
        else:
            self.sentence.setText(progress_text(event, language))
        bytes_move = event is not None and event.unit == "bytes" and event.rate and not silent
        self._show_rate(rate_text(event.rate or 0, language) if event is not None and bytes_move else "")
        self.clock.setText(clock_text(now - self._begun))
        if event is not None:
            self._render(event.id)
        self.bar.setVisible(now - self._begun >= _BAR_AFTER)
        before = self.percent
        self._done = max(self._done, self._progress())
        if self.percent != before:
            self.advanced.emit()
        self.bar.setRange(0, 0 if silent and not self._stopping else _WHOLE)  # without an end nobody knows how far it is
        self.bar.setValue(self._done)

    def _show_rate(self, rate: str) -> None:
        """Show how fast it goes; the bar beside it is as wide without that, and while the digits change."""
        widest = self.rate.fontMetrics().horizontalAdvance(rate_text(999_000_000, self.words.language))
        self.rate.setMinimumWidth(widest)
        self.rate.setText(rate)

    def _before_steps(self) -> str:
        """Return what goes on before the first step: once there is a plan, its hosts are reached."""
        if not self._hosts:
            return self.words("run.looking")
        more = len(self._hosts) - _HOSTS
        hosts = self.words("cli.separator").join(self._hosts[:_HOSTS])
        return self.words("run.reaching.more" if more > 0 else "run.reaching", hosts=hosts, number=more)

    def _speak(self) -> None:
        """Tell those who do not see the bar how far the run is, now and then."""
        announce(self.bar, self.words("announce.progress", percent=self.percent, sentence=self.sentence.text()))

    def _silence(self, event: StepEvent, now: float) -> str:
        """Return what is awaited and since when, and whether anything is written meanwhile."""
        if now - self._measured >= _MEASURE_EVERY:
            self._measured = now
            self.controller.measure()
        language, written = self.words.language, self.controller.written
        arguments = {
            "doing": doing_text(event, language),
            "time": duration_text(round(now - self._news), language),
        }
        if not written:
            return self.words("run.waiting", **arguments)
        return self.words("run.working", **arguments, size=size_text(written, language))

    @property
    def percent(self) -> int:
        """How much of the run is done."""
        return self._done * 100 // _WHOLE

    def _progress(self) -> int:
        whole = done = 0.0
        for step, event in self._steps.items():
            weight = _WEIGHTS.get(step, 5)
            whole += weight
            if event is None:
                continue
            if event.state in {StepState.DONE, StepState.SKIPPED}:
                done += weight
            elif event.done is not None and event.total:
                done += weight * _share(event, min(1.0, event.done / event.total))
        return round(_WHOLE * done / whole) if whole else 0

    def _on_finished(self, event: FinishedEvent) -> None:
        self._finished = event
        self._timer.stop()
        self._spoken.stop()
        if any(button.hasFocus() for button in (self.cancel_button, self.stop_button, self.go_on_button)):
            self.details.setFocus()  # or it would go to whatever comes next
        self.cancel_button.setVisible(False)
        self.guard.setVisible(False)
        self.title_changed()
        for widget in (self.sentence, self.clock, self.bar, self.rate):
            widget.setVisible(False)
        self._show_end()
        if event.state in {RunState.FAILED, RunState.NOT_READY} and not is_in_the_way(event):
            self.details.setChecked(True)
        if self.end.isVisible():
            self._focus_end()

    def _focus_end(self) -> None:
        """Make Enter do what can do no harm."""
        safe = self.retry_button.isEnabled() and not self._uninstalls
        (self.retry_button if safe else self.copy_button).setFocus()

    @property
    def _uninstalls(self) -> bool:
        wish = self.controller.wish
        return wish is not None and wish.job is Job.UNINSTALL

    def _show_end(self) -> None:
        event = self._finished
        self.end.setVisible(event is not None and not is_good(event))
        self.retry_button.setText(self.words.label("run.retry.uninstall" if self._uninstalls else "run.retry"))
        self.retry_button.setAutoDefault(not self._uninstalls)
        self.lacking.show_lacking(event.arguments if event is not None else {})
        about_network = event is not None and is_about_network(event)
        for button in (self.network_button, self.it_button):
            button.setVisible(about_network)
        self.log_button.setVisible(event is not None and bool(event.log))
        tells_code = event is not None and bool(event.code) and not is_good(event) and event.state is not RunState.CANCELLED
        self.code.setText(self.words("run.code", code=event.code) if event is not None else "")
        self.code.setVisible(tells_code)
        if event is None:
            self._for_it = False
            self.remark.show_text("info", "")
            self.message.show_text("ring", "")
            return
        wish, holder = self.controller.wish, self.controller.holder
        self.retry_button.setEnabled(event.code != HELD or holder is None)
        sign = "tick" if is_good(event) else "triangle" if event.state is RunState.CANCELLED else "cross"
        if is_in_the_way(event):
            sign = "info" if event.code == HELD else "triangle"
        self.message.show_text(sign, end_text(self.words, event, wish.job if wish else Job.INSTALL, holder))

    def _on_survey(self) -> None:
        """Show that a folder in use has become free, or has another user now."""
        if self._finished is not None and self._finished.code == HELD:
            self.title_changed()
            self._show_end()
            if self.controller.holder is None and self.end.isVisible():
                self._focus_end()

    def _show_details(self, shown: bool) -> None:
        self.log.setVisible(shown)

    def _search(self) -> None:
        """Open the log, and begin to search it."""
        self.details.setChecked(True)
        self.log.search.setFocus()
        self.log.search.selectAll()

    def _on_retry(self) -> None:
        if self._uninstalls:
            self.uninstall_again.emit()
        else:
            self.controller.retry()

    def _on_cancel(self) -> None:
        self.show_stopping()
        self.controller.cancel()

    def _on_go_on(self) -> None:
        self.guard.hide()
        self.details.setFocus()

    def _on_stop_and_close(self) -> None:
        self.close_agreed.emit()

    def _copy_for_it(self) -> None:
        """Reach the hosts once more, as the text tells what they answer now."""
        wish = self.controller.wish
        if wish is not None:
            self._for_it = True
            self.controller.network.reach(wish.choices)

    def _on_network(self) -> None:
        desk = self.controller.network
        self.it_button.setEnabled(not desk.busy)
        if self._for_it and desk.busy:
            self.remark.show_text("info", self.words(f"network.{desk.busy}"))
        elif self._for_it and desk.problem is not None:
            self._for_it = False
            self.remark.show_text("triangle", error_sentence(self.words, desk.problem))

    def _on_checked(self, text: str) -> None:
        if self._for_it and text:
            self._for_it = False
            QGuiApplication.clipboard().setText(text)
            self.remark.show_text("tick", self.words("network.copied"))

    def _open_log(self) -> None:
        event = self._finished
        if event is not None:
            opened = QDesktopServices.openUrl(QUrl.fromLocalFile(event.log))
            self.remark.show_text("cross", "" if opened else self.words("run.log.failed", path=event.log))

    def _save_log(self, path: str) -> None:
        log = self._finished.log if self._finished is not None else None
        self.controller.save_log(log, self.log.tail(CAP), Path(path))

    def _on_log_saved(self, path: str, problem: AmlError | None) -> None:
        if problem is None:
            self.log.remark.show_text("tick", self.words("run.log.saved", path=path))
        else:
            self.log.remark.show_text("cross", error_sentence(self.words, problem))

    def _copy_report(self) -> None:
        """Look at everything once more, as the report tells what is the case now."""
        event = self._finished
        if event is None:
            return
        self.copy_button.setEnabled(False)
        self.remark.show_text("info", self.words("run.copy.gathering"))
        self.controller.report(event, [*report_lines(self.words, event), "", *self.log.tail(100)])

    def _on_reported(self, report: str, problem: AmlError | None) -> None:
        self.copy_button.setEnabled(True)
        if problem is None:
            QGuiApplication.clipboard().setText(report)
        if self._finished is None:  # it was tried again meanwhile
            return
        if problem is None:
            self.remark.show_text("tick", self.words("run.copy.done"))
        else:
            self.remark.show_text("cross", error_sentence(self.words, problem))


def _tells_the_same(event: StepEvent, before: StepEvent | None) -> bool:
    """Tell whether a step only says that it is still where it was."""
    return before is not None and (event.state, event.done, event.subject) == (before.state, before.done, before.subject)


def _share(event: StepEvent, part: float) -> float:
    """Return how much of a step is done, where it is a step of parts as well."""
    parts = _PARTS.get(event.id, ())
    return (parts.index(event.unit) + part) / len(parts) if event.unit in parts else part
