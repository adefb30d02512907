"""No hint proposes to change what the organisation has fixed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from amlwizard.core.catalogue import LANGUAGES, WINDOW, _texts, code_texts, error_texts, message_keys, placeholders, text
from amlwizard.core.errors import AmlError
from amlwizard.core.locked_hints import note_locks
from amlwizard.core.organisation import Organisation
from amlwizard.core.settings_files import LIST_KEYS, TEXT_KEYS

FILE = Path("/etc/xdg/amlwizard/settings.json")
WORDS = {
    "proxy": ("--proxy",),
    "indexUrl": ("--index-url",),
    "extraIndexUrls": ("--extra-index-url",),
    "indexStrategy": ("--index-strategy",),
    "findLinks": ("--find-links",),
    "caFile": ("--ca-file",),
    "pythonMirror": ("UV_PYTHON_INSTALL_MIRROR",),
    "pythonDownloadsJson": ("--python-downloads-json",),
    "python": ("--python", "AML_PYTHON_BIN"),
    "pythonVersion": ("--python", "AML_UV_PYTHON"),
    "uv": ("--uv", "AML_UV_BIN"),
    "uvMethod": ("--uv-method",),
    "accelerator": ("--accelerator",),
    "root": ("--root", "AML_ROOT"),
    "kit": ("AML_PYHOME", "amlkit.py"),
}
"""The settings that can be locked, and how a hint names them."""
KEYS = (TEXT_KEYS | LIST_KEYS) - {"language"}
"""All of them but the language, which no hint proposes."""
PROSE = {
    "python": r"(another|other|choose a|name a) (Python|interpreter)|interpreter that is installed",
    "root": r"(another|a real|choose a|the right) (folder|workspace|disk)",
    "indexUrl": r"another index|index address|(address|mirror) of the index|index that",
    "uvMethod": r"way to get uv",
    "proxy": r"set the proxy|proxy('s)? address|local proxy|proxy may be needed|a proxy whose",
    "caFile": r"certificate file|PEM form",
}
"""Words of English that propose to change a setting, and which."""
OTHERS = {"root": ("AML_JOB_", "AML_DIAGNOSE", "AML_SHARE_", "AML_BUNDLE_"), "python": ("AML_BUNDLE_NO_WHEELS",)}
"""What is about other folders, or about the Python of a bundle, which nobody locks."""
CODES = sorted(key.removesuffix(".hint") for key in message_keys() if key.endswith(".hint"))
NO_FAILURES = {"AML_BUNDLE_CREATED", "AML_SETTING_LOCKED"}


def plain_hint(code: str) -> str:
    return code_texts(code, {})[1]


def names(key: str, hint: str) -> bool:
    """Tell whether a hint names an option or a variable of a setting."""
    return any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", hint) for word in WORDS[key])


@pytest.mark.parametrize("key", WORDS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hint_names_the_organisation_in_place_of_a_locked_option(key: str, language: str) -> None:
    proposing = [code for code in CODES if names(key, plain_hint(code)) and code not in NO_FAILURES]
    assert proposing
    for code in proposing:
        error = AmlError(code, **dict.fromkeys(placeholders(f"{code}.hint"), "x"))
        assert names(key, error_texts(error, language)[1]), code
        note_locks(error, Organisation(FILE, frozenset({key, "language"})))
        hint = error_texts(error, language)[1]
        assert not names(key, hint), code
        assert key in hint, code
        assert str(FILE) in hint, code


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("front", ["", WINDOW])
def test_nothing_locked_is_proposed_by_what_remains_of_a_hint(language: str, front: str) -> None:
    told = {"locked": tuple(sorted(KEYS)), "locked_in": str(FILE)}
    for code in CODES:
        hint = code_texts(code, told, language, front)[1]
        assert code in NO_FAILURES or not any(names(key, hint) for key in WORDS), code


def test_a_hint_declares_each_setting_whose_option_it_names_and_no_other_kind() -> None:
    for key, words in _texts().items():
        if not key.endswith(".hint") and not key.startswith("locked."):
            assert "proposes" not in words, key
            continue
        hint, declared = text(key, **dict.fromkeys(placeholders(key), "?")), set(words.get("proposes", ()))
        named = {setting for setting in WORDS if names(setting, hint)}
        assert key.removesuffix(".hint") in NO_FAILURES or named <= declared <= KEYS, key


@pytest.mark.parametrize("key", PROSE)
def test_who_is_to_change_a_setting_is_told_which_in_the_terminal(key: str) -> None:
    exempt = (*NO_FAILURES, *OTHERS.get(key, ()))
    found = [
        code for code in CODES if not code.startswith(exempt) and re.search(PROSE[key], plain_hint(code), re.IGNORECASE)
    ]
    assert found
    assert [code for code in found if key not in _texts()[f"{code}.hint"].get("proposes", ())] == []
    nameless = [code for code in found if not names(key, plain_hint(code))]
    assert [code for code in nameless if "place" not in placeholders(f"{code}.message")] == []


@pytest.mark.parametrize(("locked", "told"), [("indexUrl", "--python"), ("python", "--index-url")])
def test_what_is_not_locked_is_still_proposed(locked: str, told: str) -> None:
    hint = code_texts("AML_PROFILE_NOT_ON_INDEX", {"locked": (locked,), "locked_in": str(FILE)})[1]
    assert told in hint
    assert "requirements file of your own" in hint


@pytest.mark.parametrize("code", ["AML_NET_PROXY_AUTH", "AML_INDEX_PROXY_AUTH", "AML_NET_PROXY_NO_BASIC"])
def test_no_other_proxy_is_proposed_where_a_locked_one_wants_a_sign_in(code: str) -> None:
    error = AmlError(code, host="files.example.org", file="x", kinds="NTLM")
    assert "local proxy" in error_texts(error)[1]
    note_locks(error, Organisation(FILE, frozenset({"proxy"})))
    hint = error_texts(error)[1]
    assert "local proxy" not in hint
    assert "ask IT to let files.example.org through" in hint.replace("Ask", "ask")
    assert f"Set by your organisation ({FILE}): proxy." in hint


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
