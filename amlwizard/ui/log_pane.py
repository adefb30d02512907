"""The log: batched, capped, cut, and searchable."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontDatabase, QTextCursor, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from amlwizard.ui.theme import UNIT

if TYPE_CHECKING:
    from amlwizard.ui.words import Words

CAP: Final = 5000
"""Lines that the pane keeps."""
BATCH: Final = 1000
"""Lines that are laid out at once, so that the event loop is never held up for long."""
FLUSH_MS: Final = 50
CUT: Final = 2000
"""Characters of a line that are shown."""
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def clean_line(line: str) -> str:
    """Return what a terminal would show of a line, cut to a length that can be laid out."""
    line = line.rstrip("\r\n")
    shown = line[-CUT * 4 :].rsplit("\r", 1)[-1] if "\r" in line[-CUT * 4 :] else line
    cut = shown[:CUT]
    return _ANSI.sub("", cut) + (" …" if len(shown) > CUT else "")


class LogPane(QWidget):
    """The log with its search row; ``add`` is cheap, lines are laid out in batches."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._waiting: deque[str] = deque(maxlen=CAP)
        self._dropped = 0
        self.pane = QPlainTextEdit()
        self.pane.setObjectName("logPane")
        self.pane.setReadOnly(True)
        self.pane.setMaximumBlockCount(CAP)
        self.pane.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.pane.setTabChangesFocus(True)
        words.bind(self.pane.setAccessibleName, "run.log")
        self.search = QLineEdit()
        self.search.setObjectName("logSearchEdit")
        self.search.setClearButtonEnabled(True)
        words.bind(self.search.setPlaceholderText, "run.search")
        words.bind(self.search.setAccessibleName, "run.search")
        self.search.returnPressed.connect(self.find_next)
        row = QHBoxLayout()
        row.addWidget(self.search, 1)
        for name, slot in (("previous", self.find_previous), ("next", self.find_next)):
            button = QPushButton()
            button.setObjectName(f"{name}MatchButton")
            words.bind(button.setText, f"run.search.{name}")
            button.clicked.connect(slot)
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT)
        column.addLayout(row)
        column.addWidget(self.pane, 1)
        self._timer = QTimer(self)
        self._timer.setInterval(FLUSH_MS)
        self._timer.timeout.connect(self.flush)

    def add(self, line: str) -> None:
        """Take a line; what falls out of the cap before it is laid out is counted and never laid out."""
        if len(self._waiting) == CAP:
            self._dropped += 1
        self._waiting.append(clean_line(line))
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Lay out one batch."""
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        if self._dropped:
            batch.insert(0, self._words("run.log.dropped", number=f"{self._dropped:,}"))
            self._dropped = 0
        if batch:
            self.pane.appendPlainText("\n".join(batch))
        if not self._waiting:
            self._timer.stop()

    def clear(self) -> None:
        """Forget all lines."""
        self._waiting.clear()
        self._dropped = 0
        self.pane.clear()

    def tail(self, lines: int) -> list[str]:
        """Return the last lines."""
        return [*self.pane.toPlainText().splitlines(), *self._waiting][-lines:]

    def find_next(self) -> None:
        """Go to the next match, from the start again after the last."""
        self._find(QTextDocument.FindFlag(0), QTextCursor.MoveOperation.Start)

    def find_previous(self) -> None:
        """Go to the match before, from the end again after the first."""
        self._find(QTextDocument.FindFlag.FindBackward, QTextCursor.MoveOperation.End)

    def _find(self, flags: QTextDocument.FindFlag, again: QTextCursor.MoveOperation) -> None:
        wanted = self.search.text()
        if wanted and not self.pane.find(wanted, flags):
            self.pane.moveCursor(again)
            self.pane.find(wanted, flags)
