"""Mends an environment with the least work that its state needs (DESIGN 7); what cannot be mended is left to a rebuild."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core import receipt
from amlwizard.core.begun import begun_choices
from amlwizard.core.catalogue import Phrase, error_texts, text
from amlwizard.core.environment.by_hand import find_by_hand
from amlwizard.core.environment.commit import refuse_foreign
from amlwizard.core.environment.marker import read_marker
from amlwizard.core.environment.relink import is_relocatable
from amlwizard.core.environment.state import PACKAGES_MISSING, inspect_environment, inspect_for
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError, RefusedError, hinting_at
from amlwizard.core.events import LogEvent, RunState, StepState
from amlwizard.core.facts import Facts, minor_of
from amlwizard.core.host import host_facts
from amlwizard.core.lacking import Lacking, incomplete_store
from amlwizard.core.lock import lock_digest
from amlwizard.core.lock_recovery import can_recover_lock, recover_lock
from amlwizard.core.looking import look_again
from amlwizard.core.plain_files import exists, read_plain_text
from amlwizard.core.remarks import tell_unknown_settings
from amlwizard.core.repair_steps import Inspect, Mend, Relink, RestorePython, RestoreStore
from amlwizard.core.root_checks import check_root
from amlwizard.core.runs.added import settle_added
from amlwizard.core.runs.building import build_again, build_wished, remove_replaced
from amlwizard.core.steps import Commit, InstallUv, Step, Verify, can_reinstall, copy_kit
from amlwizard.core.store_files import installed_wheels
from amlwizard.core.storing import add_damaged
from amlwizard.core.uv_install import is_changed
from amlwizard.core.wish import lost_lock, read_wish, recorded_source, refuse_without_lock, unfinished_wish
from amlwizard.core.workspace_lock import refuse_while_run

if TYPE_CHECKING:
    from amlwizard.core.context import RunContext
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.facts import EnvironmentFacts
    from amlwizard.core.paths import Workspace
    from amlwizard.core.session import Session
    from amlwizard.core.wish import Wish

_NOT_MENDED: Final = frozenset(
    {
        "AML_SYNC_FAILED",
        "AML_HASH_REFUSED",
        "AML_OFFLINE_MISSING",
        "AML_VERIFY_FAILED",
        "AML_START_BLOCKED",
        "AML_PACKAGES_NOT_INSTALLED",
    }
)
"""What says that a mended copy is no good, so that the environment has to be built afresh."""


_PARTS: Final = (("cause", "message"), ("way", "hint"))

_NOT_THERE: Final = frozenset({"absent", "unfinished"})


class Outcome(Enum):
    """What came of it."""

    SOUND = "sound"
    """Nothing was to be done."""
    MENDED = "mended"
    REBUILD = "rebuild"
    """The environment has to be built afresh; what works of it was not touched."""


async def repair(session: Session, kind: str = "repair") -> FinishedEvent:
    """Mend the environment in use; do nothing where it works.

    Raises:
        AmlError: what stands in the way, such as a damaged file of the store while the network is not to be used.
    """
    if kind != "repair":
        return await _repair(session, kind)
    with hinting_at("rebuild"):  # which can do the same, and more
        return await _repair(session, kind)


async def _repair(session: Session, kind: str) -> FinishedEvent:
    workspace = session.workspace
    session.choices = replace(session.choices, accelerator=None, bundle=None)  # what is there is mended
    await asyncio.to_thread(check_root, workspace.root)
    await asyncio.to_thread(refuse_while_run, workspace)
    await asyncio.to_thread(refuse_foreign, workspace)
    try:
        unfinished = await asyncio.to_thread(_unfinished, workspace)
    except RefusedError:
        begun = await asyncio.to_thread(begun_choices, workspace, session.choices)
        if begun is not None:
            session.choices = begun
            return await build_wished(session, await read_wish(begun), "repair")
        await session.end_dead_runs(kind)
        raise
    receipt_mended = await asyncio.to_thread(receipt.is_damaged, workspace)  # which holding the workspace does
    await session.hold(kind, replaces=False)
    await session.tell_damaged_records()
    tell_unknown_settings(session)
    state = await asyncio.to_thread(inspect_environment, workspace, None)
    if unfinished is not None and state.state in _NOT_THERE:
        await session.hold(kind)
        return await _finish(session, unfinished)
    recovered = await _recover_lock(session)
    broken = recovered or state.state in {"damaged", "moved", "base_missing"}
    wish = await _wish(session, from_lock=broken)  # what was installed, not what is wanted since
    if broken or (state.ready and state.digest == wish.digest(state.python or "")):
        session.choices = replace(session.choices, python=None)  # it stays on the Python that it is on
    run = session.context(wish, Facts(host_facts(), (), None, None, state))
    kit_restored = await _restore_kit(session, run)
    work = _Repair(session, run, kind, mended=recovered or receipt_mended or kit_restored)
    match await work.mend():
        case Outcome.SOUND:
            return await _end(session, "AML_NOTHING_TO_REPAIR", run, work)
        case Outcome.MENDED:
            await remove_replaced(workspace)
            return await _end(session, "AML_REPAIRED", run, work)
        case Outcome.REBUILD:
            await session.hold(kind)
            if not (session.choices.requirements or session.choices.profile):
                await asyncio.to_thread(refuse_without_lock, workspace)
            wish = replace(await settle_added(session, wish), may_leave_out=True)
            run = await build_again(session, wish)
            return await session.success("AML_READY", RunState.READY, run.report)


async def _restore_kit(session: Session, run: RunContext) -> bool:
    """Bring the job kit back where it is gone, or may have had to go; tell whether that was so."""
    if await asyncio.to_thread(session.workspace.kit.is_dir) and not session.has_set_aside:
        return False
    await run_whole(copy_kit, run)
    return True


async def _recover_lock(session: Session) -> bool:
    """Bring a damaged lock back, and say so; tell whether there was one.

    Raises:
        RefusedError: ``AML_LOCK_LOST``; what would tell the same is lost as well, and nothing else was chosen.
    """
    workspace = session.workspace
    lock = await asyncio.to_thread(lost_lock, workspace)
    if lock is None:
        return False
    if not await asyncio.to_thread(can_recover_lock, workspace):
        if session.choices.requirements or session.choices.profile:
            return False
        raise RefusedError("AML_LOCK_LOST", file=str(lock))
    await run_whole(recover_lock, workspace)
    session.emit(LogEvent("", text("repair.lock_recovered", session.language, file=str(lock)), remark=True))
    return True


async def _wish(session: Session, *, from_lock: bool) -> Wish:
    """Return what is wanted; the lock stands for what cannot be read any more, as it does in a rebuild."""
    try:
        return await read_wish(session.choices, from_lock=from_lock)
    except RefusedError:
        if not await asyncio.to_thread(recorded_source, session.workspace):
            raise
        recorded = replace(session.choices, requirements=None, profile=None)
        return await read_wish(recorded, from_lock=True)


def _unfinished(workspace: Workspace) -> Wish | None:
    """Return what an interrupted run was about to install; None where an environment is there, or its lock.

    Raises:
        RefusedError: nothing is there, or nothing tells what it was to be.
    """
    state = inspect_environment(workspace, None)
    if state.state not in _NOT_THERE or os.path.lexists(workspace.aside):
        return None
    wish = unfinished_wish(workspace)
    has_lock = bool(recorded_source(workspace)) or can_recover_lock(workspace)
    if wish is None and not has_lock:
        if (lock := lost_lock(workspace)) is not None:
            raise RefusedError("AML_LOCK_LOST", file=str(lock))
        code = "AML_NO_ENVIRONMENT" if state.state == "absent" else "AML_UNFINISHED_UNKNOWN"
        raise RefusedError(code, root=str(workspace.root))
    return wish if state.state == "unfinished" or not has_lock else None


async def _finish(session: Session, wish: Wish) -> FinishedEvent:
    """Install what an interrupted run was about to, from the lock that it left."""
    file = Path(wish.name) if wish.kind == "file" else None
    profile = wish.name if wish.kind == "profile" else None
    session.choices = replace(
        session.choices, python=None, requirements=file, profile=profile
    )  # the lock says which Python
    run = await build_again(session, replace(await settle_added(session, wish), may_leave_out=True))
    return await session.success("AML_READY", RunState.READY, run.report)


async def _end(session: Session, code: str, run: RunContext, work: _Repair) -> FinishedEvent:
    """Return the end of a repair after which the environment works; what could not be brought back is named."""
    if not work.lacking:
        return await session.success(code, RunState.READY, run.report)
    listed = incomplete_store(work.lacking, run.workspace.downloads, run.language)
    if work.gone is None:
        return await session.success("AML_REPAIR_STORE_LACKS", RunState.READY, run.report, listed)
    told = {name: Phrase(f"{work.gone.code}.{part}", work.gone.arguments) for name, part in _PARTS}
    return await session.success("AML_REPAIR_FILE_GONE", RunState.READY, run.report, listed, **told)


class _Repair:
    def __init__(self, session: Session, run: RunContext, kind: str, *, mended: bool) -> None:
        self._session = session
        self._kind = kind
        self._run = run
        self._mended = mended
        self.lacking: list[Lacking] = []
        """What the next rebuild needs and could not be brought back."""
        self.gone: AmlError | None = None
        """What that fails at where a network is no help, as the file came from this computer."""

    async def mend(self) -> Outcome:
        state = await self._state()
        if state.state == "moved":
            relink = Relink()
            await self._take(relink)
            if not relink.enough:
                return Outcome.REBUILD
            self._mended = True
            state = await self._state()
        if state.state == "base_missing" or state.reason == "environment.python_broken":
            if not await self._restore_python(state):
                return Outcome.REBUILD
            state = await self._state()
        can_mend = state.ready or state.reason == PACKAGES_MISSING
        return await self._mend_files(state) if can_mend else Outcome.REBUILD

    async def _mend_files(self, state: EnvironmentFacts) -> Outcome:
        run = self._run
        await self._look()
        await self._restore_uv()
        run.stored = installed_wheels(run.workspace)
        inspect = Inspect()
        await self._take(inspect)
        if inspect.damaged_interpreter:
            if not await self._restore_python(state):
                return Outcome.REBUILD
            inspect = Inspect()
            await self._take(inspect)
        store = RestoreStore(inspect.damaged_files)
        if inspect.damaged_files:
            await self._take(store)
            self._mended = self._mended or store.restored
            self.lacking += [Lacking.of(file.path.name, file.size, file.url) for file in store.lacking]
            self.gone = store.gone_error(run)
        if run.report is not None and run.report.ok:
            return Outcome.MENDED if self._mended else Outcome.SOUND
        await self._take(InstallUv())
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
        only_loose = len(report.loose) == len(report.problems)
        if not current or not by_hand.isdisjoint(report.broken_packages) or not (only_loose or can_reinstall(run, report)):
            return False
        run.lock_path = workspace.lock
        return True

    async def _exchange(self, store: RestoreStore) -> bool:
        """Put a mended copy of the environment in place; False where the copy does not pass its check."""
        broken = set(self._run.report.broken_packages if self._run.report is not None else ())
        needed = {wheel.path for wheel in self._run.stored if wheel.name in broken}
        if lacking := [file for file in store.lacking if file.path in needed]:
            if (gone := store.gone_error(self._run, needed)) is not None:
                raise gone
            if self._run.choices.offline:
                absent = [Lacking.of(file.path.name, file.size, file.url) for file in lacking]
                raise incomplete_store(absent, self._run.workspace.downloads, self._run.language)
            if store.error is not None:
                damaged = [file.path.name for file in lacking if exists(file.path)]
                add_damaged(store.error, damaged, self._run.language)
                raise store.error
            return False  # a wheel that was built here is built again
        try:
            await self._take(Mend())
            await self._take(Verify())
        except AmlError as error:
            if error.code not in _NOT_MENDED:
                raise
            await self._note_failure(error)
            return False
        await self._take(Commit())
        return True

    async def _restore_python(self, state: EnvironmentFacts) -> bool:
        """Bring the environment's interpreter back, or put another one in its place; False where there is none."""
        minor = minor_of(state.python or "")
        await self._look(minor)
        try:
            await self._take(InstallUv())
            await self._take(RestorePython(minor))
        except AmlError as error:
            await self._note_failure(error)
            return False
        self._mended = True
        return True

    async def _restore_uv(self) -> None:
        """Install the workspace's uv again where it is gone or changed; the environment itself may work without it."""
        if not await asyncio.to_thread(is_changed, self._run.workspace):
            return
        try:
            await self._take(InstallUv())
        except AmlError as error:
            await self._note_failure(error)
            self.lacking.append(Lacking("uv"))
        else:
            self._mended = True

    async def _look(self, minor: str | None = None) -> None:
        """Find uv and an interpreter: the one that the environment stands on, or any of a minor version."""
        run = self._run
        facts = await look_again(self._session, run.wish, minor)
        run.facts = facts
        run.uv = facts.uv.path if facts.uv is not None else None
        run.python = facts.interpreter

    async def _state(self) -> EnvironmentFacts:
        return await asyncio.to_thread(inspect_for, self._run.workspace, self._run.wish.digest)

    async def _take(self, step: Step) -> None:
        if isinstance(step, Relink | RestorePython | Mend):  # a look alone is in nobody's way
            await self._session.hold(self._kind)
        await self._session.run_step(self._run, step)

    async def _note_failure(self, error: AmlError) -> None:
        """Undo the step that failed and say why; repairing goes on another way."""
        await self._session.give_up(StepState.FAILED)
        self._run.log(error_texts(error, self._run.language)[0])
