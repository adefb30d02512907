"""What the window needs from outside; the composition root brings it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.engine import Engine
    from amlwizard.core.errors import AmlError
    from amlwizard.core.facts import EnvironmentFacts, Holder


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
