"""What an update would change, and what could be freed: found out before anybody is asked."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QObject, Signal

from amlwizard.core.errors import AmlError
from amlwizard.core.events import ChangesEvent, LogEvent, StoreEvent
from amlwizard.ui.wishes import UPDATES, Job

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from amlwizard.core.choices import Choices
    from amlwizard.core.engine import Engine
    from amlwizard.core.events import Event

_UNKNOWN: Final = frozenset({"AML_STORE_UNREADABLE", "AML_STORE_UNUSED"})
"""Ends of a look at the store that cannot tell what is needed."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Offer:
    """What is known of an update that is not about packages.

    ``changes`` is None where nothing is newer, which ``remark`` says then; ``size`` is what would be downloaded.
    ``problem`` is why it could not be found out.
    """

    changes: ChangesEvent | None = None
    size: int | None = None
    remark: str = ""
    problem: AmlError | None = None


class Foresight(QObject):
    """Looks ahead for one job at a time, beside surveys; nothing is changed.

    Signals:
        changed: anything below is new.

    Attributes:
        job: what is looked ahead for, or None.
        busy: whether that goes on.
        changes: what ``Job.UPDATE`` would change; None where that cannot be told.
        store: what the store holds, as in a ``StoreEvent``, for ``Job.STORE``.
        offers: for ``Job.UPDATE``, what the other updates would change.
        problem: why it could not be found out.
    """

    changed = Signal()

    def __init__(
        self, engine: Callable[[], Awaitable[Engine]], begin: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    ) -> None:
        super().__init__()
        self._engine = engine
        self._begin = begin
        self._task: asyncio.Task[None] | None = None
        self._clear()

    def _clear(self) -> None:
        self.job: Job | None = None
        self.busy = False
        self.changes: ChangesEvent | None = None
        self.store: dict[str, Any] | None = None
        self.offers: dict[Job, Offer] = {}
        self.problem: AmlError | None = None

    def look(self, job: Job, choices: Choices) -> None:
        """Begin to find out what ``Job.UPDATE`` or ``Job.STORE`` would do; it takes the place of an earlier look."""
        self.forget()
        self.job, self.busy = job, True
        self._task = self._begin(self._look(job, choices, self._task))
        self._task.add_done_callback(self._on_over)
        self.changed.emit()

    def forget(self) -> None:
        """Stop looking, and forget what was found."""
        if self._task is not None:
            self._task.cancel()
        if self.job is not None:
            self._clear()
            self.changed.emit()

    async def ended(self) -> None:
        """Wait until a look that was given up has left the workspace alone."""
        if self._task is not None:
            await asyncio.wait({self._task})

    def _on_over(self, task: asyncio.Task[None]) -> None:
        if task is self._task:
            self._task = None
            self.busy = False
            if task.cancelled():
                self._clear()
            self.changed.emit()

    async def _look(self, job: Job, choices: Choices, previous: asyncio.Task[None] | None) -> None:
        if previous is not None:
            await asyncio.wait({previous})
        own = self._task

        def hear(event: Event) -> None:
            if own is self._task and self.job is not None:
                self._hear(event)

        async def find_out() -> None:
            engine = await self._engine()
            if job is Job.UPDATE:
                await engine.plan(choices, hear)
                return
            end = await engine.store(choices, hear)
            if self.store is None or end.code in _UNKNOWN:
                raise AmlError(end.code, detail=end.detail, **end.arguments)

        problem = await _problem(find_out())
        offers = {}
        if job is Job.UPDATE:
            for other, part in UPDATES.items():
                offers[other] = await self._offer(replace(choices, refresh=False, update=part))
        if own is self._task and self.job is not None:
            self.problem, self.offers = problem, offers

    async def _offer(self, choices: Choices) -> Offer:
        changes: list[ChangesEvent] = []
        remarks: list[str] = []
        sizes: list[int | None] = []

        def hear(event: Event) -> None:
            if isinstance(event, ChangesEvent):
                changes.append(event)
            elif isinstance(event, LogEvent) and event.remark:
                remarks.append(event.line)

        async def find_out() -> None:
            engine = await self._engine()
            sizes.append((await engine.plan(choices, hear)).download_bytes)

        problem = await _problem(find_out())
        if problem is not None:
            return Offer(problem=problem)
        return Offer(changes[0], sizes[0]) if changes else Offer(remark="".join(remarks[-1:]))

    def _hear(self, event: Event) -> None:
        if isinstance(event, ChangesEvent):
            self.changes = event
        elif isinstance(event, StoreEvent):
            self.store = event.content


async def _problem(work: Coroutine[Any, Any, None]) -> AmlError | None:
    """Do a look, and return why it could not be done, None where it was."""
    try:
        await work
    except AmlError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a fault of the program is told as well
        _log.exception("the look ahead failed")
        return AmlError("AML_WINDOW_FAULT", cause=f"{type(error).__name__}: {error}")
    return None
