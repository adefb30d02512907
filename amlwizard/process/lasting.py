"""Starts a program that the user opens and that goes on when this one ends: no runner, no tree, no run tag of a run."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from amlwizard.core.child_env import session_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def start_lasting(
    command: Sequence[str], folder: Path, extra: Mapping[str, str] | None = None, *, console: bool = False
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own.

    Args:
        command: the program and its arguments.
        folder: where it works.
        extra: variables that it gets besides the user's own.
        console: give it a console window of its own on Windows, rather than none.

    Raises:
        OSError: it cannot be started.
    """
    window = "CREATE_NEW_CONSOLE" if console else "CREATE_NO_WINDOW"
    quiet = None if console and os.name == "nt" else subprocess.DEVNULL  # a console has its own three
    return subprocess.Popen(
        command,
        cwd=folder,
        env=session_environment(os.environ) | dict(extra or {}),
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
        creationflags=getattr(subprocess, window, 0),
    )
