"""What the window needs from outside; the composition root brings it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.engine import Engine


@dataclass(frozen=True)
class Services:
    """The outside of the window.

    Attributes:
        make_engine: called once, when the engine is first needed, so that the window is painted before it is loaded.
        defaults: the choices that the settings and the command line give.
        free_bytes: the free space of the file system that a folder is on, or will be; None where that cannot be told.
        has_jupyter: whether the environment of a workspace holds JupyterLab.
        open_jupyter: starts JupyterLab of a workspace; it outlives the window. False where it did not start.
    """

    make_engine: Callable[[], Engine]
    defaults: Choices
    free_bytes: Callable[[Path], int | None]
    has_jupyter: Callable[[Path], bool]
    open_jupyter: Callable[[Path], bool]
