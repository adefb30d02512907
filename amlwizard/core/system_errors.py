"""What the system refuses while something is written, as an error that the user is told about (DESIGN P7)."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import ToolText
from amlwizard.core.errors import AmlError

if TYPE_CHECKING:
    from pathlib import Path

_FULL: Final = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})
_FULL_ON_WINDOWS: Final = frozenset({39, 112, 1295})
"""ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED."""
_REFUSED: Final = frozenset(
    {errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EBUSY, errno.ENOTEMPTY}
    | {errno.EISDIR, errno.ENOTDIR, errno.EEXIST}  # a folder where a file has to be, or the other way round
)


def failure_from_system(error: BaseException, root: Path) -> AmlError | None:
    """Return the error for what the disk refused; None where that is not what happened."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, AmlError):
        return error
    if not isinstance(error, OSError):
        return None
    # of two files, the second is the one that was to be written
    path = error.filename2 or error.filename or root
    return not_written(error, path) if is_full(error) or error.errno in _REFUSED else None


def not_written(error: OSError, path: Path | str) -> AmlError:
    """Return the error for something that could not be written; a full disk is told as that."""
    reason = error.strerror or str(error)
    if is_full(error):
        return AmlError("AML_NO_SPACE", cause=ToolText(f"{path}: {reason}", ""))
    return AmlError("AML_CANNOT_WRITE", path=str(path), reason=reason)


def is_full(error: OSError) -> bool:
    """Tell whether the disk is full, or what the user may take of it."""
    return error.errno in _FULL or getattr(error, "winerror", None) in _FULL_ON_WINDOWS
