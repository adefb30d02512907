"""The one catalogue of user-facing words, in English and Simplified Chinese.

Each file in ``resources/messages`` is an object of ``key: {"en": ..., "zh_CN": ...}`` with ``{name}`` placeholders;
``{=name}`` stands for the text ``included.name``. A text whose words are of the command line may have another one for the
window, ``KEY.window``, which names the window's controls instead. ``proposes`` are the settings that a hint would have the
user change.
"""

from __future__ import annotations

import json
import locale
import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePath
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.plain_text import plain_text
from amlwizard.core.urls import mask_queries
from amlwizard.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.errors import AmlError

LANGUAGES: Final = ("en", "zh_CN")
WINDOW: Final = ".window"
"""The front end whose words are of the window."""
_LONGEST_LINE: Final = 1000
"""In characters; longer than any path or list that is told."""


@dataclass(frozen=True)
class Phrase:
    """A text of the catalogue as the argument of another: it is put into words together with the outer one."""

    key: str
    arguments: dict[str, object] = field(default_factory=dict)


class ToolText(str):
    """What a tool or the system said in its own words, as the argument of a text; they are English and stay so.

    In another language they stand on a line of their own, as a quotation. ``tool`` is empty for the system.
    """

    __slots__ = ("tool",)
    tool: str

    def __new__(cls, words: str, tool: str = "uv") -> ToolText:
        """Return the words with the name of who said them."""
        said = super().__new__(cls, words)
        said.tool = tool
        return said

    def phrase(self) -> Phrase:
        """Return the quotation."""
        key = "said_by_tool" if self.tool else "said_by_system"
        return Phrase(f"wording.{key}", {"tool": self.tool, "words": str(self)})


class _Filler(Formatter):
    """Fills placeholders; ``{packages:package|packages}`` is a number with the noun that goes with it."""

    def format_field(self, value: object, format_spec: str) -> str:
        one, bar, many = format_spec.partition("|")
        if not bar:
            return str(super().format_field(value, format_spec))
        return f"{value} {one if str(value) == '1' else many}"


@cache
def _texts() -> dict[str, dict[str, Any]]:
    texts: dict[str, dict[str, Any]] = {}
    for file in sorted(resource("messages").glob("*.json")):
        for key, translations in json.loads(file.read_text(encoding="utf-8")).items():
            if key in texts:
                raise ValueError(f"message {key} stands twice in the catalogue, the second time in {file.name}")
            texts[key] = translations
    return texts


def message_keys() -> frozenset[str]:
    """Return every key of the catalogue."""
    return frozenset(_texts())


def has_text(key: str) -> bool:
    """Tell whether the catalogue has a text for the key."""
    return key in _texts()


def text(key: str, language: str = "en", **arguments: object) -> str:
    """Return a text in one of ``LANGUAGES`` with its placeholders filled.

    Raises:
        KeyError: the key or one of its arguments is missing, which is a fault of the program.
    """
    return _text(key, language, arguments)


def window_text(key: str, language: str, arguments: Mapping[str, object]) -> str:
    """Return a text as the window shows it.

    Raises:
        KeyError: as ``text``.
    """
    return _text(key, language, arguments, WINDOW)


def _text(key: str, language: str, arguments: Mapping[str, object], front: str = "") -> str:
    translations = _texts()[_key_for(key, front)]
    template: str = translations.get(language, translations["en"])
    words = {name: _in_words(value, language, front) for name, value in arguments.items()}
    for name in _names(template):
        if name.startswith("="):
            words[name] = _text(f"included.{name[1:]}", language, {}, front)
    return _Filler().vformat(template, (), words)


def _key_for(key: str, front: str) -> str:
    return f"{key}{front}" if has_text(f"{key}{front}") else key


def _in_words(value: object, language: str, front: str) -> object:
    if isinstance(value, ToolText) and value:
        value = value.phrase()
    return _text(value.key, language, value.arguments, front) if isinstance(value, Phrase) else _in_line(value)


