"""Between the Network page and what is outside: reads, saves and checks, one after the other, beside the jobs."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from amlwizard.core.diagnose.limits import in_loose_thread
from amlwizard.core.errors import AmlError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping
    from typing import Any

    from amlwizard.core.choices import Choices
    from amlwizard.core.diagnose.reaching import NetworkCheck
    from amlwizard.core.engine import Engine
    from amlwizard.core.facts import Facts
    from amlwizard.core.network_settings import NetworkSettings
    from amlwizard.ui.services import Defaults, Login, Services

_log = logging.getLogger(__name__)


class NetworkDesk(QObject):
    """Keeps what the pages show of the network.

    Signals:
        changed: any of the attributes is new.
        read: the settings were read (again); fields are to be filled anew.
        saved: the settings were saved; carries what the window would start with now (``Defaults``).
        checked: a check came to its end; carries the text for IT, or nothing where there is none.

    Attributes:
        settings: what holds on this computer, once it was read.
        problem: what went wrong with the last thing that was asked for.
        busy: the part of the message keys that says what goes on: ``reading``, ``saving``, ``checking``, or nothing.
        check: what came of the last check of the present settings.
    """

    changed = Signal()
    read = Signal()
    saved = Signal(object)
    checked = Signal(str)

    def __init__(
        self,
        services: Services,
        engine: Callable[[], Awaitable[Engine]],
        facts: Callable[[], Facts | None],
        begin: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        """Make the desk.

        Args:
            services: the outside.
            engine: loads the engine.
            facts: what is known of the computer.
            begin: begins a task that is cancelled when the window closes.
        """
        super().__init__()
        self._services = services
        self._engine = engine
        self._facts = facts
        self._begin = begin
        self._task: asyncio.Task[None] | None = None
        self.settings: NetworkSettings | None = None
        self.problem: AmlError | None = None
        self.busy = ""
        self._read_next = False
        self.check: NetworkCheck | None = None

    def load(self) -> None:
        """Read the settings, after what goes on now."""
        if self.busy:
            self._read_next = True
        else:
            self._do("reading", self._read)

    def save(self, values: Mapping[str, str], login: Login | None, then: Callable[[], None] | None = None) -> None:
        """Save what was filled in, and go on with something where that went well."""
        self._do("saving", lambda: self._save(values, login, then))

    def forget(self, url: str) -> None:
        """Forget the login of an address."""
        self._do("saving", lambda: self._forget(url))

    def reach(self, choices: Choices) -> None:
        """Reach every host that is needed."""
        self._do("checking", lambda: self._reach(choices))

    def refuse(self, problem: AmlError) -> None:
        """Say why nothing can be reached."""
        self.check, self.problem = None, problem
        self.changed.emit()

    def _do(self, kind: str, work: Callable[[], Awaitable[None]]) -> None:
        if self.busy:
            return
        self.busy, self.problem = kind, None
        self._task = self._begin(self._done(work))
        self._task.add_done_callback(self._on_over)
        self.changed.emit()

    def _on_over(self, task: asyncio.Task[None]) -> None:
        if task is self._task:
            self._task = None
            self.busy = ""
            self.changed.emit()
            if self._read_next and not task.cancelled():
                self._read_next = False
                self.load()

    async def _done(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except AmlError as error:
            self.problem = error
        except Exception as error:  # noqa: BLE001 - a fault of the program is told as well
            _log.exception("the network page failed")
            self.problem = AmlError("AML_WINDOW_FAULT", cause=f"{type(error).__name__}: {error}")

    async def _read(self) -> None:
        self.settings = await in_loose_thread(self._services.network.read)
        self.read.emit()

    async def _save(self, values: Mapping[str, str], login: Login | None, then: Callable[[], None] | None) -> None:
        assert self.settings is not None  # noqa: S101 - the page has shown them
        settings, lost = self.settings, None
        try:
            await asyncio.to_thread(self._services.network.save, settings, values, login)
            if login is not None and login.keep:
                await in_loose_thread(self._services.network.keep, login)
        except AmlError as error:
            if error.code != "AML_LOGIN_NOT_KEPT":
                raise
            lost = error  # all else is done
        except OSError as error:
            raise AmlError("AML_SETTINGS_NOT_SAVED", reason=error.strerror or str(error)) from error
        await self._tell_saved()
        await self._read()
        self.problem = lost
        if then is not None and lost is None:  # what was lost is to be read first
            self.busy = ""
            then()

    async def _forget(self, url: str) -> None:
        await in_loose_thread(self._services.network.forget, url)
        await self._tell_saved()

    async def _tell_saved(self) -> None:
        self.check = None  # it was one of other settings
        defaults: Defaults = await asyncio.to_thread(self._services.read_defaults)
        self.saved.emit(defaults)

    async def _reach(self, choices: Choices) -> None:
        self.check = None
        only_bundles = choices.organisation is not None and choices.organisation.bundle_only
        choices = replace(choices, offline=only_bundles)  # who checks the network wants to use it
        try:
            engine = await self._engine()
            facts = self._facts() or await engine.detect(choices, lambda _event: None)
            self.check = await engine.check_network(choices, facts)
        finally:
            self.checked.emit(self.check.for_it if self.check is not None else "")
