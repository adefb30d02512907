"""Takes back what the start of a frozen program has changed, so that it reaches nothing that the program starts.

Variables: most children get an environment from ``core.child_env``. What Qt or the desktop starts, such as the file
manager, gets that of this process. Libraries: on Windows, what starts the program puts their folder into the search path
in a way that every child gets as well, and a foreign Python would load a library of ours in place of its own.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import MutableMapping

_LIBRARY_PATH: Final = "LD_LIBRARY_PATH"
_OURS: Final = ("_PYI_", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH")


def give_back_variables(environ: MutableMapping[str, str] = os.environ, *, frozen: bool | None = None) -> None:
    """Set the variables to what the user has; nothing where this program is not frozen (``frozen``; None: find out).

    The loader has read its path already, and Qt finds its plugins beside itself. ``LD_LIBRARY_PATH_ORIG`` stays, as it
    tells ``core.child_env`` what the user's path is.
    """
    if not (getattr(sys, "frozen", False) if frozen is None else frozen):
        return
    for name in [name for name in environ if name.startswith((_LIBRARY_PATH, *_OURS)) and name != f"{_LIBRARY_PATH}_ORIG"]:
        del environ[name]
    original = environ.get(f"{_LIBRARY_PATH}_ORIG")
    if original:
        environ[_LIBRARY_PATH] = original


def keep_libraries() -> None:
    """Let the program alone search its folder; nothing elsewhere, or where this program is not frozen."""
    folder = getattr(sys, "_MEIPASS", None)
    if sys.platform == "win32" and folder is not None:
        import ctypes  # it takes a while to load, on every start

        os.add_dll_directory(folder)
        ctypes.WinDLL("kernel32").SetDllDirectoryW(None)
