"""The known workspaces and their states: read, looked at and kept beside everything else."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar

from PySide6.QtCore import QObject, Signal

from amlwizard.core.diagnose.limits import LooseThreads

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import EnvironmentFacts
    from amlwizard.ui.services import MemoryService

T = TypeVar("T")

SECONDS: Final = 5.0
"""How long a folder may take to answer; a drive of a network that is gone takes for ever."""
_log = logging.getLogger(__name__)


class Folder(StrEnum):
    """How the folder of a workspace answers."""

    UNSEEN = "unseen"
    HERE = "here"
    GONE = "gone"
    SILENT = "silent"


@dataclass(frozen=True)
class Known:
    """A known workspace; ``name`` is its alone, and ``facts`` are there where its folder is."""

    root: Path
    name: str
    folder: Folder = Folder.UNSEEN
    facts: EnvironmentFacts | None = None


class WorkspacesDesk(QObject):
    """Keeps what is known of workspaces, and what the window remembers besides.

    It looks at one workspace after the other, and writes one thing after the other.

    Signals:
        changed: ``known`` or ``nothing_in`` is new.
        found: a workspace that had gone is at this place (``Path``).
        proposed: a folder for a new workspace (``Path``).

    Attributes:
        known: the known workspaces, by name.
        nothing_in: the folder in which a workspace was looked for in vain, or None.
    """

    changed = Signal()
    found = Signal(object)
    proposed = Signal(object)

    def __init__(
        self,
        memory: MemoryService,
        begin: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        seconds: float = SECONDS,
    ) -> None:
        """Make the desk.

        Args:
            memory: what is remembered.
            begin: begins a task that is cancelled when the window closes.
            seconds: how long a folder may take to answer.
        """
        super().__init__()
        self._memory = memory
        self._begin = begin
        self._seconds = seconds
        self._asked: dict[Path, asyncio.Future[EnvironmentFacts | None]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._again = False
        self._writing: asyncio.Task[None] | None = None
        self._opened: Path | None = None
        self.known: tuple[Known, ...] = ()
        self.nothing_in: Path | None = None

    def look(self) -> None:
        """Read what is known, and look at one workspace after the other; where that goes on already, once more then."""
        self._again = True
        self.nothing_in = None
        if self._looking is None or self._looking.done():
            self._looking = self._begin(self._look())

    def opened(self, root: Path) -> None:
        """Know a workspace that can be used; asked for again and again, it is written once."""
        if root != self._opened:
            self._opened = root
            self._write(lambda: self._memory.add(root))

    def remember(self, choices: Choices) -> None:
        """Remember what is about to be set up."""
        self._opened = None
        self._write(lambda: self._memory.remember(choices))

    def forget(self, root: Path) -> None:
        """Know a workspace no more."""
        self._opened = None
        self.known = tuple(known for known in self.known if known.root != root)
        self._write(lambda: self._memory.forget(root))
        self.changed.emit()
        self.look()

    def find(self, gone: Path, place: Path) -> None:
        """Look whether a workspace that has gone is at a place; ``found`` or ``nothing_in`` tells."""
        self._begin(self._find(gone, place))

    def propose(self, beside: Path) -> None:
        """Find a folder for a new workspace; ``proposed`` tells."""
        self._begin(self._propose(beside))

    def keep_geometry(self, geometry: str) -> None:
        """Remember the size and place of the window."""
        self._write(lambda: self._memory.keep_geometry(geometry))

    def _write(self, work: Callable[[], None]) -> None:
        self._writing = self._begin(self._written(work, self._writing))

    async def _written(self, work: Callable[[], None], previous: asyncio.Task[None] | None) -> None:
        if previous is not None:
            await asyncio.wait({previous})
        await asyncio.wait({_in_thread(work)}, timeout=self._seconds)

    async def _look(self) -> None:
        while self._again:
            self._again = False
            if self._writing is not None:
                await asyncio.wait({self._writing})
            roots = await _in_thread(self._memory.known)
            names, seen = names_of(roots), {known.root: known for known in self.known}
            known = (replace(seen.get(root, Known(root, "")), name=names[root]) for root in roots)
            self.known = tuple(sorted(known, key=lambda known: known.name.casefold()))
            self.changed.emit()
            for root in [known.root for known in self.known]:
                folder, facts = await self._state(root)
                self.known = tuple(
                    replace(known, folder=folder, facts=facts) if known.root == root else known for known in self.known
                )
                self.changed.emit()

    async def _state(self, root: Path) -> tuple[Folder, EnvironmentFacts | None]:
        """Look at a folder; one that still owes an answer is not asked again."""
        asked = self._asked.get(root)
        if asked is None:
            asked = self._asked[root] = _in_thread(lambda: self._memory.look(root))
        try:
            await asyncio.wait({asked}, timeout=self._seconds)
        except asyncio.CancelledError:  # the loop may be over before the answer comes
            asked.cancel()
            self._asked.pop(root, None)
            raise
        if not asked.done():
            return Folder.SILENT, None
        self._asked.pop(root, None)
        if asked.exception() is not None:
            return Folder.SILENT, None
        facts = asked.result()
        return (Folder.GONE if facts is None else Folder.HERE), facts

    async def _find(self, gone: Path, place: Path) -> None:
        _, facts = await self._state(place)
        if facts is None or facts.state in {"absent", "foreign"}:
            self.nothing_in = place
            self.changed.emit()
        else:
            self.forget(gone)
            self.found.emit(place)

    async def _propose(self, beside: Path) -> None:
        self.proposed.emit(await asyncio.wait_for(_in_thread(lambda: self._memory.new_folder(beside)), self._seconds))


def names_of(roots: Sequence[Path]) -> dict[Path, str]:
    """Name each workspace by its folder; with the folder that holds it where names are alike, else by its whole path."""
    names = {root: root.name or str(root) for root in roots}
    for longer in (lambda root: os.path.join(root.parent.name, root.name), str):  # noqa: PTH118
        count = Counter(name.casefold() for name in names.values())
        names = {root: longer(root) if count[name.casefold()] > 1 else name for root, name in names.items()}
    return names


def _in_thread(function: Callable[[], T]) -> asyncio.Future[T]:
    """Run a function in a thread that nobody waits for at the end."""
    future = asyncio.wrap_future(LooseThreads().submit(function))
    future.add_done_callback(_seen)
    return future


def _seen(future: asyncio.Future[Any]) -> None:
    """Take note of how something ended that nobody waits for any more."""
    if not future.cancelled() and (error := future.exception()) is not None:
        _log.info("a workspace was not reached, or nothing remembered", exc_info=error)
