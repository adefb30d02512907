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


@dataclass(frozen=True)
class Defaults:
    """What the window starts with.

    Attributes:
        choices: the choices that settings, variables and the command line give.
        language: the one of the settings, or None.
        problem: why some settings are left out.
        usable: False where nothing may be set up before the problem is mended.
    """

    choices: Choices
    language: str | None = None
    problem: AmlError | None = None
    usable: bool = True


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


@dataclass(frozen=True)
class Services:
    """The outside of the window.

    Attributes:
        make_engine: called once, when the engine is first needed, so that the window is painted before it is loaded.
        defaults: what the window starts with.
        read_defaults: reads the settings again.
        free_bytes: the free space of the file system that a folder is on, or will be; None where that cannot be told.
            Called in a thread.
        environment_state: the state of the environment that a workspace holds, judged by the choices; starts nothing.
            Raises ``RefusedError`` where the folder cannot be a workspace. Called in a thread.
        has_jupyter: whether the environment of a workspace holds JupyterLab.
        open_jupyter: starts JupyterLab of a workspace; it outlives the window. False where it did not start.
        run_holder: who holds a workspace for a run at this moment, or None. Called in a thread.
        folder_mark: another value means that somebody has changed the environment of a workspace. Called in a thread.
        written_bytes: how many bytes lie where runs write in a workspace. Called in a thread.
        network: reads and changes the settings of the network.
        can_undo: whether there is a lock from before the last change. Called in a thread.
        disk_use: what a workspace takes on the disk; ends early when the event is set. Called in a thread.
        save_log: saves the log of a run, as ``run_log.save_log`` does with the root of the workspace. Called in a thread.
        held_awake: what keeps the computer from falling asleep as long as it is entered.
    """

    make_engine: Callable[[], Engine]
    defaults: Defaults
    read_defaults: Callable[[], Defaults]
    free_bytes: Callable[[Path], int | None]
    environment_state: Callable[[Choices], EnvironmentFacts]
    has_jupyter: Callable[[Path], bool]
    open_jupyter: Callable[[Path], bool]
    run_holder: Callable[[Path], Holder | None]
    folder_mark: Callable[[Path], object]
    written_bytes: Callable[[Path], int]
    network: NetworkService
    can_undo: Callable[[Path], bool]
    disk_use: Callable[[Path, Event], DiskUse]
    save_log: Callable[[Path, str | None, Sequence[str], Path], None]
    held_awake: Callable[[], AbstractContextManager[None]]
