"""Keeps the libraries of a frozen program on Windows to itself.

What starts it puts their folder into the search path of libraries in a way that every child gets as well: a foreign Python
would load a library of ours in place of its own.
"""

from __future__ import annotations

import os
import sys


def keep_libraries() -> None:
    """Let the program alone search its folder; nothing elsewhere, or where this program is not frozen."""
    folder = getattr(sys, "_MEIPASS", None)
    if sys.platform == "win32" and folder is not None:
        import ctypes  # it takes a while to load, on every start

        os.add_dll_directory(folder)
        ctypes.WinDLL("kernel32").SetDllDirectoryW(None)
