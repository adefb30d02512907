"""Mends an environment with the least work that its state needs (DESIGN 7); what cannot be mended is left to a rebuild."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import error_texts
from amlwizard.core.environment.by_hand import find_by_hand
from amlwizard.core.environment.marker import read_marker
from amlwizard.core.environment.relink import is_relocatable
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.errors import AmlError
from amlwizard.core.events import StepState
from amlwizard.core.lock import lock_digest
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.repair_steps import Inspect, Mend, Relink, RestorePython, RestoreStore
from amlwizard.core.steps import Commit, InstallUv, Step, Verify, can_reinstall
from amlwizard.core.store_files import installed_wheels
from amlwizard.core.uv_install import is_changed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from amlwizard.core.context import RunContext
    from amlwizard.core.facts import EnvironmentFacts, Facts

_NOT_MENDED: Final = frozenset(
    {"AML_SYNC_FAILED", "AML_HASH_REFUSED", "AML_OFFLINE_MISSING", "AML_VERIFY_FAILED", "AML_PACKAGES_NOT_INSTALLED"}
)
"""What says that a mended copy is no good, so that the environment has to be built afresh."""


class Outcome(Enum):
    """What came of it."""

    SOUND = "sound"
    """Nothing was to be done."""
    MENDED = "mended"
    REBUILD = "rebuild"
    """The environment has to be built afresh; what works of it was not touched."""


@dataclass(frozen=True)
class Hands:
    """What repairing needs of the session that it is part of."""

    run_step: Callable[[Step], Awaitable[None]]
    give_up: Callable[[StepState], Awaitable[None]]
    """Undo the step that failed and say so."""
    look: Callable[[str | None], Awaitable[Facts]]
    """Find uv and an interpreter: the one that the environment stands on (None), or any of a minor version."""


async def repair(run: RunContext, hands: Hands) -> Outcome:
    """Mend the environment in use.

    Args:
        run: the run, which holds the workspace and has finished or undone what was interrupted.
        hands: the session.

    Raises:
        AmlError: what stands in the way, such as a damaged file of the store while the network is not to be used.
    """
    return await _Repair(run, hands).mend()


class _Repair:
    def __init__(self, run: RunContext, hands: Hands) -> None:
        self._run = run
        self._hands = hands
        self._mended = False

    async def mend(self) -> Outcome:
        state = await self._state()
        if state.state == "moved":
            relink = Relink()
            await self._hands.run_step(relink)
            if not relink.enough:
                return Outcome.REBUILD
            self._mended = True
            state = await self._state()
        if state.state == "base_missing" or state.reason == "environment.python_broken":
            if not await self._restore_python(state):
                return Outcome.REBUILD
            state = await self._state()
        return await self._mend_files(state) if state.ready else Outcome.REBUILD

    async def _mend_files(self, state: EnvironmentFacts) -> Outcome:
        run = self._run
        self._use(await self._hands.look(None))
        await self._restore_uv()
        run.stored = installed_wheels(run.workspace)
        inspect = Inspect()
        await self._hands.run_step(inspect)
        if inspect.damaged_interpreter:
            if not await self._restore_python(state):
                return Outcome.REBUILD
            inspect = Inspect()
            await self._hands.run_step(inspect)
        store = RestoreStore(inspect.damaged_files)
        if inspect.damaged_files:
            await self._hands.run_step(store)
            self._mended = self._mended or store.restored
        if run.report is not None and run.report.ok:
            return Outcome.MENDED if self._mended else Outcome.SOUND
        await self._hands.run_step(InstallUv())
        if not await asyncio.to_thread(self._can_be_mended):
            return Outcome.REBUILD
        return Outcome.MENDED if await self._exchange(store) else Outcome.REBUILD

    def _can_be_mended(self) -> bool:
        """Tell whether a copy of the environment with some distributions installed again would do."""
        run, workspace = self._run, self._run.workspace
        report, marker = run.report, read_marker(workspace.venv)
        if report is None or marker is None or not is_relocatable(workspace.venv):
            return False
        try:
            current = lock_digest(read_plain_text(workspace.lock)) == marker.lock
        except (OSError, UnicodeDecodeError):
            current = False
        by_hand = {package.name for package in find_by_hand(workspace)}
        if not current or not by_hand.isdisjoint(report.broken_packages) or not can_reinstall(run, report):
            return False
        run.lock_path = workspace.lock
        return True

    async def _exchange(self, store: RestoreStore) -> bool:
        """Put a mended copy of the environment in place; False where the copy does not pass its check."""
        broken = set(self._run.report.broken_packages if self._run.report is not None else ())
        needed = {wheel.path for wheel in self._run.stored if wheel.name in broken}
        if lacking := [file for file in store.lacking if file.path in needed]:
            if self._run.choices.offline:
                names = ", ".join(file.path.name for file in lacking)
                raise AmlError("AML_STORE_INCOMPLETE", files=names, count=len(lacking))
            if store.error is not None:
                raise store.error
            return False  # a wheel that was built here is built again
        try:
            await self._hands.run_step(Mend())
            await self._hands.run_step(Verify())
        except AmlError as error:
            if error.code not in _NOT_MENDED:
                raise
            await self._hands.give_up(StepState.FAILED)
            self._tell(error)
            return False
        await self._hands.run_step(Commit())
        return True

    async def _restore_python(self, state: EnvironmentFacts) -> bool:
        """Bring the environment's interpreter back, or put another one in its place; False where there is none."""
        minor = ".".join((state.python or "").split(".")[:2])
        self._use(await self._hands.look(minor))
        await self._hands.run_step(InstallUv())
        try:
            await self._hands.run_step(RestorePython(minor))
        except AmlError as error:
            await self._hands.give_up(StepState.FAILED)
            self._tell(error)
            return False
        self._mended = True
        return True

    async def _restore_uv(self) -> None:
        """Install the workspace's uv again where it is gone or changed; the environment itself may work without it."""
        if not await asyncio.to_thread(is_changed, self._run.workspace):
            return
        try:
            await self._hands.run_step(InstallUv())
        except AmlError as error:
            await self._hands.give_up(StepState.FAILED)
            self._tell(error)
        else:
            self._mended = True

    def _use(self, facts: Facts) -> None:
        run = self._run
        run.facts = facts
        run.uv = facts.uv.path if facts.uv is not None else None
        run.python = facts.python.python if facts.python is not None else None

    async def _state(self) -> EnvironmentFacts:
        def look() -> EnvironmentFacts:
            workspace = self._run.workspace
            state = inspect_environment(workspace, None)
            if not state.ready or state.python is None:
                return state
            return inspect_environment(workspace, self._run.wish.digest(state.python))

        return await asyncio.to_thread(look)

    def _tell(self, error: AmlError) -> None:
        self._run.log(error_texts(error, self._run.language)[0])
