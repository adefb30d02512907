"""Icons, text sizes and spacing: the system's font and palette, and few things besides."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

from PySide6.QtCore import QCoreApplication, QEvent, QLibraryInfo, QObject, QRect, QSize, Qt, QTranslator
from PySide6.QtGui import QColor, QFont, QIcon, QImage, QPainter, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QWidget,
)

from amlwizard.resources import resource
from amlwizard.ui.announcing import announce
from amlwizard.ui.contrast import SHAPE, TEXT, blend, contrast, steps, wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.ui.words import Words

UNIT: Final = 8
"""All spacing is a multiple of this, in logical pixels."""
COLUMN: Final = 640
"""The widest a column of content gets at the usual size of the text, in logical pixels."""
SIGN: Final = QSize(16, 16)


@cache
def icon(name: str) -> QIcon:
    """Return one of our own icons. Status signs differ by shape as well as by colour."""
    return QIcon(str(resource("icons", f"{name}.svg")))


class FontFollower(QObject):
    """Gives a widget the system's font in another size, or another one in its size, and does so again when asked."""

    def __init__(self, widget: QWidget, factor: float = 1.0, *, strong: bool = False, family: QFont | None = None) -> None:
        super().__init__(widget)
        self._widget = widget
        self._factor = factor
        self._strong = strong
        self._family = family
        self.apply()

    def apply(self, factor: float | None = None, *, strong: bool | None = None) -> None:
        """Give the widget its font, in another shape from now on where one is named."""
        self._factor = self._factor if factor is None else factor
        self._strong = self._strong if strong is None else strong
        system = QApplication.font()
        font = QFont(system if self._family is None else self._family)
        if system.pointSizeF() > 0:
            font.setPointSizeF(system.pointSizeF() * self._factor)
        else:
            font.setPixelSize(round(system.pixelSize() * self._factor))
        if self._strong:
            font.setWeight(QFont.Weight.DemiBold)
        self._widget.setFont(font)


def title_label() -> QLabel:
    """Return a label for the title of a page."""
    label = text_label()
    FontFollower(label, 1.6)
    return label


def section_label() -> QLabel:
    """Return a label for the title of a section."""
    label = text_label()
    FontFollower(label, 1.1, strong=True)
    return label


def text_label(name: str = "") -> QLabel:
    """Return a label whose text wraps and is shown as it is, without markup."""
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


class _SchemeFollower(QObject):
    """Gives a widget colours of its own again whenever those of the system change: light, dark, high contrast."""

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


_OUTLINED: Final = (
    "QPushButton",
    "QLineEdit",
    "QComboBox",
    "QCheckBox",
    "QRadioButton",
    "QProgressBar",
    "QPlainTextEdit",
    "QTreeWidget",
    "QListWidget",
    "QScrollBar",
)
_DARKER: Final = (125, 150)
"""How much darker than the colour of the window Fusion draws outlines, at least and at most."""
_USABLE: Final = (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive)


class _FontWatch(QObject):
    """Tells the fonts of a window of their own that the system's has changed: only the window itself learns that."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow a change; the event goes on its way."""
        if event.type() == QEvent.Type.ApplicationFontChange:
            for each in watched.findChildren(FontFollower):
                each.apply()
        return False


def follow_system(window: QWidget) -> None:
    """Follow the system's text size and its colours with whatever does not do that by itself.

    What styles and systems let go pale stays in sight in every scheme: hints in empty fields, and outlines. Fusion draws
    those of what can be used a little darker than the colour of the window, which is pale on a light page and black on
    black in high contrast. So the classes of such widgets get a colour of the window from which they are seen; nothing
    else is drawn with it, as they are transparent.
    """
    _SchemeFollower(window, _clear)
    window.installEventFilter(_FontWatch(window))


def _clear(palette: QPalette) -> None:
    role = QPalette.ColorRole
    page, ground, text = (palette.color(QPalette.ColorGroup.Active, each) for each in (role.Base, role.Window, role.Text))
    enough = wanted(palette)
    hint = next((each for each in steps(blend(text, page, 0.45), text) if contrast(each, page) >= enough), text)
    for group in _USABLE:
        palette.setColor(group, role.PlaceholderText, hint)
    outlined = QPalette()
    if QApplication.style().name() == "fusion":
        least = enough if enough > TEXT else SHAPE
        seen = (each for each in steps(ground, text) if _is_seen(each, least, page, ground))
        outlined.setColor(role.Window, next(seen, text))
    for name in _OUTLINED:
        QApplication.setPalette(outlined, name)  # type: ignore[arg-type]  # what is declared is refused


