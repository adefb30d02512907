"""Where what is opened keeps its files for an account that cannot write into the workspace: among its own data."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amlwizard.core.paths import Workspace
from amlwizard.core.write_access import can_write, users_data

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class GuestWorkspace(Workspace):
    """A workspace in the hands of a guest, whose notebooks and logs lie in ``own``."""

    own: Path

    @property
    def jupyter(self) -> Path:
        """What starts JupyterLab, and what that keeps while it runs."""
        return self.own / "runtime" / "jupyter"

    @property
    def terminal(self) -> Path:
        """What starts a terminal with the environment active."""
        return self.own / "runtime" / "terminal"

    @property
    def logs(self) -> Path:
        """Log files of what was opened."""
        return self.own / "runtime" / "logs"

    @property
    def notebooks(self) -> Path:
        """Where JupyterLab is opened; the guest's own."""
        return self.own / "notebooks"


def opened_by(workspace: Workspace) -> Workspace:
    """Return the workspace as this account can open it: as it is, or as a guest. Tries the folder once on Windows."""
    if can_write(workspace.runtime):
        return workspace
    name = hashlib.sha256(os.fsencode(workspace.root)).hexdigest()[:12]
    return GuestWorkspace(workspace.root, users_data() / "opened" / name)
