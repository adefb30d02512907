"""Starts Qt, or tells in a sentence why it does not start. Qt itself would end the program by a signal."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import sys
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import RefusedError
from amlwizard.resources import frozen_root

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtCore import QMessageLogContext, QtMsgType
    from PySide6.QtWidgets import QApplication

DEBIAN_PACKAGES: Final = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
}
"""What Qt and its X11 plugin load from a Linux system, with the Debian packages that bring it."""
_SCREENS: Final = (("wayland", "WAYLAND_DISPLAY"), ("xcb", "DISPLAY"))
"""Qt's plugins for the screens of Linux, and what tells that there is one."""
_NO_DISPLAY: Final = "could not connect to display"
_NOT_FOUND: Final = re.compile(r'Could not find the Qt platform plugin "(?:xcb|wayland|offscreen|windows|cocoa)"')
"""What Qt says of a plugin of its own that is not in its folder; of one that lacks a library it says another thing."""
_PARTS: Final = ("libQt6", "libicu", "libpyside6", "libshiboken6")
"""What a name of a library begins with that comes with amlwizard, and never with the system."""


def make_application(give_up: Callable[[RefusedError], None]) -> QApplication:
    """Return the Qt application; where Qt cannot start, ``give_up`` is told why and ends the program.

    Qt ends the program by SIGABRT as soon as its last message was heard, so ``give_up`` is called within that message.
    """
    from PySide6.QtCore import QtMsgType, qInstallMessageHandler
    from PySide6.QtWidgets import QApplication

    _offer_the_screen()
    heard: list[str] = []

    def listen(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        category: str | None = context.category  # type: ignore[attr-defined]  # the stubs leave it out
        if kind is QtMsgType.QtFatalMsg or (category or "").startswith("qt.qpa"):  # and not about the locale
            heard.append(message)
        if kind is QtMsgType.QtFatalMsg:
            give_up(_why_not(heard))

    qInstallMessageHandler(listen)
    try:
        app = QApplication.instance() or QApplication([sys.argv[0]])
    finally:
        qInstallMessageHandler(None)
    if not isinstance(app, QApplication):
        raise TypeError("a Qt application without widgets is running already")
    return app


def _offer_the_screen() -> None:
    """Let Qt take the screen that is there where a foreign ``QT_QPA_PLATFORM`` names what does not work here."""
    wanted = os.environ.get("QT_QPA_PLATFORM")
    if wanted and sys.platform == "linux":
        screens = [name for name, variable in _SCREENS if os.environ.get(variable)]
        os.environ["QT_QPA_PLATFORM"] = ";".join([wanted, *screens])


def not_imported(error: ImportError) -> RefusedError:
    """Return why Qt cannot be imported: it is not installed, or the system lacks libraries that it needs."""
    lost = isinstance(error, ModuleNotFoundError) or str(error).startswith(_PARTS)
    return _refusal([] if lost else missing_libraries(), str(error), "again")


def missing_libraries() -> list[str]:
    """Return what the loader does not find of the libraries that Qt needs of a Linux system."""
    if sys.platform != "linux":
        return []
    return [name for name in DEBIAN_PACKAGES if not _is_there(name)]


def install_command(missing: Sequence[str], find: Callable[[str], str | None] = shutil.which) -> str | None:
    """Return the command that installs libraries on this system, or None where its package manager is not known."""
    become = "" if _is_root() else "sudo "
    if find("apt-get"):
        packages = sorted({DEBIAN_PACKAGES[name] for name in missing})
        return f"{become}apt-get install {' '.join(packages)}"
    bits = "()(64bit)" if sys.maxsize > 2**32 else ""
    wanted = " ".join(f"'{name}{bits}'" for name in missing)  # these managers know packages by what is in them
    for manager in ("dnf", "zypper"):
        if find(manager):
            return f"{become}{manager} install {wanted}"
    return None


def _why_not(heard: Sequence[str]) -> RefusedError:
    """Return why Qt gave up, judged by what it said."""
    remedy = "foreign" if "QT_QPA_PLATFORM" in os.environ else "again"
    if lost := next(filter(_NOT_FOUND.search, heard), None):
        return _refusal([], lost.splitlines()[0], remedy)
    missing = missing_libraries()
    if not missing and any(_NO_DISPLAY in message for message in heard):
        return RefusedError("AML_SCREEN_SILENT", display=os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY", ""))
    return _refusal(missing, heard[0].splitlines()[0], remedy)


def _refusal(missing: Sequence[str], reason: str, remedy: str) -> RefusedError:
    if not missing:
        return RefusedError("AML_NO_QT", reason=reason.rstrip("."), remedy=Phrase(f"window.qt.{remedy}"))
    return RefusedError("AML_QT_LIBRARIES_MISSING", libraries=", ".join(missing), remedy=_remedy(missing))


def _remedy(missing: Sequence[str]) -> Phrase:
    command = install_command(missing)
    if command is not None:
        return Phrase("window.libraries.command", {"command": command})
    packages = " ".join(sorted({DEBIAN_PACKAGES[name] for name in missing}))
    return Phrase("window.libraries.packages", {"packages": packages})


def _is_there(name: str) -> bool:
    carried = frozen_root()
    if carried is not None and (carried / name).is_file():  # where it cannot be loaded, another one is missing
        return True
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0
