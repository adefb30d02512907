"""The processes of a workspace's JupyterLab: what starts them, which of them run, and how they are stopped."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import psutil

from amlwizard.core.data_text import parse_json
from amlwizard.core.opening.jupyter import ICON, LAUNCHER
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.records import copy_atomically
from amlwizard.core.root_checks import refuse_linked_folders
from amlwizard.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.paths import Workspace

_STOP_SECONDS: Final = 10.0
"""How long it may take to shut down its kernels, for each of which it waits up to 5 s itself."""
_LOOK_SECONDS: Final = 0.02


def place_launcher(workspace: Workspace) -> Path:
    """Put what starts JupyterLab into the workspace, where shortcuts find it as well.

    Raises:
        RefusedError: it would lie elsewhere (``AML_FOLDER_LINK``).
        OSError: it cannot be written.
    """
    refuse_linked_folders(workspace, workspace.jupyter)
    workspace.jupyter.mkdir(parents=True, exist_ok=True)
    workspace.jupyter.chmod(0o700)  # pages in it lead into the server
    copy_atomically(resource("icons", ICON), workspace.jupyter / ICON)
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


def stop_servers(workspace: Workspace) -> bool:
    """Stop JupyterLab with its kernels and terminals; tell whether it was running. Blocks for seconds.

    It is asked to shut down, which ends them. What is left of it then is ended by force, but nothing else that it has
    started: that may be the browser, or what the user let run on in a terminal.
    """
    servers = running_servers(workspace)
    for server in servers:
        with suppress(psutil.NoSuchProcess):
            own = [process for child in server.children() for process in _parts(child, workspace)]
            server.terminate()
            for process in [*_await_end([server]), *own]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            _await_end([server, *own])
    return bool(servers)


def _await_end(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Wait until these have ended, and return those that go on; one that its parent has not taken note of has ended."""
    until = time.monotonic() + _STOP_SECONDS
    while (left := [process for process in processes if _goes_on(process)]) and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
    return left


def _goes_on(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _parts(child: psutil.Process, workspace: Workspace) -> list[psutil.Process]:
    """Return the processes of a kernel, or the shell of a terminal, or nothing where a child is neither."""
    with suppress(psutil.Error, OSError, IndexError):
        if child.cmdline()[0].startswith(str(workspace.venv)):
            return [child, *child.children(recursive=True)]
        if sys.platform != "win32" and os.getsid(child.pid) == child.pid and child.terminal() is not None:
            return [child]
    return []
