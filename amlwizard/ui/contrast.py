"""How well colours are told apart, by the formula of the WCAG, and how well they have to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from PySide6.QtGui import QColor, QGuiApplication, QPalette

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT: Final = 4.5
"""The contrast of text with what is behind it."""
STRONG_TEXT: Final = 7.0
"""The same where the system asks for high contrast."""
SHAPE: Final = 3.0
"""The contrast of signs and of the outlines of what can be used."""
_STEPS: Final = 16


def contrast(one: QColor, other: QColor) -> float:
    """Return the ratio of two opaque colours: from 1, the same, to 21, black and white."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: QColor) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (colour.redF(), colour.greenF(), colour.blueF())
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def blend(one: QColor, other: QColor, share: float) -> QColor:
    """Return a colour with this share of the other one."""
    first, second = ((each.redF(), each.greenF(), each.blueF()) for each in (one, other))
    return QColor.fromRgbF(*((1 - share) * here + share * there for here, there in zip(first, second, strict=True)))


def steps(one: QColor, other: QColor) -> Iterable[QColor]:
    """Return the colours from one to the other."""
    return (blend(one, other, step / _STEPS) for step in range(_STEPS + 1))


def wanted(palette: QPalette) -> float:
    """Return the contrast that text needs."""
    return STRONG_TEXT if is_strong(palette) else TEXT


def is_strong(palette: QPalette, hints: Any = None) -> bool:
    """Tell whether the system asks for high contrast.

    Qt tells that from 6.10 on. Before, and where the system does not say so, the palette does: such schemes, those of
    Windows and of the desktops of Linux, have one background for everything, which the others have not.

    Args:
        palette: that of the application.
        hints: Qt's style hints, if not those of the application.
    """
    accessibility = getattr(QGuiApplication.styleHints() if hints is None else hints, "accessibility", None)
    if accessibility is not None and accessibility().contrastPreference().name == "HighContrast":
        return True
    role = QPalette.ColorRole
    grounds = {palette.color(QPalette.ColorGroup.Active, each).rgb() for each in (role.Window, role.Base, role.Button)}
    text = palette.color(QPalette.ColorGroup.Active, role.WindowText)
    return len(grounds) == 1 and contrast(text, QColor.fromRgb(grounds.pop())) >= STRONG_TEXT
