"""A run that was refused in a folder without a workspace leaves that as it was, down to the folder itself.

What was fetched stays, and so does the log of a run that failed: the next attempt, or a help desk, has use for it.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final

from amlwizard.core.choices import UvMethod
from amlwizard.core.environment.removal import count_files
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.records import read_record
from amlwizard.core.uninstall import Removal, remove_listed, remove_records

if TYPE_CHECKING:
    from amlwizard.core.paths import Workspace

_NOTHING_DONE: Final = frozenset({"AML_NOTHING_TO_INSTALL", "AML_OFFLINE_MISSING", "AML_STORE_INCOMPLETE"})
"""What is found in a step, and says of what was wanted that it cannot be had here at all."""
_FETCHED_ALONE: Final = frozenset({UvMethod.PIP_TARGET.value, UvMethod.SCRIPT.value})
"""The ways to uv that leave nothing in the store; the wheel of another way lies there."""


class FreshWorkspace:
    """A workspace that a run makes in a folder that had none; the run holds it alone."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._removal = Removal()
        self._had_uv = os.path.lexists(workspace.uv)

    def was_refused(self, error: AmlError) -> bool:
        """Tell whether a run ended by a refusal, with nothing fetched until then. Blocks for a moment."""
        workspace = self._workspace
        folders = (workspace.downloads, workspace.interpreters, workspace.venv)
        uv_is_fetched = (read_record(workspace.uv_record) or {}).get("method") in _FETCHED_ALONE
        refused = isinstance(error, RefusedError) or error.code in _NOTHING_DONE
        return refused and not uv_is_fetched and not any(map(count_files, folders))

    def remove(self) -> None:
        """Remove what the run has made; the lock is still held. Blocks."""
        if not self._had_uv:  # in a folder that was there before, and is in no receipt
            self._workspace.uv.unlink(missing_ok=True)
        remove_listed(self._workspace, self._removal, threading.Event())
        if os.name != "nt":
            remove_records(self._workspace, self._removal)

    def finish(self) -> None:
        """Remove what Windows keeps as long as the lock is held. Blocks."""
        if os.name == "nt":
            remove_records(self._workspace, self._removal)
