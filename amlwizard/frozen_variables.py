"""Gives back the variables that the start of a frozen program has changed, so that they reach nothing that it starts.

Most children get an environment from ``core.child_env``. What Qt or the desktop starts, such as the file manager, gets that
of this process.
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
