"""The proof of the environment in use; nothing is changed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from packaging.pylock import Pylock
from packaging.version import Version

from amlwizard.core.additions import kept_packages
from amlwizard.core.catalogue import Phrase, text
from amlwizard.core.damaged_records import damaged_records
from amlwizard.core.deep_check import DeepCheck
from amlwizard.core.environment.by_hand import added_packages
from amlwizard.core.environment.findings import Finding
from amlwizard.core.environment.state import PACKAGES_MISSING, inspect_environment
from amlwizard.core.errors import AmlError, ExitCode, RefusedError
from amlwizard.core.events import LogEvent, RunState
from amlwizard.core.facts import Facts
from amlwizard.core.host import host_facts
from amlwizard.core.lock_recovery import can_recover_lock
from amlwizard.core.remarks import tell_unknown_settings
from amlwizard.core.steps import Proof
from amlwizard.core.wish import Wish, read_wish, refuse_lost_lock, wish_of_lock
from amlwizard.core.wording import added_text

if TYPE_CHECKING:
    from amlwizard.core.context import RunContext
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.facts import EnvironmentFacts
    from amlwizard.core.session import Session

_FOUND: Final = frozenset(
    {"AML_NOT_READY", "AML_LOCK_DAMAGED", "AML_LOCK_LOST", "AML_LOCK_DIFFERS", "AML_VERIFY_FAILED", "AML_STORE_DAMAGED"}
)
"""What is no failure of the proof, but its answer."""


async def verify(session: Session) -> FinishedEvent:
    """Prove that the environment works, and where the choices say so that the next repair can rely on the rest.

    Raises:
        AmlError: it does not, with the exit code of that; or what stood in the way of the proof.
    """
    tell_unknown_settings(session)
    await session.end_dead_runs("verify")
    try:
        state = await asyncio.to_thread(inspect_environment, session.workspace, None)
        _check_state(session, state)
        return await _prove(session, state)
    except AmlError as error:
        if error.code in _FOUND:
            error.exit_code = ExitCode.NOT_READY
        raise


def _check_state(session: Session, state: EnvironmentFacts) -> None:
    if not state.ready and state.reason != PACKAGES_MISSING:  # the proof names each of those, and whatever else is wrong
        reason = text(state.reason, session.language, **state.arguments) if state.reason else ""
        session.emit(LogEvent("verify", reason or state.state))
        action = Phrase(f"action.{state.action}")
        root = str(session.workspace.root)
        raise AmlError("AML_NOT_READY", root=root, state=state.state, reason=reason, action=action)
    if session.choices.expect not in (None, state.lock):
        raise AmlError("AML_LOCK_DIFFERS", expected=session.choices.expect, found=state.lock or "-")


async def _prove(session: Session, state: EnvironmentFacts) -> FinishedEvent:
    await session.keep_use("verify")
    wish = await _installed_wish(session)
    await session.work_outside(needed=False)
    run = session.context(wish, Facts(host_facts(), (), None, None, state))
    await session.run_step(run, Proof())
    await _name_changed(run)
    if session.choices.deep:
        await session.run_step(run, DeepCheck())
    await asyncio.to_thread(refuse_lost_lock, session.workspace)  # what works can be repaired as well
    return await session.success("AML_VERIFIED", RunState.READY, run.report)


async def _installed_wish(session: Session) -> Wish:
    """Return what was installed; where no lock tells it, the environment is proven all the same."""
    workspace = session.workspace
    try:
        return await read_wish(replace(session.choices, requirements=None, accelerator=None), from_lock=True)
    except RefusedError as error:
        if error.code not in {"AML_LOCK_DAMAGED", "AML_LOCK_LOST"}:
            raise
    if await asyncio.to_thread(can_recover_lock, workspace):
        return cast("Wish", await asyncio.to_thread(wish_of_lock, workspace.local_lock))
    nothing_known = Pylock(lock_version=Version("1.0"), created_by="amlwizard", packages=[])
    return Wish("file", str(workspace.lock), nothing_known, workspace.runtime)


async def _name_changed(run: RunContext) -> None:
    """Add to the report what was changed by hand, what the lock keeps of it from before, and which records are damaged."""
    found = await asyncio.to_thread(added_packages, run.workspace)
    remarks = [
        Finding("verify.changed_by_hand", {"package": each.name, "found": each.version, "version": each.locked}, each.name)
        for each in found
        if each.locked is not None
    ]
    kept = await asyncio.to_thread(kept_packages, run.workspace, {each.name for each in found})
    if kept:
        remarks.append(Finding("verify.kept", {"packages": added_text(kept, run.language)}))
    remarks += await asyncio.to_thread(damaged_records, run.workspace)
    for remark in remarks:
        run.log(remark.in_words(run.language))
    if run.report is not None:
        run.report = replace(run.report, remarks=(*run.report.remarks, *remarks))
