"""Exchanging two folders in one step where the system can, and flushing a file system."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_SYSTEM: Final[str] = sys.platform
_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2  # Linux, renameat2
_RENAME_SWAP: Final = 2  # macOS, renamex_np
_CANNOT: Final = frozenset(
    number
    for name in ("EINVAL", "ENOSYS", "EXDEV", "EOPNOTSUPP", "ENOTSUP", "EPERM")
    if (number := getattr(errno, name, None)) is not None
)


def exchange(first: Path, second: Path) -> bool:
    """Let two folders change places atomically.

    Returns:
        False where this system or file system cannot do that; nothing has changed then.

    Raises:
        OSError: it can, but failed here.
    """
    if _SYSTEM == "linux":
        return _call("renameat2", _AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE)
    if _SYSTEM == "darwin":
        return _call("renamex_np", os.fsencode(first), os.fsencode(second), _RENAME_SWAP)
    return False


def flush_file_system(folder: Path) -> None:
    """Write out what the system still holds in memory for this file system, so that a power cut finds whole files."""
    if os.name == "nt":
        return  # needs an administrator there; NTFS orders the rename behind its own journal
    if _SYSTEM == "linux":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            if _call("syncfs", descriptor):
                return
        finally:
            os.close(descriptor)
    os.sync()


def _call(name: str, *arguments: int | bytes) -> bool:
    """Call a function of the C library; False where it does not exist or says that it cannot."""
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        return False
    function.restype = ctypes.c_int
    if function(*arguments) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number))
