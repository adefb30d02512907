"""Going back to the lock before the last change."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from amlwizard.core.errors import RefusedError
from amlwizard.core.wish import Wish, wish_of_lock

if TYPE_CHECKING:
    from amlwizard.core.paths import Workspace


def previous_wish(workspace: Workspace) -> Wish:
    """Return what the environment was before the last change.

    Raises:
        RefusedError: nothing is known of it (``AML_NO_PREVIOUS_LOCK``), or its lock cannot be read.
    """
    wish = wish_of_lock(workspace.previous_lock) if workspace.previous_lock.is_file() else None
    if wish is None:
        raise RefusedError("AML_NO_PREVIOUS_LOCK", root=str(workspace.root))
    return wish


def begin_undo(workspace: Workspace) -> Wish:
    """Make the previous lock the one that the next environment is built from, and return its wish.

    The commit puts it in the place of the present one, which becomes the previous one: to undo twice is to do it again.

    Raises:
        RefusedError: as ``previous_wish``.
    """
    wish = previous_wish(workspace)
    shutil.copyfile(workspace.previous_lock, workspace.next_lock)
    return wish
