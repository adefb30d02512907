"""Makes sure that names of files in other scripts than English can be used, whatever the locale says."""

from __future__ import annotations

import os
import sys


def start_in_utf8() -> None:
    """Start this process anew in Python's UTF-8 mode where it knows ASCII alone: a C locale with that mode switched off.

    Names are UTF-8 there all the same, and without it no path with another letter could even be written into a record.
    Does not return where it starts anew.
    """
    if sys.getfilesystemencoding().lower() not in {"ascii", "ansi_x3.4-1968", "us-ascii", "646"}:
        return
    if os.name != "posix" or getattr(sys, "frozen", False) or sys.flags.utf8_mode:
        return
    spoken = f"{sys.stdout.encoding}:{sys.stdout.errors}" if sys.stdout is not None else ""  # what a terminal can show
    variables = {"PYTHONIOENCODING": spoken, **os.environ}
    os.execve(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]], variables)  # noqa: S606 - itself
