"""Writes into docs/cases.md which tests carry the number of each case; ``--check`` only tells whether that is stale."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "cases.md"
_ROW = re.compile(r"\| (B\d{2,3}) \| ([^|]+) \| ([^|]+) \|(?: ([^|]*))? ?\|")
_NUMBER = re.compile(r"(?<![a-z0-9])b(\d{2,3})(?=_)")


def numbered_tests() -> dict[str, list[str]]:
    """Return the tests by the number in their names, as ``file::name`` below ``tests/``."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for number in _NUMBER.findall(node.name):
                    found.setdefault(f"B{number}", []).append(f"{file.relative_to(ROOT / 'tests').as_posix()}::{node.name}")
    return found


def cases(text: str) -> dict[str, str]:
    """Return what the last column says, by number, in the order of the rows.

    Raises:
        ValueError: a number stands there twice.
    """
    rows = [match for line in text.splitlines() if (match := _ROW.fullmatch(line.strip()))]
    last = {match[1]: (match[4] or "").strip() for match in rows}
    if len(last) != len(rows):
        raise ValueError("a case is listed twice")
    return last


def render(text: str) -> str:
    """Return the document with the tests as they are."""
    tests = numbered_tests()

    def row(match: re.Match[str]) -> str:
        named = "<br>".join(f"`{name}`" for name in tests.get(match[1], ()))
        return f"| {match[1]} | {match[2]} | {match[3]} | {named} |"

    return "\n".join(_ROW.sub(row, line) if _ROW.fullmatch(line) else line for line in text.splitlines()) + "\n"


def main() -> int:
    """Write the document, or with ``--check`` say whether it is up to date."""
    text = TARGET.read_text(encoding="utf-8")
    fresh = render(text)
    if sys.argv[1:] == ["--check"]:
        return 0 if fresh == text else 1
    TARGET.write_text(fresh, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
