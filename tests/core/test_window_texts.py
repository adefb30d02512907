"""What the window says names its own controls, and nothing that is typed in a terminal."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

import amlwizard.core
from amlwizard.cli_options import COMMANDS
from amlwizard.core.catalogue import LANGUAGES, Phrase, message_keys, placeholders, text, window_text

_OF_THE_COMMAND_LINE: Final = (
    *("cli.", "diagnose.", "action.", "store.title.", "added.found", "added.kept_before"),
    *("AML_USAGE_", "AML_JOB_", "AML_DIAGNOSE_", "AML_NO_GUI", "AML_NO_SCREEN", "AML_NO_QT", "AML_QT_", "AML_SCREEN_"),
    *("AML_BUNDLE_SBOM_", "AML_BUNDLE_PLATFORM_UNKNOWN", "AML_BUNDLE_NOTHING", "AML_BUNDLE_REFRESH"),
    *("AML_BUNDLE_SHA256_ALONE", "AML_ROOT_NOT_NAMED", "included.", "window.other", "locked.AML_BUNDLE_NOTHING"),
)
"""Texts that no window shows: help and tables of the terminal, reports, and what is refused there alone."""
CORE: Final = Path(amlwizard.core.__file__).parent
_OPTIONS: Final = {option.name for options in COMMANDS.values() for option in options}
_COMMAND: Final = re.compile(rf"\bamlwizard ({'|'.join(COMMANDS)})\b(?!')")


def typed(told: str) -> list[str]:
    """Return the options and commands in a text; those of requirements files alone are none of ours."""
    return [*(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", told)) & _OPTIONS), *_COMMAND.findall(told)]


def filled(key: str) -> dict[str, object]:
    base = key.partition(".")[0]
    names = {
        name
        for part in ("message", "hint")
        if f"{base}.{part}" in message_keys()
        for name in placeholders(f"{base}.{part}")
    }
    return dict.fromkeys(names | placeholders(key), "x")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_of_the_window_names_an_option_or_a_command(language: str) -> None:
    shown = [key for key in message_keys() if not key.startswith(_OF_THE_COMMAND_LINE) and not key.endswith(".window")]
    wrong = {key: found for key in shown if (found := typed(window_text(key, language, filled(key))))}
    assert not wrong
    assert len(shown) > 500


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_of_the_windows_own_stand_only_where_those_of_the_command_line_do_not_fit(language: str) -> None:
    own = [key for key in message_keys() if key.endswith(".window")]
    for key in own:
        base = key.removesuffix(".window")
        assert typed(text(base, language, **filled(base))), key
        assert placeholders(key) <= set(filled(base)), key
    assert own


def finished_sentences() -> set[str]:
    """Return the keys of what core puts into words itself, so that it is the same for both front ends."""
    calls = (node for file in sorted(CORE.rglob("*.py")) for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    return {
        part.value
        for call in calls
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in {"text", "Finding"}
        for part in ast.walk(call.args[0])
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in message_keys()
    }


def test_what_core_puts_into_words_fits_both_front_ends() -> None:
    keys = finished_sentences()
    assert {"remark.cloud", "records.misplaced", "added.dropped"} <= keys
    assert not [key for key in keys if f"{key}.window" in message_keys() or typed(text(key, **filled(key)))]


def test_a_text_within_another_is_of_the_same_front_end() -> None:
    hint = Phrase("AML_NET_REFUSED.hint", {"host": "files.example.org"})
    assert "amlwizard diagnose" in text("window.sentences", "en", first=hint, second="", third="")
    told = window_text("window.sentences", "en", {"first": hint, "second": "", "third": ""})
    assert "ask IT to allow files.example.org" in told
    assert "Copy for IT" in told
    assert "amlwizard diagnose" not in told
