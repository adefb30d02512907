"""Files of ours that somebody may be reading at this moment: Windows lets nobody replace or remove those until then."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_HELD: Final = frozenset({5, 32})
"""What Windows says then: ERROR_ACCESS_DENIED and ERROR_SHARING_VIOLATION."""
_LONGEST_SECONDS: Final = 3.0
"""Another command of ours reads a file in milliseconds, and a virus scanner in less than this."""
_PAUSE_SECONDS: Final = 0.01


def replace_file(part: Path, target: Path) -> None:
    """Put a file in the place of another one; blocks while somebody reads either, see ``_LONGEST_SECONDS``.

    Raises:
        OSError: it cannot be done.
    """
    _when_free(lambda: part.replace(target))


def remove_file(path: Path) -> None:
    """Remove a file; blocks as ``replace_file`` does.

    Raises:
        OSError: it cannot be done, ``FileNotFoundError`` where there is none.
    """
    _when_free(path.unlink)


def _when_free(work: Callable[[], object]) -> None:
    deadline = time.monotonic() + _LONGEST_SECONDS
    while True:
        try:
            work()
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _HELD or time.monotonic() > deadline:
                raise
        else:
            return
        time.sleep(_PAUSE_SECONDS)
