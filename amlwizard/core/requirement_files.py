"""Requirements files as text: their encoding, their joined lines, comments and variables, as pip reads them."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_files import is_there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LARGEST: Final = 16 * 1024**2
"""In bytes; what is larger is another kind of file, chosen by mistake."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"(?<!\S)#.*$")
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")
_ODD_SPACE = re.compile(r"[^\S \t]")


@dataclass(frozen=True)
class SourceFile:
    """One file of a closure, decoded. ``encoding`` is Python's name for it."""

    path: Path
    encoding: str
    text: str


@dataclass(frozen=True)
class LogicalLine:
    """One line without comment, its continuations joined.

    ``raw`` has its variables as they are written, ``text`` has their values and may be secret; ``number`` is that of the
    first physical line, and ``first_part`` what stands in it. ``goes_on`` tells whether that ends in a backslash,
    ``cut_off`` whether nothing follows the last one, ``odd_space`` whether there is other space than blanks and tabs.
    """

    file: Path
    number: int
    raw: str
    text: str
    first_part: str
    variables: tuple[str, ...]
    goes_on: bool = False
    cut_off: bool = False
    odd_space: bool = False


def read_source(path: Path) -> SourceFile:
    """Read one file.

    Raises:
        RefusedError: ``AML_REQUIREMENTS_MISSING``, ``_NOT_A_FILE``, ``_TOO_LARGE``, ``_UNREADABLE`` or ``_ENCODING``.
    """
    try:
        if not is_there(path):
            raise RefusedError("AML_REQUIREMENTS_MISSING", file=str(path))
        if not path.is_file():
            raise RefusedError("AML_REQUIREMENTS_NOT_A_FILE", file=str(path))
        if path.stat().st_size > _LARGEST:
            raise RefusedError("AML_REQUIREMENTS_TOO_LARGE", file=str(path), limit=_LARGEST // 1024**2)
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise RefusedError("AML_REQUIREMENTS_UNREADABLE", file=str(path), reason=reason) from error
    encoding = _encoding_of(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RefusedError("AML_REQUIREMENTS_ENCODING", file=str(path), line=line) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise RefusedError("AML_REQUIREMENTS_ENCODING", file=str(path), line=line)
    return SourceFile(path, encoding, text)


def _encoding_of(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    # UTF-16 without a mark: every second byte of ASCII text is NUL, and UTF-8 text holds none.
    if data[1::2].count(0) * 2 > len(data[1::2]):
        return "utf-16-le"
    if data[::2].count(0) * 2 > len(data[::2]):
        return "utf-16-be"
    return "utf-8"


def logical_lines(
    source: SourceFile, environ: Mapping[str, str], refuse: Callable[[RefusedError], None]
) -> Iterator[LogicalLine]:
    """Yield the lines that say something.

    Args:
        source: the file.
        environ: where ``${NAME}`` is looked up.
        refuse: is told of each line with a variable that is not set (``AML_REQUIREMENTS_VARIABLE``), which is left out.
    """
    for number, parts, calls_for_more in _joined(source.text):
        joined = "".join(parts)
        said = _COMMENT.sub("", joined)
        raw = said.strip()
        cut_off = calls_for_more and said == joined
        if raw or cut_off:
            names = tuple(_VARIABLE.findall(raw))
            unset = next((name for name in names if not environ.get(name)), None)
            if unset is not None:
                refuse(RefusedError("AML_REQUIREMENTS_VARIABLE", file=str(source.path), line=number, name=unset))
                continue
            text = _VARIABLE.sub(lambda match: environ[match.group(1)], raw)
            yield LogicalLine(
                source.path,
                number,
                raw,
                text,
                parts[0],
                names,
                goes_on=len(parts) > 1 or cut_off,
                cut_off=cut_off,
                odd_space=_ODD_SPACE.search(said) is not None,
            )


def _joined(text: str) -> Iterator[tuple[int, list[str], bool]]:
    """Yield each logical line: its number, its parts, and whether the last of them calls for one that is not there."""
    parts: list[str] = []
    first = 1
    for number, line in enumerate(_LINE_END.split(text.rstrip()), start=1):
        if not parts:
            first = number
        is_comment = line.lstrip().startswith("#")  # a comment line ends a continuation, even where it ends in a backslash
        if line.endswith("\\") and not is_comment:
            parts.append(line[:-1])
            continue
        parts.append(f" {line}" if is_comment else line)
        yield first, parts, False
        parts = []
    if parts:
        yield first, parts, True
