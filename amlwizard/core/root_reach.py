"""Whether the system lets anybody look into a folder; told before anything does, as each look would fail in its own way."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Final

from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_files import LONGEST_NAME
from amlwizard.core.system_errors import reason_of

if TYPE_CHECKING:
    from pathlib import Path

_REFUSALS: Final = frozenset({errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES})
_BELOW: Final = "x/" * 100
"""About as long as the paths in a workspace are; nothing of that name has to be there."""


def refuse_out_of_reach(root: Path) -> None:
    """Refuse a workspace that nobody could look into; a folder that is not there yet may have any other name.

    Raises:
        RefusedError: ``AML_ROOT_TOO_LONG``, ``AML_ROOT_DANGLING_LINK`` or ``AML_ROOT_NOT_WRITABLE``.
    """
    error = _refused(root)
    if any(_length(part) > LONGEST_NAME for part in root.parts) or (error and error.errno == errno.ENAMETOOLONG):
        raise RefusedError("AML_ROOT_TOO_LONG", path=str(root))
    if error and error.errno == errno.ELOOP:
        raise RefusedError("AML_ROOT_DANGLING_LINK", path=str(root))
    if error:
        raise RefusedError("AML_ROOT_NOT_WRITABLE", path=str(root), reason=reason_of(error))


def _length(name: str) -> int:
    """Return the length as the system counts it: in UTF-16 on Windows, in bytes elsewhere."""
    return len(name.encode("utf-16-le", "surrogatepass")) // 2 if sys.platform == "win32" else len(os.fsencode(name))


def _refused(root: Path) -> OSError | None:
    for path in (root, root / _BELOW):
        try:
            path.lstat()
        except OSError as error:
            if error.errno in _REFUSALS:
                return error
        except ValueError:  # a NUL in it, or letters that no name has; told where the name is judged
            return None
    return None
