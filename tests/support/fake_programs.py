"""Opens files in the place of the system's own programs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

if TYPE_CHECKING:
    from collections.abc import Iterator


class _FakePrograms(QObject):
    """Keeps what was to be opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open_file(self, url: QUrl) -> None:
        self.opened.append(url.toLocalFile())


@contextmanager
def fake_programs() -> Iterator[list[str]]:
    """Give the paths of the files that were opened."""
    programs = _FakePrograms()
    QDesktopServices.setUrlHandler("file", programs, "open_file")
    try:
        yield programs.opened
    finally:
        QDesktopServices.unsetUrlHandler("file")
