"""The engine: turns choices into steps, runs them, and tells front ends what happens.

This is the interface that the window, the command line and ``api`` share; see DESIGN section 3.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amlwizard.core.errors import AmlError, BusyError
from amlwizard.core.events import StepEvent, StepState
from amlwizard.core.locked_hints import note_locks
from amlwizard.core.outcome import cancelled, finished_event
from amlwizard.core.paths import Workspace
from amlwizard.core.readiness import already_ready
from amlwizard.core.root_reach import refuse_out_of_reach

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.diagnose.reaching import NetworkCheck
    from amlwizard.core.diagnose.request import Request
    from amlwizard.core.events import Emit, Event, FinishedEvent, PlanEvent
    from amlwizard.core.facts import Facts
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.running import Runner
    from amlwizard.core.session import Session

RunnerFactory = Callable[[], "Runner"]
FetcherFactory = Callable[["Choices"], "Fetcher"]


@dataclass
class _SharedRun:
    """One run and those who listen to it."""

    kind: str
    choices: Choices
    listeners: list[Emit] = field(default_factory=list)
    session: Session | None = None
    task: asyncio.Task[FinishedEvent] | None = None

    def emit(self, event: Event) -> None:
        for listener in list(self.listeners):
            listener(event)


class Engine:
    """Runs one wish at a time on a workspace.

    Its kinds of run, such as ``install``, emit their events and end with a ``FinishedEvent``, which they also return.
    They never raise for a failure, a refusal or a cancel: cancelling the task that awaits them stops all children, undoes
    the step in progress and returns a finished event of state ``cancelled``. Two callers with the same wish share one run;
    a different wish meanwhile ends at once with state ``busy``.
    """

    def __init__(self, make_runner: RunnerFactory, make_fetcher: FetcherFactory, language: str = "en") -> None:
        self._make_runner = make_runner
        self._make_fetcher = make_fetcher
        self.language = language
        self._current: _SharedRun | None = None

    async def detect(self, choices: Choices, emit: Emit) -> Facts:
        """Probe the computer, emit a ``DetectedEvent``, and return the findings. Nothing is written.

        Raises:
            RefusedError: an explicit choice does not work.
        """
        await asyncio.to_thread(_load_looks)
        from amlwizard.core.runs.look import detect

        async with self._session(choices, emit) as session:
            return await detect(session)

    async def plan(self, choices: Choices, emit: Emit) -> PlanEvent:
        """Detect, then emit and return what ``install`` would do, or ``update`` where the choices ask for one.

        Nothing is written.

        Raises:
            RefusedError: the choices cannot be used.
        """
        await asyncio.to_thread(_load_looks)
        from amlwizard.core.runs.look import plan

        async with self._session(choices, emit) as session:
            return await plan(session)

    async def install(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Make the workspace ready; do nothing where it is."""
        return await self._shared("install", choices, emit)

    async def rebuild(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Build the environment afresh from the lock (``choices.refresh``: from newly resolved requirements)."""
        return await self._shared("rebuild", choices, emit)

    async def verify(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Prove that the environment works; change nothing. State ``ready`` or ``not_ready``."""
        return await self._shared("verify", choices, emit)

    async def make_bundle(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Make the bundle of ``choices.order``; the environment stays as it is."""
        return await self._shared("bundle", choices, emit)

    async def share(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Save the lock at ``choices.share`` so that a colleague can use it; the workspace stays as it is."""
        return await self._shared("share", choices, emit)

    async def store(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Tell what the store holds and lacks by a ``StoreEvent``; with ``choices.prune`` free what nothing needs first."""
        return await self._shared("store", choices, emit)

    async def repair(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Mend the environment with the least work that its state needs; do nothing where it works."""
        return await self._shared("repair", choices, emit)

    async def change(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Build the environment with ``choices.add`` besides, or without ``choices.remove``; the rest stays as it is."""
        return await self._shared("change", choices, emit)

    async def undo(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Build the environment from the lock before the last change; doing it twice changes nothing."""
        return await self._shared("undo", choices, emit)

    async def update(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Bring ``choices.update`` up to date, the environment's Python or uv; do nothing where nothing is newer."""
        return await self._shared("update", choices, emit)

    async def uninstall(self, choices: Choices, emit: Emit) -> FinishedEvent:
        """Remove what was created in the workspace; what belongs to the user stays."""
        return await self._shared("uninstall", choices, emit)

    async def clear_up(self, choices: Choices, emit: Emit) -> None:
        """End what a run left that died, before a job starts; one line says so. What cannot be cleared up is left."""
        from amlwizard.core.dead_runs import is_interrupted

        with suppress(AmlError):
            if await asyncio.to_thread(is_interrupted, Workspace(choices.root)):
                await asyncio.to_thread(_load_looks)
                async with self._session(choices, emit) as session:
                    await session.end_dead_runs("run")

    async def diagnose(self, request: Request, out: Path, emit: Emit) -> FinishedEvent:
        """Write a report on this computer and the workspace to ``out``, which is absolute.

        Nothing in the workspace is changed, whoever holds it.
        """
        await asyncio.to_thread(_load_looks)
        from amlwizard.core.diagnose.run import diagnose

        emit(StepEvent("diagnose", StepState.STARTED))
        state = StepState.DONE
        try:
            finished = await diagnose(request, out, self._looking_session, self._make_fetcher, self.language)
        except AmlError as error:
            state = StepState.FAILED
            finished = finished_event(error, request.choices.root, self.language)
        except asyncio.CancelledError:
            state = StepState.CANCELLED
            finished = finished_event(cancelled(), request.choices.root, self.language)
        emit(StepEvent("diagnose", state, seconds=finished.seconds))
        emit(finished)
        return finished

    async def check_network(self, choices: Choices, facts: Facts) -> NetworkCheck:
        """Reach every host that the choices need, and return how that went, with a text for IT that says what to allow.

        Raises:
            RefusedError: the proxy or the certificate file that was chosen cannot be used.
        """
        await asyncio.to_thread(_load_check)
        from amlwizard.core.diagnose.reaching import checked_network

        return await checked_network(choices, facts, self._looking_session, self._make_fetcher, self.language)

    async def report(self, choices: Choices, kind: str, event: FinishedEvent, more: Sequence[str]) -> str:
        """Return the short report on a run that has ended, redacted, with more lines below; takes up to a minute."""
        await asyncio.to_thread(_load_report)
        from amlwizard.core.diagnose.report import Ended
        from amlwizard.core.diagnose.request import request_for
        from amlwizard.core.diagnose.run import copied_report

        request = await asyncio.to_thread(request_for, choices, os.environ)
        return await copied_report(
            request, Ended(kind, event), more, self._looking_session, self._make_fetcher, self.language
        )

    def processes(self) -> int:
        """Return how many processes of the present run are alive. Blocks for a moment, so it is called in a thread."""
        run = self._current
        return run.session.runner.processes() if run is not None and run.session is not None else 0

    @asynccontextmanager
    async def _session(self, choices: Choices, emit: Emit) -> AsyncIterator[Session]:
        """Open a session; an error that leaves it, or keeps it from being opened, knows what the organisation has fixed."""
        from amlwizard.core.session import Session

        def prepare() -> Fetcher:  # asks drives, and reads certificates
            refuse_out_of_reach(choices.root)
            return self._make_fetcher(choices)

        try:
            fetcher = await asyncio.to_thread(prepare)
            async with Session(choices, self._make_runner(), fetcher, emit, self.language) as session:
                yield session
        except AmlError as error:
            note_locks(error, choices.organisation)
            raise

    def _looking_session(self, choices: Choices) -> Session:
        """Return a session that tells nobody, and that nothing wrong with the network can keep from looking."""
        from amlwizard.core.diagnose.no_network import NoNetwork
        from amlwizard.core.session import Session

        return Session(choices, self._make_runner(), NoNetwork(), _nobody, self.language)

    async def _shared(self, kind: str, choices: Choices, emit: Emit) -> FinishedEvent:
        """Join the run with the same wish, or begin one; the last caller who gives up cancels it."""
        run = self._current
        if run is not None and (run.kind, run.choices) != (kind, choices):
            busy = finished_event(BusyError("AML_ENGINE_BUSY", running=run.kind), choices.root, self.language)
            emit(busy)
            return busy
        if run is None or run.task is None:
            run = _SharedRun(kind, choices)
            self._current = run
            run.task = asyncio.ensure_future(self._run(run))
        run.listeners.append(emit)
        task = run.task
        while True:
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                if run.listeners == [emit]:
                    task.cancel()
                    run.listeners.append(_nobody)  # a second cancel must not cut the undoing short
                elif emit in run.listeners and _nobody not in run.listeners:
                    run.listeners.remove(emit)
                    raise
                if task.done():
                    return task.result()  # or raise what it was ended by: there is nothing left to wait for

    async def _prepare(self, kind: str, choices: Choices) -> FinishedEvent | None:
        """Return the end of a run that has nothing to do, else load what runs the steps.

        A cancel meanwhile is an end as well, since nothing was begun.
        """

        def prepare() -> FinishedEvent | None:
            refuse_out_of_reach(choices.root)
            finished = already_ready(choices, self.language) if kind == "install" else None
            if finished is None:
                _load_run(kind)
            return finished

        try:
            return await asyncio.to_thread(prepare)
        except asyncio.CancelledError:
            return finished_event(cancelled(), choices.root, self.language)

    async def _run(self, run: _SharedRun) -> FinishedEvent:
        finished: FinishedEvent | None = None
        try:
            finished = await self._prepare(run.kind, run.choices)
            if finished is not None:
                run.emit(finished)
                return finished
            async with self._session(run.choices, run.emit) as session:
                run.session = session
                from amlwizard.core.runs import work_of

                finished = await session.perform(work_of(run.kind), tells_state=run.kind != "uninstall")
        except AmlError as error:  # what the session itself needs is refused, such as a certificate file
            finished = finished_event(error, run.choices.root, self.language)
            run.emit(finished)
        except asyncio.CancelledError:
            if finished is None:  # otherwise it came after the end, and what has been said holds
                finished = finished_event(cancelled(), run.choices.root, self.language)
                run.emit(finished)
        finally:
            self._current = None
        return finished


def _load_run(kind: str) -> None:
    """Load what a run needs: a ready workspace needs none of it, and an event loop must not wait for it.

    Named as it is imported later: PySide6 reads the source of each module at the first import of a name out of it.
    """
    from amlwizard.core.runs import work_of
    from amlwizard.core.session import Session  # noqa: F401

    work_of(kind)


def _load_looks() -> None:
    """Load what looks at the computer and plans, for the same reason."""
    from amlwizard.core.runs.look import detect  # noqa: F401
    from amlwizard.core.session import Session  # noqa: F401


def _load_check() -> None:
    """Load what looks at the network, for the same reason."""
    from amlwizard.core.diagnose.no_network import NoNetwork  # noqa: F401
    from amlwizard.core.diagnose.reaching import checked_network  # noqa: F401

    _load_looks()


def _load_report() -> None:
    """Load what makes a report, for the same reason."""
    from amlwizard.core.diagnose.report import Ended  # noqa: F401
    from amlwizard.core.diagnose.request import request_for  # noqa: F401
    from amlwizard.core.diagnose.run import copied_report  # noqa: F401

    _load_looks()


def _nobody(_event: Event) -> None:
    """Stand in the place of a listener while a cancelled run ends."""
