"""Icons, text sizes and spacing: the system's font and palette, and few things besides."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication, QEvent, QLibraryInfo, QObject, QSize, Qt, QTranslator
from PySide6.QtGui import QFont, QIcon, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QStyle,
    QStyleFactory,
    QWidget,
)

from amlwizard.resources import resource

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.ui.words import Words

UNIT: Final = 8
"""All spacing is a multiple of this, in logical pixels."""
COLUMN: Final = 640
"""The widest a column of content gets, in logical pixels."""
SIGN: Final = QSize(16, 16)


@cache
def icon(name: str) -> QIcon:
    """Return one of our own icons. Status signs differ by shape as well as by colour."""
    return QIcon(str(resource("icons", f"{name}.svg")))


def scaled_font(factor: float, *, strong: bool = False) -> QFont:
    """Return the system's font in another size."""
    font = QFont(QApplication.font())
    font.setPointSizeF(font.pointSizeF() * factor)
    if strong:
        font.setWeight(QFont.Weight.DemiBold)
    return font


def title_label() -> QLabel:
    """Return a label for the title of a page."""
    label = text_label()
    label.setFont(scaled_font(1.6))
    return label


def section_label() -> QLabel:
    """Return a label for the title of a section."""
    label = text_label()
    label.setFont(scaled_font(1.1, strong=True))
    return label


def text_label(name: str = "") -> QLabel:
    """Return a label whose text wraps and is shown as it is, without markup."""
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


_DEEPER: Final = 140
_GREYER: Final = 130


class _SchemeFollower(QObject):
    """Gives a widget colours of its own again whenever the system changes between light and dark."""

    def __init__(self, widget: QWidget, recolour: Callable[[QPalette], None]) -> None:
        super().__init__(widget)
        self._widget = widget
        self._recolour = recolour
        self._applying = False
        self.apply()
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Follow a change; the event goes on its way."""
        if event.type() == QEvent.Type.PaletteChange and not self._applying:
            self.apply()
        return False

    def apply(self) -> None:
        """Give the widget its colours."""
        palette = QPalette()  # that of the application; only the colours that are set here are the widget's own
        self._recolour(palette)
        self._applying = True
        self._widget.setPalette(palette)
        self._applying = False


def _palette_painter(parent: QWidget) -> QStyle | None:
    """Return a style that paints buttons in their palette's colours; None where the application's own does.

    Those of Windows and macOS paint the system's button and put the palette's text on it, white on white.
    """
    if QApplication.style().name().lower() == "fusion":
        return None
    style = QStyleFactory.create("Fusion")
    style.setParent(parent)
    return style


class PrimaryButton(QPushButton):
    """The one button of a page that most people want, in the palette's highlight colour.

    Where another one is wanted first at times, this one is ``set_primary`` to False meanwhile.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._primary = True
        self._painter = _palette_painter(self)
        self._follower = _SchemeFollower(self, self._recolour)
        self.set_primary(True)

    def set_primary(self, primary: bool) -> None:
        """Look like the one button of the page, or like any other."""
        self._primary = primary
        if self._painter is not None:
            self.setStyle(self._painter if primary else QApplication.style())
        self.setFont(scaled_font(1.1, strong=True) if primary else QFont())
        self.setMinimumSize(*((22 * UNIT, 5 * UNIT) if primary else (0, 0)))
        self.setSizePolicy(QSizePolicy.Policy.Maximum if primary else QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._follower.apply()

    def _recolour(self, palette: QPalette) -> None:
        if not self._primary:
            return
        for role, source in (
            (QPalette.ColorRole.Button, QPalette.ColorRole.Highlight),
            (QPalette.ColorRole.ButtonText, QPalette.ColorRole.HighlightedText),
        ):
            for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
                colour = palette.color(QPalette.ColorGroup.Active, source)
                if role is QPalette.ColorRole.Button:  # styles draw a button paler than its colour; the text needs contrast
                    colour = colour.darker(_DEEPER)
                palette.setColor(group, role, colour)


class Choice(QRadioButton):
    """A radio button whose ring is seen on a dark page too.

    Styles draw the ring darker than the window's colour, which on the base colour of a dark page is next to invisible.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        _SchemeFollower(self, self._recolour)

    @staticmethod
    def _recolour(palette: QPalette) -> None:
        text, base = palette.color(QPalette.ColorRole.Text), palette.color(QPalette.ColorRole.Base)
        if base.lightness() < text.lightness():
            palette.setColor(QPalette.ColorRole.Window, text.darker(_GREYER))


class Notice(QFrame):
    """A sign and a text beside it: what is the case, with a shape for those who do not see the colour."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._sign = QLabel()
        self._sign.setFixedWidth(SIGN.width())
        self.label = text_label(name)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(UNIT)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.label, 1)
        self.setVisible(False)

    def show_text(self, sign: str, text: str) -> None:
        """Show a text with one of our signs; an empty text hides both."""
        self._sign.setPixmap(icon(sign).pixmap(SIGN))
        self.label.setText(text)
        self.setVisible(bool(text))


class QtTexts:
    """Qt's own words, such as those of an input's context menu, in the language of the window."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._translator = QTranslator()
        words.changed.connect(self.apply)
        self.apply()

    def apply(self) -> None:
        """Load the translation that belongs to the language."""
        QCoreApplication.removeTranslator(self._translator)
        if self._words.language == "en":
            return
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if self._translator.load(f"qtbase_{self._words.language}", folder):
            QCoreApplication.installTranslator(self._translator)
