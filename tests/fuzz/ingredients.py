"""What inputs are made of: values that are apt to break something, and ways to damage what was right."""

from __future__ import annotations

import codecs
import copy
import json
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

NASTY_TEXTS: Final = (
    *("", " ", "\0", "a\0b", "\n", "\r", "\t", "..", "../..", "../../home/keep.txt", ".", "/", "//", "~", "~nobody", "~/x"),
    *("/dev/zero", "/dev/null", "/etc/passwd", "C:\\Users\\x", "\\\\host\\share", "CON", "a:b", "-", "--", "-r", "#", ";"),
    *("\ud800", "\udcff", "é", "环境", "\u202e", "\u2028", "\x1b[31m", "x" * 5000, "/x" * 3000, "{", "}", "{0}", "{name}"),
    *("{0.__class__}", "%s", "${HOME}", "${NOT_SET}", "file:///dev/zero", "file:", "file://host/x", "http://", "http://["),
    *(
        "http://[::1",
        "https://u:p@h:99999/x",
        "https://u:p@h:port/",
        "https://[v1.x]/",
        "http://a\u2100b/",
        "git+ssh://git@h/x",
    ),
    *("1e999", "NaN", "Infinity", "1" * 5000, "٣.١", "1.0.0", "3.11", "3.11.9", "3.999999999999", ">=3.8", "==*", "true"),
)
"""Texts that something may stumble over, each in its way."""
NASTY_NUMBERS: Final = (
    0,
    -1,
    1,
    2,
    2**31,
    2**63,
    -(2**63),
    10**400,
    0.5,
    -0.0,
    1e308,
    float("inf"),
    float("-inf"),
    float("nan"),
)
_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_ENCODINGS: Final = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gbk", "latin-1", "cp1252")

texts = st.one_of(st.sampled_from(NASTY_TEXTS), st.text(max_size=12))
variables = texts.filter(lambda text: "\0" not in text)
"""What a variable of the environment can hold: no NUL, but bytes that are no text."""
scalars = st.one_of(st.none(), st.booleans(), st.sampled_from(NASTY_NUMBERS), st.integers(-5, 5), texts)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)


@st.composite
def mutated(draw: st.DrawFn, whole: st.SearchStrategy[bytes], tokens: Sequence[bytes] = ()) -> bytes:
    """Return bytes with up to four accidents: something lost, doubled, put in or exchanged, or the end cut off."""
    data = draw(whole)
    pieces = st.one_of(
        st.sampled_from((b"\0", b"\n", b"\r\n", b"\xff", b"\xed\xa0\x80", *_MARKS, *tokens)), st.binary(max_size=6)
    )
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2, 4)))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from((1, 1, 2, 8, 40, 200)))
        match draw(st.integers(0, 4)):
            case 0:
                data = data[:at] + draw(pieces) + data[at:]
            case 1:
                data = data[:at] + data[at + length :]
            case 2:
                data = data[:at] + draw(pieces) + data[at + length :]
            case 3:
                data = data[:at]
            case _:
                times = draw(st.sampled_from((2, 3, 50, 2000)))
                data = data[:at] + data[at : at + length] * times + data[at + length :]
    return data


@st.composite
def encoded(draw: st.DrawFn, text: st.SearchStrategy[str]) -> bytes:
    """Return a text in some encoding, most often the right one."""
    words = draw(text)
    encoding = draw(st.sampled_from(("utf-8",) * 8 + _ENCODINGS))
    return words.encode(encoding, "replace")


def _paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(path for key, item in inner for path in _paths(item, (*here, key)))]


@st.composite
def damaged(draw: st.DrawFn, right: Sequence[Any], values: st.SearchStrategy[Any] = json_values) -> Any:
    """Return one of some right values, up to three things in it replaced, lost, renamed, or exchanged for one another."""
    value = copy.deepcopy(draw(st.sampled_from(right)))
    for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2, 3)))):
        paths = _paths(value)
        path = paths[draw(st.integers(0, len(paths) - 1))]
        if not path:
            if draw(st.integers(0, 9)) == 0:
                value = draw(values)
            continue
        holder = value
        for key in path[:-1]:
            holder = holder[key]
        key = path[-1]
        match draw(st.integers(0, 5)):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[draw(texts)] = holder.pop(key)
            case 2:
                other = paths[draw(st.integers(0, len(paths) - 1))]
                found = value
                for step in other:
                    found = found[step]
                holder[key] = copy.deepcopy(found)
            case _:
                holder[key] = draw(values)
    return value


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON, what JSON itself does not know included; lone surrogates stay as they are written there."""
    return json.dumps(value).encode()


_NO_RECORDS: Final = (
    *(b"", b"null", b"[]", b"{}", b"1", b'""', b"{", b"\xff\xfe{", b'\xef\xbb\xbf{"format": 1}', b"[" * 100_000),
    *(b'{"format": 1' + b', "a": 1' * 2, b'{"a":' * 50_000, b'{"format": ' + b"1" * 5000 + b"}", b'{"format": 1e400}'),
)


def documents(right: Sequence[Any]) -> st.SearchStrategy[bytes]:
    """Return JSON files: right ones, damaged ones, and what is none."""
    whole = damaged(right).map(json_bytes)
    broken = mutated(whole, (b"{", b"}", b"[", b'"', b"\\u0000", b"\\ud800", b"1e999"))
    return st.one_of(whole, whole, broken, st.sampled_from(_NO_RECORDS))
