"""What screen readers are told beside what has the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Have a text spoken: when there is a pause, or at once where it is ``urgent``. What nobody sees is not spoken."""
    if not text or not widget.isVisible():
        return
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent  # not before the window is painted

    politeness = QAccessible.AnnouncementPoliteness
    event = QAccessibleAnnouncementEvent(widget, text)
    event.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
    QAccessible.updateAccessibility(event)
