"""What a job would do, with the question whether it shall; it stands on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QPushButton, QVBoxLayout, QWidget

from amlwizard.core.wording import changed_programs, changes_lines, changes_summary, size_text
from amlwizard.ui.findings import error_sentence
from amlwizard.ui.theme import UNIT, Notice
from amlwizard.ui.wishes import UPDATES, Job

if TYPE_CHECKING:
    from amlwizard.core.events import ChangesEvent
    from amlwizard.ui.foresight import Foresight, Offer
    from amlwizard.ui.words import Words

_NO_FAULT: Final = "AML_UPDATE_"
"""What a code begins with that only says why there is nothing to update."""
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
        self.do_button = QPushButton(self)  # it has its place for the Tab key from the start
        self.do_button.setObjectName("aheadDoButton")
        self.do_button.clicked.connect(self._agree)
        self._head = QHBoxLayout()
        column.addLayout(self._head)
        self._head.addWidget(self.notice, 1, Qt.AlignmentFlag.AlignVCenter)
        self.view = QListWidget()
        self.view.setObjectName("aheadView")
        self.view.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.view.setUniformItemSizes(True)
        words.bind(self.view.setAccessibleName, "ahead.changes")
        column.addWidget(self.view)
        self._offers = {job: self._make_offer(column, job) for job in UPDATES}
        self.leave_button = QPushButton()
        self.leave_button.setObjectName("aheadLeaveButton")
        self.leave_button.clicked.connect(foresight.forget)
        self._foot = QHBoxLayout()
        column.addLayout(self._foot)
        self._foot.addStretch(1)
        self._foot.addWidget(self.leave_button)
        foresight.changed.connect(self.refresh)
        words.changed.connect(self.refresh)
        self.refresh()

    def _make_offer(self, column: QVBoxLayout, job: Job) -> tuple[Notice, QPushButton]:
        """Make room for an update that is not about packages: what it changes, and the button for it."""
        name = UPDATES[job].value.capitalize()
        notice, button = Notice(f"ahead{name}Label"), QPushButton()
        button.setObjectName(f"ahead{name}Button")
        self._words.bind_label(button.setText, f"ahead.{job.value}.do")
        button.clicked.connect(lambda: self.agreed.emit(job))
        column.addLayout(_beside(notice, button))
        return notice, button

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
            self.notice.show_text("info", words(f"ahead.{job.value}.looking"))
            leave = "ahead.stop"
        elif foresight.problem is not None:
            self.notice.show_text("triangle", error_sentence(words, foresight.problem))
        elif job is Job.UPDATE:
            lines, offer = self._tell_changes(foresight.changes)
        else:
            offer = self._tell_store(foresight.store or {})
        offers = {} if foresight.busy else foresight.offers
        for other, (notice, button) in self._offers.items():
            self._show_offer(notice, button, other, offers.get(other))
        if offer or any(found.changes is not None for found in offers.values()):
            leave = f"ahead.{job.value}.leave"
        self._fill(lines)
        if job is Job.UPDATE:  # each kind has its own button beside it
            self._head.addWidget(self.do_button, 0, Qt.AlignmentFlag.AlignTop)
        else:
            self._foot.insertWidget(1, self.do_button)
        self.do_button.setText(offer)
        self.do_button.setVisible(bool(offer))
        self.leave_button.setText(words.label(leave))
        self.leave_button.setAccessibleDescription(self.notice.label.text())

    def _tell_changes(self, changes: ChangesEvent | None) -> tuple[list[str], str]:
        words = self._words
        if changes is None:
            self.notice.show_text("info", words("ahead.update.untold"))
            return [], words.label("ahead.update.do")
        if changes.is_empty:
            self.notice.show_text("tick", words("ahead.update.none"))
            return [], ""
        self.notice.show_text("info", changes_summary(changes, words.language))
        return [line.strip() for line in changes_lines(changes, words.language)[1:]], words.label("ahead.update.do")

    def _show_offer(self, notice: Notice, button: QPushButton, job: Job, offer: Offer | None) -> None:
        words = self._words
        button.setVisible(offer is not None and offer.changes is not None)
        if offer is None:
            notice.show_text("info", "")
        elif offer.problem is not None:
            error = offer.problem
            if error.code.startswith(_NO_FAULT):
                notice.show_text("info", words.known(f"{error.code}.message", error.arguments, str(error)))
            else:
                notice.show_text("triangle", error_sentence(words, error))
        elif offer.changes is None:
            notice.show_text("tick", offer.remark)
        else:
            (change,) = changed_programs(offer.changes, words.language)
            known = words("ahead.update.download", size=size_text(offer.size or 0, words.language))
            download = words("ahead.update.unknown") if offer.size is None else known
            download = words("ahead.update.at_hand") if offer.size == 0 else download
            told = words("ahead.update.program", change=change, download=download)
            notice.show_text("info", words("ahead.sentences", first=told, second=words(f"ahead.{job.value}.about")))
            button.setAccessibleDescription(notice.label.text())

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
        self.notice.show_text("info", "\n".join(text for text in (found, cached, offline) if text))
        return words.label("ahead.store.do")

    def _fill(self, lines: list[str]) -> None:
        self.view.clear()
        self.view.addItems(lines)
        self.view.setVisible(bool(lines))
        rows = min(len(lines), _MOST_ROWS)
        self.view.setFixedHeight(rows * max(self.view.sizeHintForRow(0), 0) + 2 * self.view.frameWidth())


def _beside(notice: Notice, button: QPushButton) -> QHBoxLayout:
    """Lay out what would change, and the button for it at its end."""
    row = QHBoxLayout()
    row.addWidget(notice, 1, Qt.AlignmentFlag.AlignVCenter)
    row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
    return row
