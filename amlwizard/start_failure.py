"""Where the program cannot start: the reason goes into a file that is named, and is shown where there is no terminal.

Nothing but the standard library is used, and no resource: the installation may be incomplete.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Final

_TITLE: Final = "amlwizard"
_DIALOGS: Final = (
    ("zenity", "--error", "--no-markup", "--text"),
    ("kdialog", "--title", _TITLE, "--error"),
    ("xmessage", "-center"),
)
"""What shows a message on a Linux desktop."""


def tell_start_failure(error: BaseException) -> None:
    """Write the traceback into a log file, and tell the reason and the file."""
    text = f"amlwizard cannot start: {type(error).__name__}: {error}"
    log = _write_log("".join(traceback.format_exception(error)))
    if log is not None:
        text += f"\nDetails: {log}"
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"{text}\n")
    show_unseen(text)


def show_unseen(text: str) -> None:
    """Show a text in a window of the system, where there is a screen and no terminal in which it could be read."""
    if sys.stderr is not None and sys.stderr.isatty():
        return
    if sys.platform == "win32":
        if sys.stderr is None:
            import ctypes

            ctypes.windll.user32.MessageBoxW(None, text, _TITLE, 0x10)
    elif sys.platform != "darwin" and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        _show_on_desktop(text)


def _show_on_desktop(text: str) -> None:
    """Let a program that is there show it, and do not wait for its reader."""
    for name, *options in _DIALOGS:
        program = shutil.which(name)
        if program is not None:
            with suppress(OSError):
                subprocess.Popen(
                    [program, *options, text],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                return


def _write_log(text: str) -> Path | None:
    with suppress(OSError):
        descriptor, name = tempfile.mkstemp(".log", "amlwizard-start-")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        return Path(name)
    return None