def cut_lines(told: str) -> str:
    """Return a text with its longest lines cut, as the user's input or a tool's output may hold lines of any length."""
    if len(told) <= _LONGEST_LINE:
        return told
    lines = told.split("\n")
    return "\n".join(line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…" for line in lines)


def _in_line(value: object) -> object:
    """Return a value as it may stand in a sentence: the name of a file may hold anything, line breaks included.

    The query of an address may hold a key, and what an address is for is told by the rest of it.
    """
    return mask_queries(cut_lines(plain_text(str(value)))) if isinstance(value, str | PurePath) else value


def error_texts(error: AmlError, language: str = "en") -> tuple[str, str]:
    """Return the message and the hint of an error (the hint may be empty)."""
    return code_texts(error.code, error.arguments, language)


def message_phrase(error: AmlError) -> Phrase:
    """Return the message of an error as the argument of another text."""
    key = f"{error.code}.message"
    return Phrase(key, dict.fromkeys(placeholders(key), "?") | error.arguments)


def code_texts(code: str, arguments: Mapping[str, object], language: str = "en", front: str = "") -> tuple[str, str]:
    """Return the message and the hint that belong to a code, for the command line or the ``WINDOW``.

    A value that nobody knows is shown as a question mark, and an unknown code as it is, as an error must never end in
    another one.
    """

    def words(key: str) -> str:
        return _text(key, language, _with_unknown(key, arguments, front), front) if has_text(key) else ""

    further = _further_lines(arguments, language, front)
    message = "\n".join([words(f"{code}.message") or code, *further])
    return message, _locked_hint(code, arguments, language, front) or words(f"{code}.hint")


def _with_unknown(key: str, arguments: Mapping[str, object], front: str) -> dict[str, object]:
    return {**dict.fromkeys(placeholders(_key_for(key, front)), "?"), **arguments}


def _locked_hint(code: str, arguments: Mapping[str, object], language: str, front: str) -> str:
    """Return the hint of an error where its own proposes what the organisation has fixed, else nothing.

    ``locked.CODE``, and ``.2`` and ``.3`` after it, say what else can be done: the first without anything fixed counts.
    """
    hint, locked = _texts().get(f"{code}.hint"), arguments.get("locked")
    if hint is None or not isinstance(locked, tuple):
        return ""
    fixed = [name for name in locked if name in hint.get("proposes", ())]
    if not fixed:
        return ""
    others = [f"locked.{code}{number}" for number in ("", ".2", ".3") if has_text(f"locked.{code}{number}")]
    other = next((key for key in others if not {*locked} & {*_texts()[key].get("proposes", ())}), None)
    told = {**arguments, "keys": ", ".join(fixed), "file": arguments.get("locked_in", "?")}
    if other is not None:
        told["rest"] = Phrase(other, _with_unknown(other, arguments, front))
    general = "locked.hint_for_it" if "{=for_it}" in hint["en"] else "locked.hint"
    key = general if other is None else "locked.rest"
    return _text(key, language, _with_unknown(key, told, front), front)


def _further_lines(arguments: Mapping[str, object], language: str, front: str) -> list[str]:
    """Return what an error about a line says of the other lines that were refused with it (``core.refused_lines``)."""
    told = [message for message, _ in refused_lines(arguments, language, front)][1:]
    further = arguments.get("further")
    return [*told, text("requirements.further", language, number=further)] if told and further else told


def refused_lines(arguments: Mapping[str, object], language: str, front: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Return the sentence, the code and the arguments of each line that was refused, none where it was no more than one."""
    lines = arguments.get("lines")
    each: tuple[dict[str, Any], ...] = lines if isinstance(lines, tuple) else ()
    return [(code_texts(line["code"], line, language, front)[0], line) for line in each]


def placeholders(key: str) -> frozenset[str]:
    """Return the names of the values that a text needs."""
    return frozenset(name for name in _names(_texts()[key]["en"]) if not name.startswith("="))


def _names(template: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(template) if name]


def system_language() -> str:
    """Return the language of ``LANGUAGES`` that fits the user's system."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(variable)
        if value:
            return _supported(value)
    return _supported(locale.getlocale()[0] or "en")


def _supported(name: str) -> str:
    return "zh_CN" if name.lower().startswith(("zh", "chinese")) else "en"
