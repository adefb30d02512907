"""The line splitter: bytes in, decoded lines out."""

from __future__ import annotations

import random
import sys

import pytest

from amlwizard.process.lines import LineSplitter, fallback_encodings


def split(*chunks: bytes, encodings: tuple[str, ...] = ("gbk",), piece_bytes: int = 1024 * 1024) -> list[str]:
    splitter = LineSplitter(encodings, piece_bytes)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines + splitter.flush()


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\nb", ["a", "b"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"no end", ["no end"]),
        (b" 10%\r 50%\r100%\nnext\n", ["100%", "next"]),
        (b" 10%\r 50%\r", [" 50%"]),
        (b" 10%\r 50%\r\n", [" 50%"]),
        ("数据 😀\n".encode(), ["数据 😀"]),
        (b"one\r\ntwo\rthree\nfour", ["one", "three", "four"]),
    ],
)
def test_same_lines_for_every_way_of_cutting(data: bytes, lines: list[str]) -> None:
    assert split(data) == lines
    assert split(*(data[i : i + 1] for i in range(len(data)))) == lines
    generator = random.Random(7)
    for _ in range(50):
        cuts = sorted(generator.choices(range(len(data) + 1), k=3))
        chunks = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        assert split(*chunks) == lines, chunks


def test_b103_gbk_with_a_stray_byte_is_readable() -> None:
    line = "中文错误".encode("gbk") + b"\x9d\n"
    assert split(b"before\n" + line + "后\n".encode()) == ["before", "中文错误\ufffd", "后"]


def test_b103_each_line_is_decoded_by_itself() -> None:
    assert split("utf-8 中文\n".encode(), "gbk 中文\n".encode("gbk")) == ["utf-8 中文", "gbk 中文"]


def test_bytes_of_no_encoding_are_replaced() -> None:
    assert split(b"a\xff\xfe\x9d\n", encodings=()) == ["a\ufffd\ufffd\ufffd"]
    assert split(b"a\x81b\n", encodings=("cp1252",)) == ["a\ufffdb"]


def test_fallbacks_are_known_to_python() -> None:
    for encoding in fallback_encodings():
        assert b"abc".decode(encoding) == "abc"


def test_long_line_comes_in_bounded_pieces() -> None:
    text = "数" * 5_000_000
    data = text.encode() + b"\nend\n"
    chunks = [data[i : i + 65536] for i in range(0, len(data), 65536)]
    lines = split(*chunks)
    assert lines[-1] == "end"
    assert "".join(lines[:-1]) == text
    assert max(len(line.encode()) for line in lines) <= 1024 * 1024
    assert split(data)[-1] == "end"
    assert "".join(split(data)[:-1]) == text


def test_endless_progress_line_keeps_little() -> None:
    splitter = LineSplitter()
    for number in range(100_000):
        assert splitter.feed(b"\r%d of 100000 files" % number) == []
    assert sum(map(len, splitter._parts)) < 100
    assert splitter.flush() == ["99999 of 100000 files"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows takes its code pages")
def test_a_system_in_utf8_falls_back_to_the_chinese_code_page(monkeypatch: pytest.MonkeyPatch) -> None:
    fallback_encodings.cache_clear()
    monkeypatch.setattr("locale.getencoding", lambda: "UTF-8")
    assert fallback_encodings() == ("gbk",)
    fallback_encodings.cache_clear()
    monkeypatch.setattr("locale.getencoding", lambda: "ISO-8859-15")
    assert fallback_encodings() == ("iso8859-15",)
    fallback_encodings.cache_clear()


@pytest.mark.parametrize("returns", [3, 4, 5, 50])
@pytest.mark.parametrize("before", [b"", b"abcd", b"ab"])
def test_returns_before_a_line_end_say_nothing_however_many_there_are(returns: int, before: bytes) -> None:
    data = before + b"\r" * returns + b"\nnext\n"
    expected = [before.decode(), "next"]
    assert split(data, piece_bytes=4) == expected
    assert split(*(data[i : i + 1] for i in range(len(data))), piece_bytes=4) == expected
