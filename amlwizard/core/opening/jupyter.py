"""The JupyterLab of a workspace: what it may be doing, and where its parts lie.

It is the user's own program and no job: it has the user's environment and settings, and goes on when the window closes.
What it keeps while it runs lies in ``runtime/jupyter``, by which any later window, or a shortcut, finds it again.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from amlwizard.core.paths import executable_name

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.paths import Workspace

LAUNCHER: Final = "open_jupyter.py"
ICON: Final = "amlwizard.svg"
"""That of a shortcut; it lies beside the launcher."""


class JupyterState(StrEnum):
    """What the JupyterLab of a workspace does."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"


def has_jupyter(workspace: Workspace) -> bool:
    """Tell whether the environment holds JupyterLab."""
    return workspace.python.with_name(executable_name("jupyter-lab")).exists()


def jupyter_log(workspace: Workspace) -> Path:
    """Return the log of the last JupyterLab."""
    return workspace.logs / "jupyter.log"
