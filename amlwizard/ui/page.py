"""What all pages share: a title, a sentence below it, and one column of content."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget, QWizardPage

from amlwizard.ui.theme import COLUMN, UNIT, PrimaryButton, text_label, title_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.ui.controller import Controller
    from amlwizard.ui.words import Words


_LINES: Final = 40
"""How many lines of large text on top of one another the column is wide."""


class _Content(QWidget):
    """What stands on a page; it scrolls only where it cannot be made any lower."""

    def __init__(self) -> None:
        super().__init__()
        self.column = QVBoxLayout(self)
        self._limit()

    def changeEvent(self, event: QEvent) -> None:
        """Be as wide as the size of the text calls for."""
        if event.type() == QEvent.Type.FontChange:
            self._limit()
        super().changeEvent(event)

    def _limit(self) -> None:
        self.setMaximumWidth(max(COLUMN, _LINES * self.fontMetrics().height()))

    def heightForWidth(self, width: int) -> int:
        """Return the least height; the scroll area asks for it."""
        return self.column.totalMinimumHeightForWidth(width)


class Page(QWizardPage):
    """One page of the wizard.

    ``name`` begins the page's message keys (``page.<name>.title``) and, with ``Page``, is its object name.
    """

    name: ClassVar[str]

    def __init__(self, words: Words, controller: Controller) -> None:
        super().__init__()
        self.words = words
        self.controller = controller
        self.setObjectName(f"{self.name}Page")
        content = _Content()
        self.column = content.column
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(UNIT)
        self.title_label = title_label()
        self.lede_label = text_label()
        self.column.addWidget(self.title_label)
        self.column.addWidget(self.lede_label)
        self.column.addSpacing(UNIT)
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * UNIT, UNIT, UNIT, UNIT)
        area = QScrollArea()  # for large text on a small screen; else all of it is seen
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is focused on the page scrolls it
        area.setWidget(content)
        for widget in (content, area.viewport()):
            widget.setAutoFillBackground(False)
        self.area = area
        row.addWidget(area, 1)
        self.build()
        self.title_changed()
        words.changed.connect(self.title_changed)
        words.changed.connect(self.refresh)

    def build(self) -> None:
        """Put the content into ``column``."""
        raise NotImplementedError

    def new_button(self, name: str, key: str, slot: Callable[[], object] | None = None) -> QPushButton:
        """Return a button with a text of the catalogue; ``slot`` is called when it is pressed."""
        button = QPushButton()
        button.setObjectName(name)
        self.words.bind_label(button.setText, key)
        if slot is not None:
            button.clicked.connect(slot)
        return button

    def landing(self) -> QWidget | None:
        """Return what has the focus when the page comes: its big button, or None where that is for the window to find."""
        primary = (button for button in self.findChildren(PrimaryButton) if button.is_primary)
        return next((button for button in primary if button.isVisibleTo(self) and button.isEnabled()), None)

    def dismiss(self) -> bool:
        """Close what is open on the page, as Esc does before it leads away; False where nothing is."""
        return False

    def refresh(self) -> None:
        """Renew what is composed of several texts or of findings."""

    def title_changed(self) -> None:
        """Set the title and the sentence below it."""
        self.set_title(self.words(f"page.{self.name}.title"), self.words(f"page.{self.name}.lede"))

    def set_title(self, title: str, lede: str = "") -> None:
        """Show a title, and a sentence where there is one."""
        self.title_label.setText(title)
        self.lede_label.setText(lede)
        self.lede_label.setVisible(bool(lede))
        self.setAccessibleName(title)

    def text(self, key: str, **arguments: object) -> str:
        """Return a text of this page."""
        return self.words(f"page.{self.name}.{key}", **arguments)
