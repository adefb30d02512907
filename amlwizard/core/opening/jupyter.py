"""The JupyterLab of a workspace: how it is started, whether it runs, and how it is stopped.

It is the user's own program and no job: it has the user's environment and settings, and goes on when the window closes.
What it keeps while it runs lies in ``runtime/jupyter``, by which any later window, or a shortcut, finds it again.
"""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import psutil

from amlwizard.core.data_text import parse_json
from amlwizard.core.paths import executable_name
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.records import copy_atomically
from amlwizard.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.paths import Workspace

LAUNCHER: Final = "open_jupyter.py"
_STOP_SECONDS: Final = 10.0
"""How long it may take to shut down its kernels, for each of which it waits up to 5 s itself."""


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


def place_launcher(workspace: Workspace) -> Path:
    """Put what starts JupyterLab into the workspace, where shortcuts find it as well.

    Raises:
        OSError: it cannot be written.
    """
    workspace.jupyter.mkdir(parents=True, exist_ok=True)
    workspace.jupyter.chmod(0o700)  # pages in it lead into the server
    launcher = workspace.jupyter / LAUNCHER
    copy_atomically(resource("opening", LAUNCHER), launcher)
    return launcher


def running_servers(workspace: Workspace) -> list[psutil.Process]:
    """Return the processes of JupyterLab that run in this workspace; what a killed one left behind does not count."""
    found = []
    for record in workspace.jupyter.glob("jpserver-*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError, psutil.Error):
            server = psutil.Process(int(parse_json(read_plain_text(record))["pid"]))
            if server.status() != psutil.STATUS_ZOMBIE and _is_launcher(server.cmdline(), workspace):
                found.append(server)
    return found


def _is_launcher(command: list[str], workspace: Workspace) -> bool:
    """Tell whether a process runs what starts JupyterLab here, however the folder was spelled."""
    called = [word for word in command[1:] if word.endswith(LAUNCHER)]
    return bool(called) and (workspace.jupyter / LAUNCHER).samefile(called[0])


def stop_servers(workspace: Workspace) -> None:
    """Stop JupyterLab and its kernels. Blocks for seconds: call it in a thread.

    It is asked to shut down, which ends its kernels and terminals. What is left of it then is ended by force, but never
    more than the environment's own Python: the browser may have been started by JupyterLab, too.
    """
    for server in running_servers(workspace):
        with suppress(psutil.NoSuchProcess):
            own = [child for child in server.children(recursive=True) if _is_of_environment(child, workspace)]
            server.terminate()
            _, left = psutil.wait_procs([server], _STOP_SECONDS)
            for process in [*left, *own]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs([server, *own], _STOP_SECONDS)


def _is_of_environment(process: psutil.Process, workspace: Workspace) -> bool:
    with suppress(psutil.Error):
        return process.cmdline()[:1] != [] and process.cmdline()[0].startswith(str(workspace.venv))
    return False
