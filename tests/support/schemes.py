"""Palettes as systems bring them; without a screen there is no system that would."""

from __future__ import annotations

from typing import Final

from PySide6.QtGui import QColor, QPalette

SCHEMES: Final = ("light", "dark", "contrast", "contrast-light")


def scheme_palette(name: str) -> QPalette:
    """Return the palette of a scheme: that of the platform for light, and like that of Windows in high contrast."""
    role = QPalette.ColorRole
    if name == "light":
        return QPalette()
    if name == "dark":
        palette = QPalette(QColor("#4a4f54"), QColor("#43484d"))
        palette.setColor(role.Base, QColor("#232629"))
        palette.setColor(role.Highlight, QColor("#2d7fb8"))
        palette.setColor(role.HighlightedText, QColor("#ffffff"))
        return palette
    ground, text, chosen, upon, disabled = {
        "contrast": ("#000000", "#ffffff", "#1aebff", "#000000", "#3ff23f"),
        "contrast-light": ("#ffffff", "#000000", "#37006e", "#ffffff", "#600000"),
    }[name]
    palette = QPalette()
    for each in (role.Window, role.Base, role.AlternateBase, role.Button, role.ToolTipBase):
        palette.setColor(each, QColor(ground))
    for each in (role.WindowText, role.Text, role.ButtonText, role.BrightText, role.ToolTipText):
        palette.setColor(each, QColor(text))
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(disabled))
    palette.setColor(role.Highlight, QColor(chosen))
    palette.setColor(role.HighlightedText, QColor(upon))
    return palette
