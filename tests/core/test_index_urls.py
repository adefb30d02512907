"""Addresses: what is accepted, and where credentials go."""

from __future__ import annotations

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.errors import RefusedError
from amlwizard.core.index_urls import split_url


@pytest.mark.parametrize(
    ("url", "clean", "origin"),
    [
        ("https://index.example.org/simple", "https://index.example.org/simple", "https://index.example.org"),
        ("HTTPS://Index.Example.org:443/simple/", "https://Index.Example.org:443/simple/", "https://index.example.org"),
        ("http://127.0.0.1:8080/simple", "http://127.0.0.1:8080/simple", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/simple", "http://[::1]:8080/simple", "http://[::1]:8080"),
        ("file:///srv/simple", "file:///srv/simple", "file://"),
    ],
)
def test_good_addresses(url: str, clean: str, origin: str) -> None:
    split = split_url(url, "--index-url")
    assert (split.clean, split.origin, split.login) == (clean, origin, None)


def test_credentials_are_taken_out_and_decoded() -> None:
    split = split_url("https://mei:p%40ss%2Fword@index.example.org/simple", "UV_DEFAULT_INDEX")
    assert (split.clean, split.login) == ("https://index.example.org/simple", ("mei", "p@ss/word"))
    assert split_url("https://token@index.example.org/", "x").login == ("token", "")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "index.example.org/simple",
        "ftp://index.example.org/simple",
        "https://",
        "https:///simple",
        "https://index.example.org:port/simple",
        "https://index.example.org/with space",
        "https://index.example.org/line\nbreak",
        "https://index.example.org/nul\0",
        "https://[::1/simple",
        "https:\\\\index.example.org\\simple",
        "file:simple",
        "javascript:alert(1)",
    ],
)
def test_bad_addresses(url: str) -> None:
    with pytest.raises(RefusedError) as caught:
        split_url(url, "--index-url")
    assert caught.value.code == "AML_INDEX_URL_INVALID"
    for language in LANGUAGES:
        assert all(words.isprintable() and words for words in error_texts(caught.value, language))


@pytest.mark.parametrize(
    "url", ["ftp://mei:secret@index.example.org", "mei:secret@index.example.org", "https://mei:sec ret@x"]
)
def test_a_refusal_never_repeats_a_secret(url: str) -> None:
    with pytest.raises(RefusedError) as caught:
        split_url(url, "AML_INDEX_URL")
    assert "sec" not in str(caught.value)
