"""An outside of the pages about a ready environment that opens nothing and notes what was asked for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from amlwizard.core.opening.jupyter import JupyterState, start_failure
from amlwizard.core.opening.shells import Shell
from amlwizard.core.paths import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.errors import AmlError


class FakeOpening:
    """Notes in ``calls`` what was asked for.

    ``state`` is what JupyterLab does, if ``jupyterlab`` tells that it is there; ``refuses`` is raised by whatever is asked.
    ``looked_in`` are the threads in which was looked whether JupyterLab is there, which takes until ``held`` is set.
    """

    def __init__(self) -> None:
        self.state = JupyterState.STOPPED
        self.jupyterlab = True
        self.held = threading.Event()
        self.held.set()
        self.looked_in: set[int] = set()
        self.refuses: AmlError | None = None
        self.calls: list[tuple[str, object]] = []

    def has_jupyter(self, root: Path) -> bool:
        self.looked_in.add(threading.get_ident())
        assert self.held.wait(80)
        return self.jupyterlab

    def jupyter(self, root: Path) -> JupyterState:
        return self.state

    def start_jupyter(self, root: Path, language: str) -> None:
        self._note("start_jupyter", language)
        self.state = JupyterState.RUNNING

    def stop_jupyter(self, root: Path) -> None:
        self._note("stop_jupyter", root)
        self.state = JupyterState.STOPPED

    def jupyter_failure(self, root: Path) -> AmlError:
        return start_failure(Workspace(root))

    def open_terminal(self, root: Path) -> None:
        self._note("open_terminal", root)

    def interpreter(self, root: Path) -> str:
        return f"{root}/.venv/bin/python"

    def activation(self, root: Path, shell: Shell) -> str:
        return f"source {root}/.venv/bin/activate # {shell}"

    def shells(self) -> list[Shell]:
        return [Shell.BASH, Shell.FISH]

    def add_shortcut(self, root: Path, place: Path) -> Path:
        self._note("add_shortcut", place)
        return place / "aml.desktop"

    def add_kernel(self, root: Path) -> str:
        self._note("add_kernel", root)
        return "aml-01234567"

    def _note(self, name: str, what: object) -> None:
        self.calls.append((name, what))
        if self.refuses is not None:
            raise self.refuses
