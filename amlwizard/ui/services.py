"""What the window needs from outside; the composition root brings it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from threading import Event

    from amlwizard.core.choices import Choices
    from amlwizard.core.disk_use import DiskUse
    from amlwizard.core.engine import Engine
    from amlwizard.core.errors import AmlError
    from amlwizard.core.facts import EnvironmentFacts, Holder
    from amlwizard.core.network_settings import NetworkSettings
    from amlwizard.core.opening.jupyter import JupyterState
    from amlwizard.core.opening.shells import Shell


@dataclass(frozen=True)
class Defaults:
    """What the window starts with.

    Attributes:
        choices: the choices that settings, variables and the command line give.
        language: the one of the settings, or None.
        problem: why the settings cannot be used; nothing may be set up before that is mended.
        geometry: the size and place of the window, as Qt wrote them, or nothing.
        file: the settings file that has the problem, if it is in one.
    """

    choices: Choices
    language: str | None = None
    problem: AmlError | None = None
    geometry: str = ""
    file: Path | None = None


@dataclass(frozen=True)
class Login:
    """A user and a password for the origin of an address; ``keep`` wants them in the system's keyring."""

    url: str
    user: str
    password: str = field(repr=False)
    keep: bool = False


class NetworkService(Protocol):
    """The outside of the Network page. All methods are called in a thread."""

    def read(self) -> NetworkSettings:
        """Return what holds on this computer.

        Raises:
            AmlError: the settings cannot be read.
        """
        ...

    def save(self, before: NetworkSettings, values: Mapping[str, str], login: Login | None) -> None:
        """Write what was changed since ``before`` into the user's settings, and take a login for this run.

        Raises:
            AmlError: a value cannot be used, and nothing was changed.
            OSError: the settings cannot be written.
        """
        ...

    def keep(self, login: Login) -> None:
        """Keep a login beyond this run.

        Raises:
            AmlError: it cannot be kept.
        """
        ...

    def forget(self, url: str) -> None:
        """Use and keep no login for the origin of an address any more.

        Raises:
            AmlError: the keyring still has it.
        """
        ...


class OpeningService(Protocol):
    """How the user opens what was made. What touches the disk is called in a thread."""

    def has_jupyter(self, root: Path) -> bool:
        """Tell whether the environment of a workspace holds JupyterLab."""
        ...

    def jupyter(self, root: Path) -> JupyterState:
        """Return what the JupyterLab of a workspace does."""
        ...

    def start_jupyter(self, root: Path, language: str) -> None:
        """Start JupyterLab, or show the one that runs; it outlives the window.

        Raises:
            AmlError: it cannot be started.
        """
        ...

    def stop_jupyter(self, root: Path) -> None:
        """Stop JupyterLab and return when nothing of it is left."""
        ...

    def jupyter_failure(self, root: Path) -> AmlError:
        """Return why JupyterLab did not start."""
        ...

    def open_terminal(self, root: Path) -> None:
        """Open a terminal with the environment active.

        Raises:
            AmlError: there is none, or it cannot be started.
        """
        ...

    def interpreter(self, root: Path) -> str:
        """Return the path of the environment's interpreter."""
        ...

    def activation(self, root: Path, shell: Shell) -> str:
        """Return the line that makes a shell use the environment."""
        ...

    def shells(self) -> Sequence[Shell]:
        """Return the shells of this system, the user's own first."""
        ...

    def add_shortcut(self, root: Path, place: Path) -> Path:
        """Put a shortcut to JupyterLab into a folder; return where it is.

        Raises:
            AmlError: something else is there, it cannot be written, or a run holds the workspace.
        """
        ...

    def add_kernel(self, root: Path) -> str:
        """Register the environment as a kernel for other Jupyters of the user; return its name there.

        Raises:
            AmlError: as ``add_shortcut``.
        """
        ...


class MemoryService(Protocol):
    """What is remembered for the next start. All methods are called in a thread."""

    def known(self) -> tuple[Path, ...]:
        """Return the folders of the known workspaces."""
        ...

    def add(self, root: Path) -> None:
        """Know a workspace from now on; it is the one that the next window opens with."""
        ...

    def forget(self, root: Path) -> None:
        """Know a workspace no more; nothing is done to the folder itself."""
        ...

    def remember(self, choices: Choices) -> None:
        """Let the next window start with these choices."""
        ...

    def keep_geometry(self, geometry: str) -> None:
        """Let the next window have this size and place."""
        ...

    def look(self, root: Path) -> EnvironmentFacts | None:
        """Return the state of a workspace's environment, whatever it was made from, or None where the folder is gone.

        Raises:
            OSError: the folder cannot be reached.
        """
        ...

    def new_folder(self, beside: Path) -> Path:
        """Return a folder beside another one that does not exist yet."""
        ...


@dataclass(frozen=True)
class Services:
    """The outside of the window.

    Attributes:
        make_engine: called once, when the engine is first needed, so that the window is painted before it is loaded.
        defaults: what the window starts with.
        read_defaults: reads the settings again. Called in a thread.
        free_bytes: the free space of the file system that a folder is on, or will be; None where that cannot be told.
            Called in a thread.
        environment_state: the state of the environment that a workspace holds, judged by the choices; starts nothing.
            Raises ``RefusedError`` where the folder cannot be a workspace. Called in a thread.
        opening: opens what was made.
        run_holder: who holds a workspace for a run at this moment, or None. Called in a thread.
        folder_mark: another value means that somebody has changed the environment of a workspace. Called in a thread.
        written_bytes: how many bytes lie where runs write in a workspace. Called in a thread.
        network: reads and changes the settings of the network.
        can_undo: whether there is a lock from before the last change. Called in a thread.
        disk_use: what a workspace takes on the disk; ends early when the event is set. Called in a thread.
        memory: the known workspaces, the last choices and the window's size.
        save_log: saves the log of a run, as ``run_log.save_log`` does with the root of the workspace. Called in a thread.
        held_awake: what keeps the computer from falling asleep as long as it is entered.
        write_refusal: why this account cannot change a workspace that is there, or None. Called in a thread.
    """

    make_engine: Callable[[], Engine]
    defaults: Defaults
    read_defaults: Callable[[], Defaults]
    free_bytes: Callable[[Path], int | None]
    environment_state: Callable[[Choices], EnvironmentFacts]
    opening: OpeningService
    run_holder: Callable[[Path], Holder | None]
    folder_mark: Callable[[Path], object]
    written_bytes: Callable[[Path], int]
    network: NetworkService
    can_undo: Callable[[Path], bool]
    disk_use: Callable[[Path, Event], DiskUse]
    memory: MemoryService
    save_log: Callable[[Path, str | None, Sequence[str], Path], None]
    held_awake: Callable[[], AbstractContextManager[None]]
    write_refusal: Callable[[Path], AmlError | None]
