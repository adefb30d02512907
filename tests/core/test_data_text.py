"""JSON and TOML of anybody: what is wrong with a text is one kind of error, whatever it is."""

from __future__ import annotations

import pytest

from amlwizard.core.data_text import parse_json, parse_toml


def test_what_is_right_is_read() -> None:
    assert parse_json(b'{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
    assert parse_json('{"a": 1, "b": 2}', len) == 2
    assert parse_toml("a" * 300_000 + " = '" + "b" * 300_000 + "'") is not None
    deep = ".".join("a" * 40)
    assert parse_toml(f'[{deep}]\nurl = "https://a.b.c.example.org/{deep}"\n"x.y" . z = 1') is not None


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a":' * 100_000, "1" * 5000, "nil"])
def test_json_that_is_none_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a = " + "[" * 100_000,
        "a = {" * 50_000,
        "a = " + "1" * 5000,
        "a." * 100_000 + "b = 1",  # read as it is, it would take gigabytes
        "[" + "a . " * 100_000 + "b]",
        '"a".' * 100_000 + "b = 1",
        "x = {" + "'a'.b." * 100_000 + "c = 1}",
    ],
)
def test_toml_that_is_none_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_toml(text)
