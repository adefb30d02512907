"""What a job would do, with the question whether it shall; it stands on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QPushButton, QVBoxLayout, QWidget

from amlwizard.core.wording import changes_lines, changes_summary, size_text
from amlwizard.ui.findings import error_sentence
from amlwizard.ui.theme import UNIT, Notice
from amlwizard.ui.wishes import Job

if TYPE_CHECKING:
    from amlwizard.core.events import ChangesEvent
    from amlwizard.ui.foresight import Foresight
    from amlwizard.ui.words import Words

_MOST_ROWS: Final = 6
"""How many changes are seen without scrolling."""


class AheadPanel(QWidget):
    """Tells what was found out ahead of a job, and asks. Hidden while nothing is looked ahead for.

    Signals:
        agreed: do it (``Job``).
    """

    agreed = Signal(object)

    def __init__(self, words: Words, foresight: Foresight) -> None:
        super().__init__()
        self._words = words
        self._foresight = foresight
        self.setObjectName("aheadPanel")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, UNIT, 0, 0)
        column.setSpacing(UNIT)
        self.notice = Notice("aheadLabel")
        column.addWidget(self.notice)
        self.view = QListWidget()
        self.view.setObjectName("aheadView")
        self.view.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.view.setUniformItemSizes(True)
        words.bind(self.view.setAccessibleName, "ahead.changes")
        column.addWidget(self.view)
        self.do_button = QPushButton()
        self.do_button.setObjectName("aheadDoButton")
        self.do_button.clicked.connect(self._agree)
        self.leave_button = QPushButton()
        self.leave_button.setObjectName("aheadLeaveButton")
        self.leave_button.clicked.connect(foresight.forget)
        row = QHBoxLayout()
        row.addWidget(self.do_button)
        row.addWidget(self.leave_button)
        row.addStretch(1)
        column.addLayout(row)
        foresight.changed.connect(self.refresh)
        words.changed.connect(self.refresh)
        self.refresh()

    def _agree(self) -> None:
        job = self._foresight.job
        if job is not None:
            self.agreed.emit(job)

    def refresh(self) -> None:
        """Show what is known, and the buttons that fit it."""
        foresight, words = self._foresight, self._words
        job = foresight.job
        self.setVisible(job is not None)
        if job is None:
            return
        lines: list[str] = []
        offer = ""
        leave = "ahead.close"
        if foresight.busy:
            self.notice.show_text("dot", words(f"ahead.{job.value}.looking"))
            leave = "ahead.stop"
        elif foresight.problem is not None:
            self.notice.show_text("triangle", error_sentence(words, foresight.problem))
        elif job is Job.UPDATE:
            lines, offer = self._tell_changes(foresight.changes)
        else:
            offer = self._tell_store(foresight.store or {})
        if offer:
            leave = f"ahead.{job.value}.leave"
        self._fill(lines)
        self.do_button.setText(offer)
        self.do_button.setVisible(bool(offer))
        self.leave_button.setText(words.label(leave))
        self.leave_button.setAccessibleDescription(self.notice.label.text())

    def _tell_changes(self, changes: ChangesEvent | None) -> tuple[list[str], str]:
        words = self._words
        if changes is None:
            self.notice.show_text("dot", words("ahead.update.untold"))
            return [], words.label("ahead.update.do")
        if changes.is_empty:
            self.notice.show_text("tick", words("ahead.update.none"))
            return [], ""
        self.notice.show_text("dot", changes_summary(changes, words.language))
        return [line.strip() for line in changes_lines(changes, words.language)[1:]], words.label("ahead.update.do")

    def _tell_store(self, store: dict[str, Any]) -> str:
        words = self._words
        freeable = int(store["freeable_bytes"])
        cache = store["cache"]["bytes"] - store["cache"]["shared_bytes"]
        if not freeable and not cache:
            self.notice.show_text("tick", words("ahead.store.none"))
            return ""
        size, of_cache = (size_text(number, words.language) for number in (freeable, cache))
        found = words("ahead.store.freeable", size=size) if freeable else words("ahead.store.only_cache")
        cached = words("ahead.store.cache", size=of_cache) if cache else ""
        offline = words("ahead.store.offline" if store["complete"] else "ahead.store.lacking")
        self.notice.show_text("dot", "\n".join(text for text in (found, cached, offline) if text))
        return words.label("ahead.store.do")

    def _fill(self, lines: list[str]) -> None:
        self.view.clear()
        self.view.addItems(lines)
        self.view.setVisible(bool(lines))
        rows = min(len(lines), _MOST_ROWS)
        self.view.setFixedHeight(rows * max(self.view.sizeHintForRow(0), 0) + 2 * self.view.frameWidth())