def _is_seen(colour: QColor, least: float, *grounds: QColor) -> bool:
    """Tell whether outlines that are drawn a little darker than a colour are seen."""
    return all(contrast(colour.darker(much), ground) >= least for much in _DARKER for ground in grounds)


class PrimaryButton(QPushButton):
    """The one button of a page that most people want, in the palette's highlight colour.

    Where another one is wanted first at times, this one is ``set_primary`` to False meanwhile.
    """

    _last: ClassVar[tuple[str, QPalette, QPalette] | None] = None
    """The style and the palette that the last button followed, and its own: they are the same for all, and take long."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._primary = True
        self._font = FontFollower(self)
        self._follower = _SchemeFollower(self, self._recolour)
        self.set_primary(True)

    @property
    def is_primary(self) -> bool:
        """Tell whether it looks like the one button of the page."""
        return self._primary

    def set_primary(self, primary: bool) -> None:
        """Look like the one button of the page, or like any other."""
        self._primary = primary
        self._font.apply(1.1 if primary else 1.0, strong=primary)
        self.setMinimumSize(*((22 * UNIT, 5 * UNIT) if primary else (0, 0)))
        self.setSizePolicy(QSizePolicy.Policy.Maximum if primary else QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._follower.apply()

    def _recolour(self, palette: QPalette) -> None:
        """Take the highlight of the palette as far as its text is read upon it, as it is drawn by the style.

        Styles draw a button paler than its colour, and some with colours of their own: there it stays as it is.
        """
        if not self._primary:
            return
        style, last = self.style().name(), PrimaryButton._last
        if last is None or last[:2] != (style, palette):
            last = PrimaryButton._last = style, QPalette(palette), self._highlighted(palette)
        palette.swap(QPalette(last[2]))

    def _highlighted(self, palette: QPalette) -> QPalette:
        """Return what becomes of a palette."""
        group, role = QPalette.ColorGroup.Active, QPalette.ColorRole
        text, colour = (palette.color(group, each) for each in (role.HighlightedText, role.Highlight))
        end = QColor(Qt.GlobalColor.black if text.lightness() > colour.lightness() else Qt.GlobalColor.white)
        enough = wanted(palette)
        for ground in steps(colour, end):
            tried = QPalette(palette)
            for each in _USABLE:
                tried.setColor(each, role.Button, ground)
                tried.setColor(each, role.ButtonText, text)
            if least_contrast(self, tried) >= enough:
                return tried
        return palette


def least_contrast(button: QPushButton, palette: QPalette) -> float:
    """Return the contrast of a button's text with the palest place that the style draws behind it, pressed or not."""
    option: Any = QStyleOptionButton()  # the attributes of its base are not declared
    option.initFrom(button)
    active = QPalette(palette)
    active.setCurrentColorGroup(QPalette.ColorGroup.Active)
    option.palette = active
    option.rect = QRect(0, 0, 8 * UNIT, 5 * UNIT)
    text = palette.color(QPalette.ColorGroup.Active, QPalette.ColorRole.ButtonText)
    found = []
    state = QStyle.StateFlag
    for drawn in (state.State_Raised, state.State_Raised | state.State_MouseOver, state.State_Sunken):
        option.state = state.State_Enabled | state.State_Active | drawn
        image = QImage(option.rect.size(), QImage.Format.Format_RGB32)
        image.fill(palette.color(QPalette.ColorRole.Base))
        painter = QPainter(image)
        button.style().drawControl(QStyle.ControlElement.CE_PushButtonBevel, option, painter, button)
        painter.end()
        inner = range(UNIT, option.rect.height() - UNIT, UNIT // 2)  # the start of the window waits for this
        found += [contrast(image.pixelColor(option.rect.center().x(), line), text) for line in inner]
    return min(found)


class Notice(QFrame):
    """A sign and a text beside it: what is the case, with a shape for those who do not see the colour.

    What it tells anew is announced, a failure at once.
    """

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
        news = text != self.label.text()
        self.label.setText(text)
        self.setVisible(bool(text))
        if news:
            announce(self, text, urgent=sign == "cross")


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
