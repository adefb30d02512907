"""Pages of a package index, and what is none."""

from __future__ import annotations

import json

import pytest

from amlwizard.core.simple_index import IndexFile, parse_project_page

URL = "https://index.example.org/simple/tinya/"


def test_both_forms_of_a_page_tell_the_same() -> None:
    anchor = '<a href="../../packages/tinya-1.0-py3-none-any.whl#sha256={hash}" data-yanked="">tinya-1.0</a>'
    page = f"<!DOCTYPE html><html><body>{anchor.format(hash='a' * 64)}</body></html>"
    (read,) = parse_project_page(page.encode(), URL)
    address = "https://index.example.org/packages/tinya-1.0-py3-none-any.whl"
    assert read == IndexFile("tinya-1.0-py3-none-any.whl", address, "a" * 64, None, yanked=True)
    entry = {"filename": read.filename, "url": address, "hashes": {"sha256": "a" * 64}, "size": 5, "yanked": "broken"}
    (described,) = parse_project_page(json.dumps({"files": [entry]}).encode(), URL)
    assert described == IndexFile(read.filename, address, "a" * 64, 5, yanked=True)


def test_a_project_without_files_is_one() -> None:
    assert parse_project_page(b"<!DOCTYPE html><html><body><h1>Links for tinya</h1></body></html>", URL) == []
    assert parse_project_page(b'{"files": []}', URL) == []


def test_a_page_with_files_may_have_a_form_to_search_with() -> None:
    page = b'<html><form action="/search"></form><a href="tinya-1.0.tar.gz">tinya-1.0.tar.gz</a></html>'
    assert [file.filename for file in parse_project_page(page, URL)] == ["tinya-1.0.tar.gz"]


@pytest.mark.parametrize(
    "body",
    [
        b"<html><form action='/login'><input name=user></form></html>",
        b"<html><body><a href='/forgot'>Forgot?</a><form></form></body></html>",
        b"<html><head><script src='sso.js'></script></head></html>",
        b"Please sign in.",
        b"",
        b'{"error": "unauthorized"}',
        b"{",
    ],
)
def test_b49_a_page_to_sign_in_at_is_not_a_project_without_files(body: bytes) -> None:
    with pytest.raises(ValueError):
        parse_project_page(body, URL)


def test_entries_that_nothing_can_be_made_of_are_passed_over() -> None:
    good = {"filename": "tinya-1.0.tar.gz", "url": "tinya-1.0.tar.gz", "hashes": {"sha256": 5}, "size": "5"}
    broken = [None, 5, {}, {"filename": "x"}, {"filename": 5, "url": "x"}, {"filename": "x", "url": "https://[::1/x"}]
    (read,) = parse_project_page(json.dumps({"files": [*broken, good]}).encode(), URL)
    assert read == IndexFile("tinya-1.0.tar.gz", f"{URL}tinya-1.0.tar.gz", None, None, yanked=False)
    page = b'<html><a href="https://[::1/x.whl">x</a><a href>y</a><a href="tinya-1.0.tar.gz">z</a></html>'
    assert [file.filename for file in parse_project_page(page, URL)] == ["tinya-1.0.tar.gz"]


def test_a_page_that_is_nested_too_deep_is_none() -> None:
    with pytest.raises(ValueError):
        parse_project_page(b'{"files": ' + b"[" * 100_000, URL)


@pytest.mark.parametrize("declaration", ["<![ x", "<![foo bar[", "<![9[", "<![\0CDATA[<![CDATA[<"])
def test_a_page_with_a_declaration_that_is_none_is_no_page_of_an_index(declaration: str) -> None:
    with pytest.raises(ValueError):
        parse_project_page(f'<html>{declaration} <a href="tinya-1.0.tar.gz">z</a></html>'.encode(), URL)
