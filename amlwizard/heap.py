"""Keeps the memory of a window small."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

_M_ARENA_MAX: Final = -8


def share_one_heap() -> None:
    """Let all threads that begin from now on share one heap; nothing happens where the C library is not glibc.

    Otherwise each gets one of its own, which keeps what it had at its peak. After an installation of the default profile a
    window had 117, 124 and 124 MB with one heap, and 142, 134 and 136 MB without, of the 130 MB that it may have.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 1)
