"""The outside of what the window opens: JupyterLab, a terminal, and what is put elsewhere when the user asks for it."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.errors import AmlError
from amlwizard.core.opening import jupyter
from amlwizard.core.opening.jupyter import JupyterState
from amlwizard.core.opening.shells import SHELLS, Shell, activation, shell_kind
from amlwizard.core.paths import Workspace
from amlwizard.core.system_errors import reason_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

    from amlwizard.core.opening.outside import OutsideFile
    from amlwizard.core.opening.terminals import Opening


@dataclass
class _Start:
    """A start of JupyterLab from this window, and whether it came to run."""

    process: subprocess.Popen[bytes]
    ran: bool = False


class WindowOpening:
    """What the pages about a ready environment offer; see ``ui.services.OpeningService``.

    What is called in a thread loads there what it needs, so that the window is painted before.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Make the service; ``environ`` are the variables of this process."""
        self._environ = environ
        self._starts: dict[Path, _Start] = {}
        self._workspaces: dict[Path, Workspace] = {}
        self._opened: list[subprocess.Popen[bytes]] = []

    def has_jupyter(self, root: Path) -> bool:
        """Tell whether the environment holds JupyterLab."""
        return jupyter.has_jupyter(Workspace(root))

    def jupyter(self, root: Path) -> JupyterState:
        """Return what JupyterLab does, whichever window or shortcut has started it."""
        from amlwizard.core.opening.servers import running_servers

        self._opened = [process for process in self._opened if process.poll() is None]
        start = self._starts.get(root)
        code = start.process.poll() if start is not None else None
        if running_servers(self._opened_by(root)):
            if start is not None:
                start.ran = True
            return JupyterState.RUNNING
        if start is None or start.ran:
            return JupyterState.STOPPED
        if code is None:
            return JupyterState.STARTING
        return JupyterState.FAILED if code else JupyterState.STOPPED

    def start_jupyter(self, root: Path, language: str) -> None:
        """Start JupyterLab where a first notebook waits, or show the one that runs."""
        from amlwizard.core.opening.servers import place_launcher
        from amlwizard.core.opening.starter import write_starter
        from amlwizard.process.lasting import start_lasting

        workspace = self._opened_by(root)
        state = self.jupyter(root)
        if state is JupyterState.STARTING:
            return
        try:
            launcher = place_launcher(workspace)
            write_starter(workspace, language)
            process = start_lasting([str(workspace.python), str(launcher)], root)
        except OSError as error:
            raise AmlError("AML_JUPYTER_NOT_STARTED", path=str(workspace.python), reason=reason_of(error)) from error
        self._opened.append(process)
        if state is not JupyterState.RUNNING:
            self._starts[root] = _Start(process)

    def stop_jupyter(self, root: Path) -> None:
        """Stop JupyterLab, also while it is starting, and return when nothing of it is left."""
        from amlwizard.core.opening.servers import stop_servers

        stop_servers(self._opened_by(root))
        start = self._starts.pop(root, None)
        if start is not None:
            start.process.terminate()
            start.process.wait()

    def jupyter_failure(self, root: Path) -> AmlError:
        """Return why JupyterLab did not start."""
        return jupyter.start_failure(self._opened_by(root))

    def open_terminal(self, root: Path) -> None:
        """Open a terminal in the workspace with the environment active."""
        from amlwizard.process.lasting import start_lasting

        opening = self._terminal(self._opened_by(root))
        if opening is None:
            raise AmlError("AML_TERMINAL_NONE")
        try:
            process = start_lasting(opening.command, root, opening.variables, console=opening.console)
        except OSError as error:
            raise AmlError("AML_TERMINAL_NOT_STARTED", path=opening.command[0], reason=reason_of(error)) from error
        self._opened.append(process)

    def _terminal(self, workspace: Workspace) -> Opening | None:
        from amlwizard.core.opening.terminals import (
            SCRIPT,
            linux_terminal,
            mac_terminal,
            terminal_files,
            windows_terminal,
        )
        from amlwizard.core.records import write_text_atomically
        from amlwizard.core.root_checks import refuse_linked_folders

        refuse_linked_folders(workspace, workspace.terminal)

        def which(name: str) -> str | None:
            return shutil.which(name, path=self._environ.get("PATH"))

        if sys.platform == "win32":
            return windows_terminal(which, self._environ, workspace.venv)
        script = workspace.terminal / SCRIPT
        opening = mac_terminal(script) if sys.platform == "darwin" else linux_terminal(which, script)
        if opening is not None:
            place = workspace.terminal.parent.parent  # the workspace itself, or what its guest has
            files = terminal_files(place, workspace.venv, workspace.terminal, _user_shell(self._environ))
            try:
                for name, text in files.items():
                    write_text_atomically(workspace.terminal / name, text)
                script.chmod(0o755)
            except OSError as error:
                raise AmlError("AML_TERMINAL_NOT_STARTED", path=str(script), reason=reason_of(error)) from error
        return opening

    def _opened_by(self, root: Path) -> Workspace:
        """Return the workspace as this account can open it."""
        from amlwizard.core.opening.guests import opened_by

        if root not in self._workspaces:
            self._workspaces[root] = opened_by(Workspace(root))
        return self._workspaces[root]

    def interpreter(self, root: Path) -> str:
        """Return the path of the environment's interpreter."""
        return str(Workspace(root).python)

    def activation(self, root: Path, shell: Shell) -> str:
        """Return the line that makes a shell use the environment."""
        return activation(shell, Workspace(root).venv)

    def shells(self) -> list[Shell]:
        """Return the shells of this system, the user's own first."""
        own = shell_kind(_user_shell(self._environ)) if os.name != "nt" else None
        return sorted(SHELLS[os.name], key=lambda shell: shell is not own)

    def add_shortcut(self, root: Path, place: Path) -> Path:
        """Put a shortcut to JupyterLab into a folder, and list it in the receipt."""
        from amlwizard.core.opening import outside

        workspace = Workspace(root)
        launcher = workspace.jupyter / jupyter.LAUNCHER
        return self._put(workspace, outside.shortcut(root, launcher, workspace.python, place, sys.platform))

    def add_kernel(self, root: Path) -> str:
        """Register the environment for other Jupyters of the user, and list that in the receipt."""
        from amlwizard.core.opening import outside

        workspace = Workspace(root)
        data = outside.jupyter_data(self._environ, Path.home(), sys.platform)
        return self._put(workspace, outside.kernel(root, workspace.python, data)).parent.name

    @staticmethod
    def _put(workspace: Workspace, file: OutsideFile) -> Path:
        from amlwizard.core.opening.outside import put_outside
        from amlwizard.core.opening.servers import place_launcher
        from amlwizard.core.workspace_lock import hold_run

        with hold_run(workspace, file.kind):  # nobody else writes the receipt meanwhile
            try:
                place_launcher(workspace)
            except OSError as error:
                raise AmlError("AML_PLACE_NOT_WRITTEN", path=str(workspace.jupyter), reason=reason_of(error)) from error
            return put_outside(workspace, file)


def _user_shell(environ: Mapping[str, str]) -> str:
    """Return the user's shell; where a program was started from another one, SHELL still names it."""
    return environ.get("SHELL") or "/bin/sh"
