"""The JupyterLab of a workspace: what it may be doing, and where its parts lie.

It is the user's own program and no job: it has the user's environment and settings, and goes on when the window closes.
What it keeps while it runs lies in ``runtime/jupyter``, by which any later window, or a shortcut, finds it again.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import Phrase, ToolText
from amlwizard.core.errors import AmlError
from amlwizard.core.paths import executable_name
from amlwizard.core.plain_text import plain_text

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.paths import Workspace

LAUNCHER: Final = "open_jupyter.py"
ICON: Final = "amlwizard.svg"
"""That of a shortcut; it lies beside the launcher."""
_END: Final = 16_384
"""How much of the log's end is looked at, in bytes."""
_LONGEST: Final = 300
"""Characters of a line that are told."""
_HEAD: Final = re.compile(r"\[(?P<level>[CEWID]) [^\]]*\] *")
"""What Jupyter begins its lines with: level, time and name of the part."""


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


def start_failure(workspace: Workspace) -> AmlError:
    """Return that JupyterLab did not start, with what its log says of the cause. Blocks."""
    log = jupyter_log(workspace)
    end = b""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
        end = file.read()
    cause = _cause(end.decode("utf-8", "replace").splitlines())
    return AmlError(
        "AML_JUPYTER_FAILED",
        path=str(log),
        cause=ToolText(cause, "JupyterLab") if cause else Phrase("ready.jupyter.silent"),
    )


def _cause(lines: list[str]) -> str:
    """Return the last line of a log that is an error or none of Jupyter's own, such as a traceback's; or else the last."""
    said = [line.strip() for line in lines if line.strip()]
    heads = [_HEAD.match(line) for line in said]
    telling = [line for line, head in zip(said, heads, strict=True) if head is None or head["level"] in "CE"]
    last = (telling or said or [""])[-1]
    return plain_text(_HEAD.sub("", last, count=1))[:_LONGEST]
