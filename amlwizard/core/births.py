"""When a process was born, by which it is told from any other that bears its id before or after it.

A create time in seconds since 1970 will not do where one program notes it and another reads it: on Linux it is reckoned
from a boot time that moves when the clock is set. There the birth is counted in the kernel's own ticks since the boot.
"""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import psutil


class Birth(NamedTuple):
    """The birth of a process: ``boot`` names the start of the system in which ``at`` can be compared."""

    boot: str
    at: float


def birth_of(pid: int) -> Birth | None:
    """Return when the living process with this id was born; None where there is none, or only what is not reaped yet."""
    if sys.platform != "linux":
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                return Birth(this_boot(), process.create_time())
        return None
    try:
        # the name, in brackets, may hold anything; behind it stand the state (3rd field) and the start (22nd)
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else Birth(this_boot(), float(fields[19]))


def is_alive(pid: int, birth: Birth) -> bool:
    """Tell whether exactly this process lives; one that cannot be looked at counts as alive."""
    if birth.boot != this_boot():
        return False
    found = birth_of(pid)
    if found is None and sys.platform != "win32":
        try:
            os.kill(pid, 0)
        except PermissionError:
            return True
        except OSError:
            return False
        return False
    return found == birth


@cache
def this_boot() -> str:
    """Return what names this start of this system, or of this container: ids of processes mean nothing outside it."""
    with suppress(OSError):
        started = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        return f"{started} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - no path, but the name of the namespace
    return platform.node()  # elsewhere births are told by the calendar, so that a restart makes no two alike
