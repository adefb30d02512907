"""Credentials in addresses."""

from __future__ import annotations

import pytest

from amlwizard.core.urls import has_credentials, local_path, redact_urls, without_credentials


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://me:pw@index.example.org:8443/a?b#c", "https://index.example.org:8443/a?b#c"),
        ("https://token@index.example.org/a@1", "https://index.example.org/a@1"),
        ("https://me:p@ss@index.example.org/", "https://index.example.org/"),
        ("git+https://me:pw@git.example.org/x@v1#egg=x", "git+https://git.example.org/x@v1#egg=x"),
        ("git+ssh://git:pw@git.example.org/x", "git+ssh://git@git.example.org/x"),
        ("https://me:pw@[bad/x", "https://[bad/x"),
    ],
)
def test_credentials_are_taken_out(url: str, clean: str) -> None:
    assert has_credentials(url)
    assert without_credentials(url) == clean
    assert not has_credentials(clean)


@pytest.mark.parametrize(
    "url",
    [
        "https://index.example.org/a@1",
        "ssh://git@git.example.org/x",
        "git+ssh://git@git.example.org/x@v1",
        "./x@1",
        "a@b",
        "",
    ],
)
def test_addresses_without_credentials_stay_as_they_are(url: str) -> None:
    assert not has_credentials(url)
    assert without_credentials(url) == url


def test_redaction_of_texts() -> None:
    text = "tried https://me:pw@a.example.org/x and http://token@b.example.org, not c@d.example.org"
    assert redact_urls(text) == "tried https://***@a.example.org/x and http://***@b.example.org, not c@d.example.org"


@pytest.mark.posix
@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("file:///data/my%20files/a.whl", "/data/my files/a.whl"),
        ("file://localhost/data/a.whl#sha256=0", "/data/a.whl"),
        ("file://server/share/a.whl", "//server/share/a.whl"),
        ("file:a.whl", "a.whl"),
    ],
)
def test_an_address_of_a_file_names_its_path_and_a_share_its_host(url: str, path: str) -> None:
    assert str(local_path(url)) == path
