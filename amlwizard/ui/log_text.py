"""Lines of a log as they are shown: without what a terminal would obey, cut, judged and searched. No Qt here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

CUT: Final = 2000
"""Characters of a line that are shown."""
MOST_HITS: Final = 10_000
"""Where a text is found more often, nobody goes through it."""
_OBEYED: Final = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|$)"  # colours and moves of the cursor; the last may be cut short
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ufdd0\ufdd1]"  # the last ones begin and end what Qt lays out
)
_PROBLEM: Final = re.compile(
    r"\b(?:errors?|warn(?:ings?)?|fail(?:s|ed|ures?)?|fatal|critical|traceback|panicked|denied|refused|killed"
    r"|cannot|can't|could not|couldn't|unable to|not found|timed out|no space left)\b"
    r"|\b[A-Z][A-Za-z]*(?:Error|Exception|Warning)\b"
    r"|错误|失败|警告|异常|拒绝|无法|超时|找不到",
    re.IGNORECASE,
)


def clean_line(line: str) -> str:
    """Return what a terminal would show of a line after its last return, cut to a length that can be laid out."""
    shown = line.rstrip("\r\n").rpartition("\r")[2]
    text = _OBEYED.sub("", shown[: CUT * 4])
    return text[:CUT] + " …" if len(text) > CUT or len(shown) > CUT * 4 else text


def is_problem(line: str) -> bool:
    """Tell whether a line speaks of something that went wrong, or may."""
    return _PROBLEM.search(line) is not None


def find_all(lines: Iterable[str], wanted: str) -> list[tuple[int, int]]:
    """Return where a text begins and ends in the lines, in any case of letters; ``MOST_HITS`` places at most.

    Places are those of a ``QTextDocument`` of these lines: they count UTF-16 units, and one for each end of a line.
    """
    if not wanted:
        return []
    form = re.compile(re.escape(wanted), re.IGNORECASE)
    found = []
    begin = 0
    for line in lines:
        plain = line.isascii()
        for hit in form.finditer(line):
            start, end = hit.span()
            if not plain:
                start, end = _units(line[:start]), _units(line[:end])
            found.append((begin + start, begin + end))
            if len(found) == MOST_HITS:
                return found
        begin += (len(line) if plain else _units(line)) + 1
    return found


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
