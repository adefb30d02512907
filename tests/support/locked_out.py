"""A folder that the tests may not enter for a while, whoever runs them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NOBODY = 65534


@contextmanager
def locked_out(folder: Path) -> Iterator[None]:
    """Take away what lets this process enter a folder: root, who may enter all, is another user meanwhile."""
    user = os.geteuid()
    folder.chmod(0)
    try:
        if user == 0:
            os.seteuid(_NOBODY)
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o700)
