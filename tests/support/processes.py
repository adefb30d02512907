"""Looking at processes that may end meanwhile."""

from __future__ import annotations

import psutil


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that its parent has not taken note of does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
