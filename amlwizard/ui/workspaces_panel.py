"""The list of known workspaces on the start page: what each is like, and one click to open it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from amlwizard.core.wording import number_text
from amlwizard.ui.findings import environment_sentence, environment_sign
from amlwizard.ui.theme import SIGN, UNIT, Notice, icon, section_label
from amlwizard.ui.workspaces import Folder

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QResizeEvent

    from amlwizard.ui.words import Words
    from amlwizard.ui.workspaces import Known, WorkspacesDesk

_MOST_ROWS: Final = 3
"""How many workspaces are seen without scrolling."""
_LONGEST: Final = 28
"""How many characters of a name are shown; the whole path is in the tooltip."""
_SIGNS: Final = {Folder.UNSEEN: "ring", Folder.GONE: "triangle", Folder.SILENT: "triangle"}


class WorkspacesPanel(QWidget):
    """The list; it shows where more than one workspace is known, or one that has gone.

    Signals:
        opened: open this workspace (``Path``).
    """

    opened = Signal(object)

    def __init__(self, words: Words, desk: WorkspacesDesk, before: QWidget) -> None:
        """Make the list; its buttons follow ``before`` in the order of the Tab key."""
        super().__init__()
        self._words = words
        self._desk = desk
        self._before = before
        self._rows: dict[Path, _Row] = {}
        self.setObjectName("workspacesPanel")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, UNIT)
        column.setSpacing(UNIT // 2)
        title = section_label()
        words.bind(title.setText, "workspaces.title")
        column.addWidget(title)
        self.area = QScrollArea()
        self.area.setObjectName("workspacesView")
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons scroll it
        words.bind(self.area.setAccessibleName, "workspaces.title")
        column.addWidget(self.area)
        self.nothing = Notice("workspacesProblemLabel")
        column.addWidget(self.nothing)
        desk.changed.connect(self.refresh)
        desk.found.connect(self.opened)
        words.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what is known."""
        known = self._desk.known
        if list(self._rows) != [each.root for each in known]:
            self._fill(known)
        for each in known:
            self._rows[each.root].show_known(each)
        place = self._desk.nothing_in
        self.nothing.show_text("info", self._words("workspaces.nothing", path=place) if place is not None else "")
        self.setVisible(len(known) > 1 or any(each.folder is Folder.GONE for each in known))

    def _fill(self, known: tuple[Known, ...]) -> None:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(UNIT // 2)
        self._rows = {each.root: _Row(self._words) for each in known}
        for root, row in self._rows.items():
            row.open_button.clicked.connect(lambda _checked=False, root=root: self.opened.emit(root))
            row.find_button.clicked.connect(lambda _checked=False, root=root: self._choose(root))
            row.forget_button.clicked.connect(lambda _checked=False, root=root: self._forget(root))
            column.addWidget(row)
        column.addStretch(1)
        if (former := self.area.takeWidget()) is not None:
            former.deleteLater()  # one of its buttons may be what was pressed
        self.area.setWidget(content)
        buttons = [self._before, *(button for row in self._rows.values() for button in row.buttons)]
        for before, after in pairwise(buttons):
            QWidget.setTabOrder(before, after)  # what is made later would come last on the page
        column.setContentsMargins(0, 0, UNIT if len(known) > _MOST_ROWS else 0, 0)  # apart from the scroll bar
        height = max((row.sizeHint().height() for row in self._rows.values()), default=0) + column.spacing()
        self.area.setFixedHeight(height * min(len(known), _MOST_ROWS))

    def _choose(self, root: Path) -> None:
        dialog = QFileDialog(self, self._words("workspaces.find.choose", name=root.name), str(root.parent))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda place: self._desk.find(root, type(root)(place)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _forget(self, root: Path) -> None:
        """Forget a workspace; whoever works with the keyboard goes on with the next one, or with what follows the list."""
        self._rows[root].forget_button.focusNextChild()
        self._desk.forget(root)


class _Row(QWidget):
    """One workspace: sign, name, state, and what can be done with it."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(UNIT)
        self.sign = QLabel()
        self.sign.setFixedWidth(SIGN.width())
        self.label = QLabel()
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # what does not fit is left out
        self.open_button = QPushButton()
        self.find_button = QPushButton()
        self.forget_button = QPushButton()
        self.buttons = (self.open_button, self.find_button, self.forget_button)
        row.addWidget(self.sign)
        row.addWidget(self.label, 1)
        for button in self.buttons:
            row.addWidget(button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much of the line as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        line, room = self.label.accessibleName(), self.label.width()
        self.label.setText(self.label.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, room))

    def show_known(self, known: Known) -> None:
        """Show what is known of the workspace now."""
        words = self._words
        state, sign = _state(words, known), _SIGNS.get(known.folder, "info")
        if known.facts is not None:
            sign = environment_sign(known.facts)
        self.sign.setPixmap(icon(sign).pixmap(SIGN))
        self.label.setAccessibleName(words("workspaces.row", name=_short(known.name), state=state))
        self._fit()
        why = environment_sentence(words, known.facts) if known.facts is not None else state
        about = f"{known.root}\n{why}"
        self.setToolTip(about)
        empty = known.facts is not None and known.facts.state == "absent" and known.facts.action != "wait"
        gone = known.folder is Folder.GONE
        for button, name, shown in (
            (self.open_button, "open", not gone),
            (self.find_button, "find", gone),
            (self.forget_button, "forget", gone or empty or known.folder is Folder.SILENT),
        ):
            button.setObjectName(f"{name}-{known.name}")
            button.setText(words(f"workspaces.{name}"))
            button.setAccessibleName(words(f"workspaces.{name}.named", name=known.name))
            button.setAccessibleDescription(about)
            button.setVisible(shown)


def _state(words: Words, known: Known) -> str:
    """Return the state of a workspace in a few words."""
    facts = known.facts
    if facts is None:
        return words(f"workspaces.{known.folder.value}")
    if facts.action in {"wait", "upgrade"}:
        return words(f"workspaces.{facts.action}")
    if facts.ready and facts.python and facts.packages is not None:
        return words("workspaces.ready", python=facts.python, packages=number_text(facts.packages))
    return words(f"workspaces.{facts.state}")


def _short(name: str) -> str:
    half = _LONGEST // 2
    return name if len(name) <= _LONGEST else f"{name[:half]}…{name[-half:]}"
