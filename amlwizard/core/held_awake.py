"""Holds off the computer's own sleep while something goes on; where the system does not let it, nothing happens."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMANDS: Final = {
    "darwin": ("caffeinate", "-i", "cat"),
    "linux": ("systemd-inhibit", "--what=sleep:idle", "--who=amlwizard", "--why=Setting up", "--mode=block", "cat"),
}
"""Each holds off sleep until ``cat`` ends: when its input is closed, be it because this program is gone."""
_ES_CONTINUOUS: Final = 0x8000_0000
_ES_SYSTEM_REQUIRED: Final = 0x0000_0001


@contextmanager
def held_awake(platform: str = sys.platform) -> Iterator[None]:
    """Hold off sleep until the end of the block. A user who closes the lid goes before.

    A thread does it, so that no event loop waits for a program to start; on Windows it belongs to a thread anyway.

    Args:
        platform: as ``sys.platform``.
    """
    ended = threading.Event()
    threading.Thread(target=_hold, args=(platform, ended), name="held-awake", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _hold(platform: str, ended: threading.Event) -> None:
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.kernel32.SetThreadExecutionState(_ES_CONTINUOUS | _ES_SYSTEM_REQUIRED)
        ended.wait()
        ctypes.windll.kernel32.SetThreadExecutionState(_ES_CONTINUOUS)
    else:
        holder = _start(_COMMANDS.get(platform, ()))
        if holder is not None and holder.stdin is not None:
            ended.wait()
            holder.stdin.close()
            holder.wait()


def _start(command: tuple[str, ...]) -> subprocess.Popen[bytes] | None:
    program = shutil.which(command[0]) if command else None
    if program is None:
        return None
    try:
        return subprocess.Popen(
            (program, *command[1:]),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl+C is for this program, which ends the other one
        )
    except OSError:
        return None
