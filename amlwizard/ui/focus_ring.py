"""A ring around whatever has the focus, as styles show it on some widgets faintly or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QApplication, QFocusFrame, QProxyStyle, QStyle

from amlwizard.ui.handle_events import HandleEvents

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QStyleHintReturn, QStyleOption, QWidget

_MODIFIERS: Final = {Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta}
_POINTING: Final = {QEvent.Type.MouseButtonPress, QEvent.Type.TouchBegin, QEvent.Type.TabletPress}
_PRESSING: Final = {QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride}
"""The second is all that is seen of a key that turns out to be a shortcut."""
_WIDTH: Final = 2
_ROUND: Final = 3


class _AboveAll(QProxyStyle):
    """Lets the ring lie above what is around its widget, which may have no room for it."""

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returned: QStyleHintReturn | None = None,
    ) -> int:
        """Answer the one question about that."""
        if hint == QStyle.StyleHint.SH_FocusFrame_AboveWidget:
            return 1
        return super().styleHint(hint, option, widget, returned)


class _Hands(HandleEvents):
    """Knows whether a window was used last by keyboard: by any key, of which Qt itself counts the Tab key alone."""

    on_keys = False

    def takes(self, event: QEvent) -> bool:
        """Note what is used; the events go on their way."""
        kind = event.type()
        if kind in _POINTING:
            self.on_keys = False
        elif isinstance(event, QKeyEvent) and kind in _PRESSING and event.key() not in _MODIFIERS:
            self.on_keys = True
        return False


class FocusRing(QFocusFrame):
    """Surrounds the widget of a window that has the focus, once the window is used by keyboard."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._hands = _Hands(window)
        self._above = _AboveAll()
        self.setStyle(self._above)
        self.hide()
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow)

    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        by_keyboard = self._hands.on_keys or self._window.testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
        if now is not None and by_keyboard and now.window() is self._window and now is not self._window:
            self.setWidget(now)
            return
        self.setWidget(None)  # type: ignore[arg-type] # as Qt has it
        self.setParent(self._window)  # or it would go with what the widget is part of
        self.hide()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the ring in the colour of the text, which stands out from every background."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._window.palette().windowText(), _WIDTH))
        inner = _WIDTH / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inner, inner, -inner, -inner), _ROUND, _ROUND)
