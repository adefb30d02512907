"""No hint proposes to change what the organisation has fixed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from amlwizard.core.catalogue import LANGUAGES, WINDOW, _texts, code_texts, error_texts, message_keys, placeholders
from amlwizard.core.errors import AmlError
from amlwizard.core.locked_hints import note_locks
from amlwizard.core.organisation import Organisation

FILE = Path("/etc/xdg/amlwizard/settings.json")
WORDS = {
    "proxy": "--proxy",
    "indexUrl": "--index-url",
    "extraIndexUrls": "--extra-index-url",
    "caFile": "--ca-file",
    "pythonMirror": "UV_PYTHON_INSTALL_MIRROR",
    "pythonDownloadsJson": "--python-downloads-json",
}
CODES = sorted(key.removesuffix(".hint") for key in message_keys() if key.endswith(".hint"))
NO_FAILURES = {"AML_BUNDLE_CREATED"}


def plain_hint(code: str) -> str:
    return code_texts(code, {})[1]


@pytest.mark.parametrize(("key", "word"), WORDS.items())
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hint_names_the_organisation_in_place_of_a_locked_option(key: str, word: str, language: str) -> None:
    named = re.compile(rf"{word}(?![\w-])")
    proposing = [code for code in CODES if named.search(plain_hint(code)) and code not in NO_FAILURES]
    assert proposing
    for code in proposing:
        error = AmlError(code, **dict.fromkeys(placeholders(f"{code}.hint"), "x"))
        assert named.search(error_texts(error, language)[1]), code
        note_locks(error, Organisation(FILE, frozenset({key, "root"})))
        hint = error_texts(error, language)[1]
        assert not named.search(hint), code
        assert key in hint, code
        assert str(FILE) in hint, code


def test_a_hint_declares_each_setting_whose_option_it_names_and_no_other_kind() -> None:
    for code in CODES:
        declared, hint = set(_texts()[f"{code}.hint"].get("proposes", ())), plain_hint(code)
        named = {key for key, word in WORDS.items() if re.search(rf"{word}(?![\w-])", hint)}
        assert code in NO_FAILURES or named <= declared <= WORDS.keys(), code
    assert not [key for key, words in _texts().items() if "proposes" in words and not key.endswith(".hint")]


@pytest.mark.parametrize("code", ["AML_VENV_FOREIGN", "AML_DISK_FAULT", "AML_NET_WRITE", "AML_PERMISSION"])
def test_a_locked_index_leaves_the_choice_of_a_folder_alone(code: str) -> None:
    error = AmlError(code, **dict.fromkeys(placeholders(f"{code}.hint"), "x"))
    before = error_texts(error)
    note_locks(error, Organisation(FILE, frozenset({"indexUrl"})))
    assert error_texts(error) == before


def test_a_hint_with_a_text_for_it_keeps_that_when_it_is_locked() -> None:
    told = {"locked": ("proxy",), "locked_in": str(FILE)}
    assert "amlwizard diagnose" in code_texts("AML_PROXY_UNREACHABLE", told)[1]
    assert "Copy for IT" in code_texts("AML_PROXY_UNREACHABLE", told, "en", WINDOW)[1]


def test_a_locked_index_is_not_to_be_chosen_anew() -> None:
    proposal = re.compile(r"another index|index address|address of the index")
    for code in CODES:
        hint = code_texts(code, {"locked": ("indexUrl",), "locked_in": str(FILE)})[1]
        assert not proposal.search(hint), code


def test_other_locks_leave_a_hint_as_it_is() -> None:
    error = AmlError("AML_PROXY_UNREACHABLE", proxy="http://127.0.0.1:9", host="x", cause="refused")
    before = error_texts(error)
    note_locks(error, Organisation(FILE, frozenset({"caFile"})))
    assert error_texts(error) == before
    note_locks(error, None)
    assert error_texts(error) == before
