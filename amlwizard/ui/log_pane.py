"""The log: batched, capped, cut, searchable, and still while somebody reads it."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication, QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from amlwizard.core.wording import number_text
from amlwizard.ui.log_text import CUT, MOST_HITS, clean_line, find_all, is_problem
from amlwizard.ui.save_dialog import ask_where
from amlwizard.ui.theme import UNIT, FontFollower, Notice

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QResizeEvent

    from amlwizard.ui.words import Words

CAP: Final = 5000
"""Lines that the pane keeps; the whole text is in the log file."""
BATCH: Final = 100
"""Lines that are laid out between two looks at the clock, at most."""
_BATCH_CHARACTERS: Final = 10_000
FLUSH_MS: Final = 50
_FLUSH_SECONDS: Final = 0.01
"""How long lines are laid out at a stretch, so that the event loop is never held up for long."""


class LogPane(QWidget):
    """The log with its search; ``add`` is cheap, lines are laid out in batches.

    The pane *follows*: it shows the newest lines. Whoever scrolls up, selects or searches stops that. Nothing is laid out
    then, so that what is read stays where it is; what comes meanwhile waits, no more of it than the pane keeps.

    Signals:
        save_wanted: the log shall be saved at this path.

    Attributes:
        following: whether the newest lines are shown as they come.
    """

    save_wanted = Signal(str)

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._waiting: deque[str] = deque(maxlen=CAP)
        self._dropped = 0
        self._kept: deque[tuple[str, bool]] = deque(maxlen=CAP)
        self._shown: deque[str] = deque(maxlen=CAP)
        self._place: int | None = None
        self.following = True
        self.pane = _View()
        self.pane.setObjectName("logPane")
        self.pane.setReadOnly(True)
        self.pane.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.pane.setUndoRedoEnabled(False)
        self.pane.setMaximumBlockCount(CAP)
        FontFollower(self.pane, family=QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.pane.setTabChangesFocus(True)
        words.bind(self.pane.setAccessibleName, "run.log")
        self.pane.scrolled.connect(self._set_following)
        self.pane.copyAvailable.connect(self._on_selection)
        self._end_timer = QTimer(self)
        self._end_timer.setSingleShot(True)
        self._end_timer.timeout.connect(self._keep_end)
        bar = self.pane.verticalScrollBar()
        for moved in (bar.valueChanged, bar.rangeChanged):
            # only then is it known whether the user did that; the bar's value is no time to wait
            moved.connect(lambda *_: self._end_timer.start(0))
        self.pane.resized.connect(self._keep_end)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        column.addLayout(self._search_row())
        column.addWidget(self.pane, 1)
        column.addLayout(self._button_row())
        self.remark = Notice("logRemarkLabel")
        column.addWidget(self.remark)
        self._timer = QTimer(self)
        self._timer.setInterval(FLUSH_MS)
        self._timer.timeout.connect(self.flush)
        words.changed.connect(self._show_state)
        self._show_state()

    def _search_row(self) -> QHBoxLayout:
        self.search = QLineEdit()
        self.search.setObjectName("logSearchEdit")
        self._words.bind(self.search.setPlaceholderText, "run.search")
        self._words.bind(self.search.setAccessibleName, "run.search")
        self.search.installEventFilter(self)
        self.search.textChanged.connect(self._show_hits)
        self.hits = QLabel()
        self.hits.setObjectName("logHitsLabel")
        row = QHBoxLayout()
        row.addWidget(self.search, 1)
        row.addWidget(self.hits)
        row.addWidget(self._button("previousMatchButton", "run.search.previous", self.find_previous))
        row.addWidget(self._button("nextMatchButton", "run.search.next", self.find_next))
        return row

    def _button_row(self) -> QHBoxLayout:
        self.problems = QCheckBox()
        self.problems.setObjectName("logProblemsBox")
        self._words.bind_label(self.problems.setText, "run.log.problems")
        self.problems.toggled.connect(self._on_filter)
        self.follow_button = self._button("followLogButton", None, self.follow)
        row = QHBoxLayout()
        row.addWidget(self.problems)
        row.addStretch(1)
        row.addWidget(self.follow_button)
        row.addWidget(self._button("copyLogButton", "run.log.copy", self.copy))
        row.addWidget(self._button("saveLogButton", "run.log.save", self._choose_place))
        return row

    def _button(self, name: str, key: str | None, slot: Callable[[], None]) -> QPushButton:
        button = QPushButton()
        button.setObjectName(name)
        button.setAutoDefault(False)  # Enter in the search is not for whatever button comes first
        if key is not None:
            self._words.bind_label(button.setText, key)
        button.clicked.connect(slot)
        return button

    def add(self, line: str) -> None:
        """Take a line; what falls out of the cap before it is laid out is counted and never laid out."""
        waiting = self._waiting
        if len(waiting) == CAP:
            self._dropped += 1
        waiting.append(line if len(line) <= CUT else clean_line(line))
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Lay out what waits, as far as there is time for it; nothing while the pane does not follow."""
        if not self.following:
            self._timer.stop()  # the next line starts it again
            self._name_follow()
            return
        until = time.monotonic() + _FLUSH_SECONDS
        if self._dropped:
            self._lay_out([(self._words("run.log.dropped", number=number_text(self._dropped)), True)])
            self._dropped = 0
        while self._waiting and time.monotonic() < until:
            self._lay_out(self._take_batch())
        self._keep_end()
        self._show_hits()
        if not self._waiting:
            self._timer.stop()

    def _take_batch(self) -> list[tuple[str, bool]]:
        lines: list[tuple[str, bool]] = []
        characters = 0
        while self._waiting and len(lines) < BATCH and characters < _BATCH_CHARACTERS:
            line = clean_line(self._waiting.popleft())
            lines.append((line, is_problem(line)))
            characters += len(line)
        return lines

    def _lay_out(self, lines: list[tuple[str, bool]]) -> None:
        self._kept.extend(lines)
        only_problems = self.problems.isChecked()
        texts = [line for line, tells in lines if tells or not only_problems]
        if not self._shown:
            while texts and not texts[0]:
                del texts[0]  # a document that is empty takes an empty line for none
        if texts:
            self._shown.extend(texts)
            self.pane.appendPlainText("\n".join(texts))

    def clear(self) -> None:
        """Forget all lines, and follow those that come."""
        for lines in (self._waiting, self._kept, self._shown):
            lines.clear()
        self._dropped = 0
        self._place = None
        self.remark.show_text("dot", "")
        self.pane.clear()
        self.follow()
        self._show_hits()

    def tail(self, lines: int) -> list[str]:
        """Return the last lines, those that wait included."""
        return [*(line for line, _ in self._kept), *map(clean_line, self._waiting)][-lines:]

    def follow(self) -> None:
        """Go on with the newest lines."""
        cursor = self.pane.textCursor()
        if cursor.hasSelection():
            cursor.clearSelection()
            self.pane.setTextCursor(cursor)
        self._set_following(True)

    def copy(self) -> None:
        """Copy what is selected, or all that is shown."""
        if self.pane.textCursor().hasSelection():
            self.pane.copy()
        else:
            QGuiApplication.clipboard().setText("\n".join(self._shown))

    def find_next(self) -> None:
        """Go to the next match, from the start again after the last."""
        after = self.pane.textCursor().selectionEnd()
        self._go_to(lambda found: next((number for number, (start, _) in enumerate(found) if start >= after), 0))

    def find_previous(self) -> None:
        """Go to the match before, from the end again after the first."""
        before = self.pane.textCursor().selectionStart()
        self._go_to(lambda found: sum(end <= before for _, end in found) - 1)

    def _go_to(self, choose: Callable[[list[tuple[int, int]]], int]) -> None:
        found = find_all(self._shown, self.search.text())
        if found:
            start, end = found[choose(found)]
            self._set_following(False)
            cursor = self.pane.textCursor()
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            self.pane.setTextCursor(cursor)
        self._show_hits()

    def _show_hits(self) -> None:
        """Say how many matches there are, and which one is selected."""
        wanted = self.search.text()
        self.hits.setVisible(bool(wanted))
        if not wanted:
            return
        found = find_all(self._shown, wanted)
        cursor = self.pane.textCursor()
        total = number_text(len(found)) + ("+" if len(found) == MOST_HITS else "")
        here = (cursor.selectionStart(), cursor.selectionEnd())
        if not found:
            text = self._words("run.search.none")
        elif here in found:
            text = self._words("run.search.hit", number=number_text(found.index(here) + 1), total=total)
        else:
            text = self._words("run.search.hits", number=total)
        self.hits.setText(text)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Search by Enter in the search field, and backwards by Shift+Enter; Esc leaves it for the text."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.KeyPress:
                self.search.clear()
                self.pane.setFocus()
            return True
        if isinstance(event, QKeyEvent) and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            if event.type() == QEvent.Type.KeyPress:
                backwards = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                (self.find_previous if backwards else self.find_next)()
            return True
        return False

    def _on_filter(self, only_problems: bool) -> None:
        """Show problems alone, or all lines again where they were."""
        if only_problems:
            self._place = None if self.following else self.pane.firstVisibleBlock().blockNumber()
        self._shown = deque((line for line, tells in self._kept if tells or not only_problems), CAP)
        while self._shown and not self._shown[0]:
            self._shown.popleft()
        self.pane.setPlainText("\n".join(self._shown))
        if not self.following and self._place is not None and not only_problems:
            block = self.pane.document().findBlockByNumber(self._place)
            self.pane.verticalScrollBar().setValue(block.firstLineNumber())
        self._keep_end()
        self._show_state()

    def _on_selection(self, selected: bool) -> None:
        if selected:
            self._set_following(False)

    def _set_following(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self._show_state()
            if following:
                self._timer.start()  # there may be more to lay out than one batch
                self.flush()

    def _keep_end(self) -> None:
        """Keep the end in sight if it shall be, whatever has moved it: lines, another size or font, or Qt by itself."""
        if self.following:
            bar = self.pane.verticalScrollBar()
            bar.setValue(bar.maximum())

    def _show_state(self) -> None:
        """Show the way back to the newest lines while they are not shown, and why nothing is where nothing is."""
        self._name_follow()
        self.follow_button.setVisible(not self.following)
        self.pane.setPlaceholderText(self._words("run.log.no_problems") if self.problems.isChecked() else "")
        self._show_hits()

    def _name_follow(self) -> None:
        new = len(self._waiting) + self._dropped
        key = "run.log.follow.new" if new else "run.log.follow"
        self.follow_button.setText(self._words.label(key, number=number_text(new)))

    def _choose_place(self) -> None:
        title, kinds = (self._words(f"run.log.{key}") for key in ("choose", "filter"))
        ask_where(self.window(), title, kinds, "amlwizard.log", self.save_wanted.emit)


class _View(QPlainTextEdit):
    """The text; it tells what the user does from what Qt does by itself, which scrolls when it is shown first, for one.

    Signals:
        scrolled: the user has moved what is shown, and whether to the very end.
        resized: its size is another.
    """

    scrolled = Signal(bool)
    resized = Signal()

    def __init__(self) -> None:
        super().__init__()
        bar = self.verticalScrollBar()
        bar.actionTriggered.connect(self._tell)  # the wheel, and whatever is done with the bar itself
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)  # nobody could tell what it does from Qt's doing

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move by keys."""
        bar = self.verticalScrollBar()
        before = bar.value()
        super().keyPressEvent(event)
        if bar.value() != before:
            self._tell()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out the text anew."""
        super().resizeEvent(event)
        self.resized.emit()

    def _tell(self) -> None:
        bar = self.verticalScrollBar()
        self.scrolled.emit(bar.sliderPosition() == bar.maximum())
