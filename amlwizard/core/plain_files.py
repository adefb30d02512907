"""Reads files that others may have put there: only a regular file is read, as a pipe or a device could keep us for ever."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from pathlib import Path

LONGEST_NAME: Final = 255
"""In bytes, on all file systems that are used here."""
_NO_NAMES_ON_WINDOWS: Final = frozenset({21, 123, 161, 1921})
"""ERROR_NOT_READY (a drive without a disk), ERROR_INVALID_NAME, ERROR_BAD_PATHNAME, ERROR_CANT_RESOLVE_FILENAME."""
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_NONBLOCK", 0)  # or opening a pipe would wait for its writer
)


def is_path(text: str) -> bool:
    """Tell whether a text can be a path at all: without a NUL, and of letters that names can have on this system."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def is_name(text: str) -> bool:
    """Tell whether a text names something in a folder, and nothing elsewhere."""
    plain = is_path(text) and text not in {"", ".", ".."} and not set(text) & {"/", "\\", ":"}
    return plain and len(os.fsencode(text)) <= LONGEST_NAME


def exists(path: str | os.PathLike[str]) -> bool:
    """Tell whether something is there.

    What lies in a folder that may not be entered is not, nor what has a name that the system cannot have, where pathlib
    would raise.
    """
    return os.path.exists(path)  # noqa: PTH110


def is_there(path: str | os.PathLike[str]) -> bool:
    """Tell whether something is there, where it matters why that cannot be seen.

    Raises:
        OSError: the system does not let it be seen, as in a folder that may not be entered.
    """
    try:
        os.stat(path)  # noqa: PTH116 - of texts as well
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the path
        return False
    except OSError as error:
        if getattr(error, "winerror", None) in _NO_NAMES_ON_WINDOWS:
            return False
        raise
    return True


def is_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is there, as ``exists`` does."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is there, as ``exists`` does."""
    return os.path.isdir(path)  # noqa: PTH112


def open_plain(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file, or a link to one, for reading.

    Raises:
        OSError: it cannot be opened, or is something else.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:  # a NUL in the path
        raise OSError(errno.EINVAL, "Not a path", os.fspath(path)) from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))


def read_plain(path: Path) -> bytes:
    """Return the content of a regular file.

    Raises:
        OSError: it cannot be read, or is something else.
    """
    with open_plain(path) as stream:
        return stream.read()


def read_plain_text(path: Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return the text of a regular file, its ends of line as they are read everywhere else.

    Raises:
        OSError: it cannot be read, or is something else.
        UnicodeDecodeError: it is no text in this encoding.
    """
    text = read_plain(path).decode(encoding, errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")
