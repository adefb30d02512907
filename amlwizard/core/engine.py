"""The engine: turns choices into steps, runs them, and tells front ends what happens.

This is the interface that the window, the command line and ``api`` share; see DESIGN section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices
    from amlwizard.core.events import Emit, FinishedEvent, PlanEvent
    from amlwizard.core.facts import Facts
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.running import Runner

RunnerFactory = Callable[[], "Runner"]
FetcherFactory = Callable[["Choices"], "Fetcher"]


class Engine:
    """Runs one wish at a time on a workspace.

    ``install``, ``rebuild`` and ``verify`` emit their events and end with a ``FinishedEvent``, which they also return.
    They never raise for a failure, a refusal or a cancel: cancelling the task that awaits them stops all children, undoes
    the step in progress and returns a finished event of state ``cancelled``. Two callers with the same wish share one run;
    a different wish meanwhile ends at once with state ``busy``.
    """

    def __init__(self, make_runner: RunnerFactory, make_fetcher: FetcherFactory, language: str = "en") -> None:
        self._make_runner = make_runner
        self._make_fetcher = make_fetcher
        self.language = language

    async def detect(self, choices: Choices, emit: Emit) -> Facts:
        """Probe the computer, emit a ``DetectedEvent``, and return the findings. Nothing is written.

        Raises:
            RefusedError: an explicit choice does not work.
        """
        raise NotImplementedError

    async def plan(self, choices: Choices, emit: Emit) -> PlanEvent:
        """Detect, then emit and return what ``install`` would do. Nothing is written.

        Raises:
            RefusedError: the choices cannot be used.
        """
        raise NotImplementedError

    async def install(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Make the workspace ready; do nothing where it is."""
        raise NotImplementedError

    async def rebuild(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Build the environment afresh from the lock (``choices.refresh``: from newly resolved requirements)."""
        raise NotImplementedError

    async def verify(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Prove that the environment works; change nothing. State ``ready`` or ``not_ready``."""
        raise NotImplementedError
