"""Whether a folder's name is one that the system can have; told before anything looks into the folder."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Final

from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_files import LONGEST_NAME

if TYPE_CHECKING:
    from pathlib import Path

_BELOW: Final = "x/" * 100
"""About as long as the paths in a workspace are; nothing of that name has to be there."""


def refuse_long_name(root: Path) -> None:
    """Refuse a workspace whose name the system takes for too long; a folder that is not there yet may have any other.

    Raises:
        RefusedError: ``AML_ROOT_TOO_LONG``.
    """
    if any(_length(part) > LONGEST_NAME for part in root.parts) or _refused(root):
        raise RefusedError("AML_ROOT_TOO_LONG", path=str(root))


def _length(name: str) -> int:
    """Return the length as the system counts it: in UTF-16 on Windows, in bytes elsewhere."""
    return len(name.encode("utf-16-le", "surrogatepass")) // 2 if sys.platform == "win32" else len(os.fsencode(name))


def _refused(root: Path) -> bool:
    for path in (root, root / _BELOW):
        try:
            path.lstat()
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return True
        except ValueError:  # a NUL in it, or letters that no name has; told where the name is judged
            return False
    return False
