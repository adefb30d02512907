"""Secrets go, ordinary output stays."""

from __future__ import annotations

import pytest

from amlwizard.core.redact import redact

SECRET = "s3cr3tTOK9xYz"


@pytest.mark.parametrize(
    "text",
    [
        f"https://bob:{SECRET}@index.example.org/simple",
        f"https://{SECRET}@index.example.org/simple",
        f"git+https://x:{SECRET}@git.example.org/a/b.git@main",
        f"https://bob:p@{SECRET}@index.example.org/simple",
        f"Authorization: Basic {SECRET}==",
        f"authorization: Bearer {SECRET}",
        f"'Authorization': 'Basic {SECRET}'",
        f"Proxy-Authorization: Basic {SECRET}",
        f"sent Bearer {SECRET} to the index",
        f"token pypi-AgEIcHlwaS5vcmcC{SECRET}",
        f"ghp_abcdefgh{SECRET}12345",
        f"github_pat_11AAAA_{SECRET}1234",
        f"glpat-{SECRET}-abcdef",
        f"GET https://files.example.org/a.whl?token={SECRET}&x=1",
        f"GET https://files.example.org/a.whl?x=1&X-Amz-Signature={SECRET}",
        f"GET https://files.example.org/a.whl?sig={SECRET}",
        *(f"GET https://files.example.org/a.whl?{name}={SECRET}" for name in ("key", "auth", "jwt", "code", "x=1&p")),
        f"GET https://files.example.org/a.whl?{SECRET}",
        f"GET /simple/a/?key={SECRET}&x=1 HTTP/1.1",
        f"index.example.org/simple?code={SECRET}",
        f"password={SECRET}",
        f"UV_INDEX_AML_PASSWORD={SECRET}",
        f"PIP_PASSWORD='{SECRET}'",
        f"API_KEY={SECRET}",
        f'{{"password": "{SECRET}"}}',
        f"{{'access_token': '{SECRET}'}}",
    ],
)
def test_known_forms_are_hidden(text: str) -> None:
    assert SECRET not in redact(text)


def test_only_the_values_of_a_query_are_hidden() -> None:
    line = "`https://files.example.org/a.zip?ref=main&key=x#egg=a` (see 'https://index.example.org/b?c')."
    assert (
        redact(line)
        == "`https://files.example.org/a.zip?ref=****&key=****#egg=a` (see 'https://index.example.org/b?****')."
    )


@pytest.mark.parametrize("text", ["p@ss/w:rd", "a b+c%d", "密码很长"])
def test_given_secrets_are_hidden_in_every_encoding(text: str) -> None:
    from urllib.parse import quote, quote_plus

    for form in (text, quote(text), quote(text, safe=""), quote_plus(text)):
        assert form not in redact(f"before {form} after", {text})


def test_short_secrets_count_as_whole_words() -> None:
    assert redact("pw is abc, not abcde", {"abc"}) == "pw is ****, not abcde"
    assert redact("nothing", {""}) == "nothing"


@pytest.mark.parametrize(
    "line",
    [
        "Resolved 106 packages in 1.21s",
        "Downloading scipy (34.1MiB)",
        " + tokenizers==0.21.0",
        "Collecting pypi-simple==1.6.1",
        "Collecting keyring-pass-secret==1.0",
        "  Using cached https://files.example.org/packages/ab/cd/tinya-2.0-py3-none-any.whl (12 kB)",
        "tinya @ https://files.example.org/tinya-2.0-py3-none-any.whl",
        "tinyb @ git+https://git.example.org/a/b.git@v1.0",
        "error: Failed to fetch: `https://index.example.org/simple/tinya/`",
        "password-strength==0.0.3",
        "token==1.2.3",
        "secret==1.0 --hash=sha256:0123456789abcdef",
        "Because only tokenize-rt==6.0 is available and you require tokenize-rt>=7",
        "The bearer of bad news",
        "warning: no credentials found for index.example.org",
        '  File "/home/mei@corp/aml/.venv/lib/secrets.py", line 3',
        "authorization failed for index.example.org",
        "mail maintainer@example.org",
    ],
)
def test_ordinary_lines_stay(line: str) -> None:
    assert redact(line) == line


@pytest.mark.parametrize(
    "piece", ["secret_pypi-", "token", "-", "authorization", "://a@", "bearer ", "password:", "://a?", "?", "://a "]
)
def test_a_long_line_is_read_in_time_and_to_its_end(piece: str) -> None:
    assert SECRET not in redact(f"{piece * 20_000} {'x-' * 200}_token={SECRET}")
