"""The signals that mean a cancel, and the quiet end at any of them while nothing runs yet.

Imports next to nothing, as it stands at the very beginning of the program.
"""

from __future__ import annotations

import os
import signal

STOP_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if name in signal.Signals.__members__
)
"""SIGHUP is a closed terminal, SIGBREAK a closed console on Windows."""

CANCELLED = 130
"""``ExitCode.CANCELLED``, which is not loaded yet when it is needed first."""


def leave_on_stop_signals() -> None:
    """Let every stop signal end this process at once with the exit code of a cancel."""
    for number in heeded_signals():
        signal.signal(number, _leave)


def ignore_stop_signals() -> None:
    """Let no stop signal change the exit code any more: the interpreter gives up its handlers before it is gone."""
    for number in heeded_signals():
        signal.signal(number, signal.SIG_IGN)


def heeded_signals() -> list[signal.Signals]:
    """Return the signals that are not ignored: ``nohup`` and a shell's background jobs keep what they chose."""
    return [number for number in STOP_SIGNALS if signal.getsignal(number) not in {signal.SIG_IGN, None}]


def _leave(_number: int, _frame: object) -> None:
    os._exit(CANCELLED)
