"""Between the pages and the engine: one task at a time, events turned into Qt signals."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from PySide6.QtCore import QObject, Signal

from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.events import (
    BundleEvent,
    ChangesEvent,
    FinishedEvent,
    LogEvent,
    PlanEvent,
    RunState,
    StepEvent,
)
from amlwizard.core.facts import Holder
from amlwizard.ui.endings import HELD
from amlwizard.ui.foresight import Foresight
from amlwizard.ui.network import NetworkDesk
from amlwizard.ui.wishes import Job, Wish, network_choices
from amlwizard.ui.workspaces import WorkspacesDesk

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.engine import Engine
    from amlwizard.core.events import Event
    from amlwizard.core.facts import EnvironmentFacts, Facts
    from amlwizard.ui.services import Services
    from amlwizard.ui.words import Words

    _Work = Callable[[], Coroutine[Any, Any, object]]

_COUNT_SECONDS: Final = 0.2
_WATCH_SECONDS: Final = 0.5
_REST: Final = 20
"""How many times as long as a measurement it rests: the disk is for the run, which writes tens of thousands of files."""
_log = logging.getLogger(__name__)


class Controller(QObject):
    """Runs wishes and surveys on the engine and keeps what the pages show.

    A *survey* is detection followed by a plan; it changes nothing, and gives way to whatever is asked next. While another
    run holds the folder, from the command line perhaps, it waits for that one's end, and so does a wish that met it.

    Signals:
        survey_changed: ``environment``, ``holder``, ``write_refusal``, ``free``, ``facts``, ``bundle``, ``plan``,
            ``refusal`` or ``surveying`` are new.
        started: a wish (``Wish``) begins.
        changes_told: what the running wish changes in the environment (``ChangesEvent``).
        planned: the running wish has a plan (``PlanEvent``).
        step_changed: a ``StepEvent``.
        stopping: how many processes of the cancelled wish are still alive; told several times.
        finished: the ``FinishedEvent`` of the running wish.
        reported: the report on the last wish, or why (``AmlError``) there is none.
        log_saved: the log has been saved at a path, or why (``AmlError``) it has not.
        settled: no task is left.

    Attributes:
        bundle: what the chosen bundle is, as in a ``BundleEvent``; known before it is refused.
        environment: the state of the environment in the surveyed folder, known long before the ``facts``.
        holder: the run of somebody else that holds the folder of the last survey or wish, or None.
        write_refusal: why this account cannot change that folder, or None; its environment can be used all the same.
        can_undo: whether the folder of the last survey has a lock to go back to.
        remarks: what the survey has to say although nothing is wrong, in whole sentences.
        written: how many bytes the running wish has written since ``measure`` was called first after ``forget_written``.
        network: what goes on about the settings of the network.
        foresight: what is found out before a job is asked for; a wish that begins ends that.
        workspaces: the known workspaces, and what is remembered besides.
        log_sink: gets each line of the log; a plain callable, because a signal for each of a million lines is too slow.
    """

    survey_changed = Signal()
    started = Signal(object)
    planned = Signal(object)
    changes_told = Signal(object)
    step_changed = Signal(object)
    stopping = Signal(int)
    finished = Signal(object)
    log_saved = Signal(str, object)
    reported = Signal(str, object)
    settled = Signal()

    def __init__(self, services: Services, words: Words) -> None:
        super().__init__()
        self._services = services
        self._engine: Engine | None = None
        self._words = words
        self._task: asyncio.Task[object] | None = None
        self._count: asyncio.Task[object] | None = None
        self._beside: set[asyncio.Task[Any]] = set()
        self._mark: object = None
        self._measuring: asyncio.Task[None] | None = None
        self._measured: int | None = None
        self._rests_until = 0.0
        self._alive: set[asyncio.Task[object]] = set()
        self.wish: Wish | None = None
        self.running = False
        self.surveying = False
        self.surveyed: Choices | None = None
        self.environment: EnvironmentFacts | None = None
        self.holder: Holder | None = None
        self.write_refusal: AmlError | None = None
        self.facts: Facts | None = None
        self.bundle: dict[str, Any] | None = None
        self.plan: PlanEvent | None = None
        self.refusal: AmlError | None = None
        self.remarks: tuple[str, ...] = ()
        self.can_undo = False
        self.free: int | None = None
        self.written = 0
        self.log_sink: Callable[[LogEvent], None] = lambda _event: None
        self.network = NetworkDesk(services, self._engine_now, lambda: self.facts, self.begin_beside)
        self.foresight = Foresight(self._engine_now, self.begin_beside)
        self.workspaces = WorkspacesDesk(services.memory, self.begin_beside)
        words.changed.connect(self._pass_language)

    @property
    def idle(self) -> bool:
        """Tell whether no task is left."""
        return not self._alive

    def survey(self, choices: Choices) -> None:
        """Look at the computer and plan for these choices; the last call counts. Does nothing during a run."""
        if self.running:
            return
        self.surveying = True
        self.foresight.forget()  # what it is about may be another folder, or has changed
        if self.surveyed is None or self.surveyed.root != choices.root:
            self.environment = self.holder = self.write_refusal = None
            self.can_undo = False
        self.surveyed = choices
        self.facts = self.plan = self.refusal = self.bundle = None
        self.remarks = ()
        self._begin(lambda: self._survey(choices), self._survey_ended)
        self.survey_changed.emit()

    def glance(self) -> None:
        """Look whether somebody else is at work in the surveyed folder or has changed it; survey it anew where that is so.

        Does nothing while anything else goes on.
        """
        choices = self.surveyed
        if choices is not None and self.idle:
            self.begin_beside(self._glance_at(choices))

    def begin_beside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin what goes on beside surveys and wishes, and is cancelled with them."""
        task = self._keep(asyncio.get_running_loop().create_task(work))
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        task.add_done_callback(self._watch_ended)
        return task

    async def _glance_at(self, choices: Choices) -> None:
        def look() -> bool:
            services, root = self._services, choices.root
            return services.run_holder(root) is not None or services.folder_mark(root) != self._mark

        if await asyncio.to_thread(look) and self._task is None and self.surveyed is choices:
            self.survey(choices)

    def environment_for(self, choices: Choices | None) -> EnvironmentFacts | None:
        """Return the state of the environment in the folder of these choices, None while it is not known."""
        return self.environment if self._is_surveyed(choices) else None

    def holder_for(self, choices: Choices | None) -> Holder | None:
        """Return who else is at work in the folder of these choices, as far as that is known."""
        return self.holder if self._is_surveyed(choices) else None

    def write_refusal_for(self, choices: Choices | None) -> AmlError | None:
        """Return why this account cannot change the folder of these choices, as far as that is known."""
        return self.write_refusal if self._is_surveyed(choices) else None

    def _is_surveyed(self, choices: Choices | None) -> bool:
        return choices is not None and self.surveyed is not None and choices.root == self.surveyed.root

    def start(self, job: Job, choices: Choices) -> None:
        """Begin a job; does nothing while another one runs."""
        if self.running:
            return
        wish = Wish(job, choices)
        self.wish = wish
        self.running = True
        self.surveying = False
        self.environment = self.holder = None  # it will be another one
        self.foresight.forget()
        self._begin(lambda: self._work(wish), self._run_ended)
        self.started.emit(wish)

    def retry(self) -> None:
        """Begin the last wish again."""
        if self.wish is not None:
            self.start(self.wish.job, self.wish.choices)

    def change_network(self, source: Choices) -> None:
        """Let a retry of the last wish go by other settings of the network."""
        if self.wish is not None and not self.running:
            self.wish = replace(self.wish, choices=network_choices(self.wish.choices, source))

    def cancel(self) -> None:
        """Ask the present task to stop; ``finished`` and ``settled`` tell when it has."""
        for task in self._beside:
            task.cancel()
        if self._task is None:
            return
        self._task.cancel()
        if self.running and self._count is None:
            self._count = self._keep(asyncio.get_running_loop().create_task(self._count_processes()))

    async def _count_processes(self) -> None:
        while self._engine is not None:
            self.stopping.emit(await asyncio.to_thread(self._engine.processes))
            await asyncio.sleep(_COUNT_SECONDS)

    def measure(self) -> None:
        """Begin to measure what the running wish writes, unless that was done just now; ``written`` tells."""
        resting = time.monotonic() < self._rests_until or (self._measuring is not None and not self._measuring.done())
        if self.running and self.wish is not None and not resting:
            self._measuring = self.begin_beside(self._measure(self.wish.choices.root))

    def save_log(self, log: str | None, lines: list[str], target: Path) -> None:
        """Save the log of the last wish; ``log`` is its file as ``FinishedEvent`` names it, None while it runs."""
        if self.wish is not None:
            self.begin_beside(self._save_log(self.wish.choices.root, log, lines, target))

    async def _save_log(self, root: Path, log: str | None, lines: list[str], target: Path) -> None:
        problem = None
        try:
            await run_whole(self._services.save_log, root, log, lines, target)
        except AmlError as error:
            problem = error
        self.log_saved.emit(str(target), problem)

    def report(self, event: FinishedEvent, more: list[str]) -> None:
        """Make the report on the last wish, which ended so; ``reported`` tells it."""
        if self.wish is not None:
            self.begin_beside(self._report(self.wish, event, more))

    async def _report(self, wish: Wish, event: FinishedEvent, more: list[str]) -> None:
        try:
            engine = await self._engine_now()
            self.reported.emit(await engine.report(wish.choices, wish.job.value, event, more), None)
        except Exception as error:  # noqa: BLE001 - a fault of the program is told as well
            _log.exception("no report could be made")
            self.reported.emit("", AmlError("AML_WINDOW_FAULT", cause=_cause(error)))

    def forget_written(self) -> None:
        """Begin to count anew with the next ``measure``."""
        self._measured = None
        self.written = 0

    async def _measure(self, root: Path) -> None:
        began = time.monotonic()
        found = await asyncio.to_thread(self._services.written_bytes, root)
        self._rests_until = time.monotonic() + _REST * (time.monotonic() - began)
        if self._measured is None:
            self._measured = found
        self.written = max(0, found - self._measured)

    def _begin(self, work: _Work, ended: Callable[[asyncio.Task[object]], None]) -> None:
        previous = self._task
        if previous is not None:
            previous.cancel()
        task = asyncio.get_running_loop().create_task(_after(previous, work))
        self._task = task
        task.add_done_callback(ended)
        self._keep(task)

    def _keep(self, task: asyncio.Task[Any]) -> asyncio.Task[Any]:
        self._alive.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[object]) -> None:
        self._alive.discard(task)
        if not self._alive:
            self.settled.emit()

    async def _engine_now(self) -> Engine:
        """Return the engine; it is loaded in a thread, as its modules take longer than the window may stand still."""

        def make() -> None:
            self._engine = self._services.make_engine()

        if self._engine is None:
            await run_whole(make)
        assert self._engine is not None  # noqa: S101 - for the type checker
        self._engine.language = self._words.language
        return self._engine

    async def _survey(self, choices: Choices) -> None:
        # a drive of a network may take its time
        self.holder = await asyncio.to_thread(self._services.run_holder, choices.root)
        await self._look_at(choices)
        self.free = await asyncio.to_thread(self._services.free_bytes, choices.root)
        self.survey_changed.emit()
        if self.holder is not None:
            await self._watch(choices.root)
            await self._look_at(choices)
        engine = await self._engine_now()
        self.facts = await engine.detect(choices, self._survey_event)
        self.survey_changed.emit()
        self.plan = await engine.plan(choices, self._plan_event)

    async def _look_at(self, choices: Choices) -> None:
        self._mark = await asyncio.to_thread(self._services.folder_mark, choices.root)  # first: what comes later is news
        self.can_undo = await asyncio.to_thread(self._services.can_undo, choices.root)
        self.write_refusal = await asyncio.to_thread(self._services.write_refusal, choices.root)
        self.environment = await asyncio.to_thread(self._services.environment_state, choices)
        self.survey_changed.emit()

    async def _watch(self, root: Path) -> None:
        """Wait until nobody holds a folder any more; by looking, as the system tells nobody of it."""
        while self.holder is not None:
            await asyncio.sleep(_WATCH_SECONDS)
            holder = await asyncio.to_thread(self._services.run_holder, root)
            if holder != self.holder:
                self.holder = holder
                self.survey_changed.emit()

    def _watch_ended(self, task: asyncio.Task[object]) -> None:
        if task is self._task:
            self._task = None
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("what goes on beside has failed", exc_info=error)

    def _plan_event(self, event: Event) -> None:
        if isinstance(event, LogEvent) and event.remark:
            self.remarks += (event.line,)

    def _survey_event(self, event: Event) -> None:
        if isinstance(event, BundleEvent):
            self.bundle = event.content
            self.survey_changed.emit()

    def _survey_ended(self, task: asyncio.Task[object]) -> None:
        if task is not self._task:  # something newer took its place
            if not task.cancelled():
                task.exception()
            return
        self._task = None
        self.surveying = False
        error = None if task.cancelled() else task.exception()
        if isinstance(error, AmlError):
            self.refusal = error
        elif error is not None:
            _log.error("the survey failed", exc_info=error)
            self.refusal = AmlError("AML_WINDOW_FAULT", cause=_cause(error))
        self.survey_changed.emit()

    async def _work(self, wish: Wish) -> FinishedEvent:
        engine = await self._engine_now()
        await self.foresight.ended()
        methods = {
            Job.INSTALL: engine.install,
            Job.REBUILD: engine.rebuild,
            Job.VERIFY: engine.verify,
            Job.REPAIR: engine.repair,
            Job.BUNDLE: engine.make_bundle,
            Job.SHARE: engine.share,
            Job.CHANGE: engine.change,
            Job.UPDATE: engine.rebuild,
            Job.UPDATE_PYTHON: engine.update,
            Job.UPDATE_UV: engine.update,
            Job.UNDO: engine.undo,
            Job.STORE: engine.store,
            Job.UNINSTALL: engine.uninstall,
        }
        with self._services.held_awake():
            return await methods[wish.job](wish.choices, self._run_event)

    def _run_event(self, event: Event) -> None:
        if isinstance(event, LogEvent):
            self.log_sink(event)
        elif isinstance(event, StepEvent):
            self.step_changed.emit(event)
        elif isinstance(event, PlanEvent):
            self.planned.emit(event)
        elif isinstance(event, ChangesEvent):
            self.changes_told.emit(event)

    def _run_ended(self, task: asyncio.Task[object]) -> None:
        if task.cancelled():  # before the engine had begun
            event = FinishedEvent(RunState.CANCELLED, "AML_WINDOW_CANCELLED", self._words("AML_WINDOW_CANCELLED.message"))
        elif (error := task.exception()) is not None:
            _log.error("the engine failed", exc_info=error)
            arguments: dict[str, object] = {"cause": _cause(error)}
            message = self._words("AML_WINDOW_FAULT.message", **arguments)
            event = FinishedEvent(RunState.FAILED, "AML_WINDOW_FAULT", message, arguments=arguments)
        else:
            result = task.result()
            event = cast("FinishedEvent", result)
        self._task = None
        self.running = False
        if self._count is not None:
            self._count.cancel()
            self._count = None
        self._watch_after(event)
        self.finished.emit(event)

    def _watch_after(self, event: FinishedEvent) -> None:
        """Wait for the end of the run that was in the way of a wish."""
        wish = self.wish
        if event.state is not RunState.BUSY or event.code != HELD or wish is None:
            return
        told = {key: str(event.arguments.get(key, "")).replace("?", "") for key in ("pid", "since", "command")}
        self.holder = Holder(int(told["pid"]) if told["pid"].isdigit() else None, told["since"], told["command"])
        self._begin(lambda: self._watch(wish.choices.root), self._watch_ended)

    def _pass_language(self) -> None:
        if self._engine is not None:
            self._engine.language = self._words.language


def choices_until(choices: Choices, step: str) -> Choices:
    """Return the same choices for a run that ends after one step."""
    return replace(choices, until=step)


async def _after(previous: asyncio.Task[object] | None, work: _Work) -> object:
    if previous is not None:
        await asyncio.wait({previous})
    return await work()


def _cause(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
