"""What is shown of a line, and what is found in it."""

from __future__ import annotations

import pytest

from amlwizard.ui.log_text import CUT, MOST_HITS, clean_line, find_all, is_problem


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("\x1b[1;31merror\x1b[0m: no wheel\x1b[K", "error: no wheel"),
        ("\x1b]8;;https://index.example.org\x1b\\numpy\x1b]8;;\x1b\\ 2.1", "numpy 2.1"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b(Bplain\x1b=\x1b7", "plain"),
        ("\x9b32mgreen\x9bm", "green"),
        (" 10 %\r 50 %\r100 %\r\n", "100 %"),
        ("a\tb\x08\x00\x07c\x0bd\u2028e\u2029f", "a\tbcdef"),
        ("cut short \x1b[38;5", "cut short "),
        ("依赖包 🎉", "依赖包 🎉"),
        ("x" * CUT, "x" * CUT),
        ("x" * (CUT + 1), "x" * CUT + " …"),
        ("\x1b[1m" * 5_000 + "x", " …"),
        ("y" * 5_000_000 + "\rend", "end"),
    ],
)
def test_a_line_is_shown_as_a_terminal_would_without_colours(line: str, shown: str) -> None:
    assert clean_line(line) == shown


@pytest.mark.parametrize(
    "line",
    [
        "error: subprocess-exited-with-error",
        "  x Failed to build `numpy`",
        "WARNING: Retrying",
        "Traceback (most recent call last):",
        "ModuleNotFoundError: no such module",
        "Connection refused by files.example.org",
        "错误：磁盘已满",
        "thread 'main' panicked at src",
    ],
)
def test_lines_of_problems_are_known(line: str) -> None:
    assert is_problem(line)


@pytest.mark.parametrize(
    "line", ["+ exceptiongroup==1.2", "Downloading scipy (34 MB)", " + terrorform 1.0", "Prepared 3 packages", ""]
)
def test_other_lines_are_not(line: str) -> None:
    assert not is_problem(line)


def test_what_is_found_is_counted_as_qt_counts() -> None:
    assert find_all(["a🎉A", "", "xa"], "a") == [(0, 1), (3, 4), (7, 8)]
    assert find_all(["1.0", "1x0"], "1.0") == [(0, 3)]
    assert find_all(["anything"], "") == []


def test_no_more_is_found_than_somebody_could_go_through() -> None:
    assert len(find_all(["x" * 1_000] * 100, "x")) == MOST_HITS
