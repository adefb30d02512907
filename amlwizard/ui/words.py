"""The window's words: one language at a time, switchable while the window is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from amlwizard.core import catalogue
from amlwizard.ui.mnemonics import marked

if TYPE_CHECKING:
    from collections.abc import Callable


class Words(QObject):
    """Gives texts of the catalogue in the chosen language, and renews bound ones when the language changes.

    Signals:
        changed: the language is another one; bound texts have been renewed, composed ones have to be.
    """

    changed = Signal()

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language
        self._bound: list[tuple[Callable[[str], object], str]] = []

    def __call__(self, key: str, **arguments: object) -> str:
        """Return a text of the catalogue."""
        return catalogue.window_text(key, self.language, arguments)

    def label(self, key: str, **arguments: object) -> str:
        """Return the text of a button, or of the label of a field, with the letter that goes to it."""
        return marked(self(key, **arguments), key)

    def bind_label(self, setter: Callable[[str], object], key: str) -> None:
        """Set such a text now and again whenever the language changes."""
        self.bind(lambda text: setter(marked(text, key)), key)

    def bind(self, setter: Callable[[str], object], key: str) -> None:
        """Set a text now and again whenever the language changes."""
        self._bound.append((setter, key))
        setter(self(key))

    def known(self, key: str, arguments: dict[str, object], fallback: str) -> str:
        """Return a text that another part named, or the fallback where the catalogue cannot make it."""
        if not catalogue.has_text(key):
            return fallback
        try:
            return self(key, **arguments)
        except (KeyError, IndexError):
            return fallback

    def set_language(self, language: str) -> None:
        """Change the language of every text."""
        if language == self.language:
            return
        self.language = language
        for setter, key in self._bound:
            setter(self(key))
        self.changed.emit()
