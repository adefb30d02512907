"""Where packages are added, and those that were added are listed and can go again; it stands on the page."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from amlwizard.core.errors import RefusedError
from amlwizard.core.wording import added_text
from amlwizard.ui.findings import error_sentence
from amlwizard.ui.theme import UNIT, Notice, text_label
from amlwizard.ui.wishes import packages_named

if TYPE_CHECKING:
    from amlwizard.core.facts import AddedPackage
    from amlwizard.ui.words import Words

_MOST_ROWS: Final = 4
"""How many packages are seen without scrolling."""


class AddedPanel(QWidget):
    """A line for names, and a list.

    Signals:
        add: add these packages, as requirements.
        remove: take this package out again.
    """

    add = Signal(tuple)
    remove = Signal(str)

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._shown: tuple[AddedPackage, ...] | None = None
        self._error: RefusedError | None = None
        self._free = True
        self.setObjectName("addedPanel")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, UNIT, 0, 0)
        column.setSpacing(UNIT)
        label = QLabel()
        words.bind_label(label.setText, "add.names")
        self.edit = QLineEdit()
        self.edit.setObjectName("addEdit")
        label.setBuddy(self.edit)
        words.bind(self.edit.setAccessibleName, "add.names")
        words.bind(self.edit.setAccessibleDescription, "add.about")
        self.edit.textChanged.connect(self._on_text)
        self.edit.returnPressed.connect(self._add)
        self.button = QPushButton()
        self.button.setObjectName("addButton")
        words.bind_label(self.button.setText, "add.do")
        self.button.clicked.connect(self._add)
        row = QHBoxLayout()
        row.addWidget(label)
        row.addWidget(self.edit, 1)
        row.addWidget(self.button)
        column.addLayout(row)
        about = text_label("addAboutLabel")
        words.bind(about.setText, "add.about")
        column.addWidget(about)
        self.problem = Notice("addProblemLabel")
        column.addWidget(self.problem)
        self.area = QScrollArea()
        self.area.setObjectName("addedView")
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons scroll it
        words.bind(self.area.setAccessibleName, "add.list")
        column.addWidget(self.area)
        words.changed.connect(self._fill)
        words.changed.connect(self._show_error)
        self._on_text()

    def open_for(self, packages: tuple[AddedPackage, ...], *, free: bool) -> None:
        """Show what was added; ``free`` tells that something can be changed now."""
        self._free = free
        if packages != self._shown:
            self._shown = packages
            self._fill()
        for button in self.area.findChildren(QPushButton):
            button.setEnabled(free)
        self.button.setEnabled(free and bool(packages_named(self.edit.text())))

    def _on_text(self) -> None:
        self._error = None
        self._show_error()
        self.button.setEnabled(self._free and bool(packages_named(self.edit.text())))

    def _add(self) -> None:
        """Ask for what is named, or say at once what is no name."""
        if not self.button.isEnabled():
            return
        from amlwizard.core.added_lines import addition  # takes time to load; what looked at the folder has done that

        names = packages_named(self.edit.text())
        try:
            for name in names:
                addition(name)
        except RefusedError as error:
            self._error = error
            self._show_error()
            self.edit.setFocus()
            return
        self.add.emit(names)

    def _show_error(self) -> None:
        self.problem.show_text("triangle", error_sentence(self._words, self._error) if self._error is not None else "")

    def _fill(self) -> None:
        """List what was added, each with a button; an editable folder has none, as its name is not known."""
        shown = self._shown or ()
        content = QWidget()
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(UNIT // 2)
        grid.setColumnStretch(0, 1)
        buttons = []
        for row, package in enumerate(shown):
            told = added_text((package,), self._words.language)
            name = QLabel(told)
            name.setTextFormat(Qt.TextFormat.PlainText)
            grid.addWidget(name, row, 0)
            if not package.name.startswith("-e "):
                buttons.append(self._button_for(package, told))
                grid.addWidget(buttons[-1], row, 1)
        grid.setRowStretch(len(shown), 1)
        if (former := self.area.takeWidget()) is not None:
            former.deleteLater()  # one of its buttons may be what was pressed
        self.area.setWidget(content)
        for before, after in pairwise([self.button, *buttons]):
            QWidget.setTabOrder(before, after)  # what is made later would come last on the page
        self.area.setVisible(bool(shown))
        rows = min(len(shown), _MOST_ROWS)
        height = grid.sizeHint().height() if shown else 0
        self.area.setFixedHeight(height if rows == len(shown) else height * rows // len(shown))

    def _button_for(self, package: AddedPackage, told: str) -> QPushButton:
        button = QPushButton()
        button.setObjectName(f"remove-{package.name}")
        key = "add.remove" if package.locked is None else "add.restore"
        button.setText(self._words(key, version=package.locked))
        named = told if package.locked is None else package.name
        button.setAccessibleName(self._words(f"{key}.named", package=named, version=package.locked))
        button.setEnabled(self._free)
        button.clicked.connect(lambda: self.remove.emit(package.name))
        return button
