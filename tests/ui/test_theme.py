"""Colours that are seen in the styles of other systems, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QPalette

from amlwizard.ui.theme import PrimaryButton

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication


@pytest.fixture
def system_style(qapp: QApplication) -> Iterator[None]:
    """An application in the style of a system, which may paint its buttons in no palette's colour."""
    former = qapp.style().name()
    qapp.setStyle("Windows")
    yield
    qapp.setStyle(former)


@pytest.mark.usefixtures("system_style")
def test_the_primary_button_is_readable_whatever_the_system_paints() -> None:
    button = PrimaryButton("setupButton")
    button.setText("Set up")
    picture = button.grab().toImage()
    middle = picture.pixelColor(8, picture.height() // 2)  # beside the text
    text = button.palette().color(QPalette.ColorRole.ButtonText)
    assert abs(middle.lightness() - text.lightness()) > 80
