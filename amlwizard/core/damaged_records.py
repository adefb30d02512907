"""Which records are damaged that the environment works without: each is named, as something else will miss it one day."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from amlwizard.core import receipt
from amlwizard.core.environment.findings import Finding
from amlwizard.core.lock import readable_lock
from amlwizard.core.misplaced import misplaced
from amlwizard.core.wish import recorded_in

if TYPE_CHECKING:
    from amlwizard.core.paths import Workspace


def is_previous_lock_damaged(workspace: Workspace) -> bool:
    """Tell whether there is a lock of before the last change that leads nowhere. Blocks for a moment."""
    lock = workspace.previous_lock
    return os.path.lexists(lock) and (readable_lock(lock) is None or not recorded_in(lock))


def damaged_records(workspace: Workspace) -> list[Finding]:
    """Return what is damaged, and what that means. Blocks for a moment.

    Raises:
        RefusedError: a newer amlwizard wrote a record.
    """
    found = [Finding("records.misplaced", {"path": str(path)}) for path in misplaced(workspace)]
    if is_previous_lock_damaged(workspace):
        found.append(Finding("records.previous_lock_damaged", {"file": str(workspace.previous_lock)}))
    if receipt.is_damaged(workspace):
        found.append(Finding("records.receipt_damaged", {"file": str(workspace.receipt)}))
    return found
