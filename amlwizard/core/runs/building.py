"""What the kinds of run that build an environment have in common."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.bundle.steps import steps_from_bundle
from amlwizard.core.environment.commit import remove_old
from amlwizard.core.environment.threads import run_past_return
from amlwizard.core.looking import look, look_again
from amlwizard.core.planning import check_space, plan_of
from amlwizard.core.preflight import preflight
from amlwizard.core.runs.added import tell_changes
from amlwizard.core.steps import all_steps
from amlwizard.core.variants import tell_variants
from amlwizard.core.wish import read_wish

if TYPE_CHECKING:
    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace
    from amlwizard.core.session import Session
    from amlwizard.core.wish import Wish


async def build_environment(session: Session, run: RunContext) -> bool:
    """Put a new environment in place by the usual steps; False where the choices asked to stop before the end.

    Raises:
        AmlError: what a step said, or would say of the network, or ``AML_DISK_SPACE``.
    """
    await preflight(run)
    for step in all_steps() if run.wish.bundle is None else steps_from_bundle():
        if step.id == "unpack":
            await check_space(run)  # what a bundle brings is known before Resolve
        await session.run_step(run, step)
        if step.id == "resolve":
            if run.lock is not None:
                await tell_changes(run, run.lock)
                await tell_variants(run, run.lock)
            await check_space(run)
        if step.id == run.choices.until and step.id != "commit":
            return False
    await remove_replaced(run.workspace)
    return True


async def build_again(session: Session, wish: Wish) -> RunContext:
    """Build what a lock of the workspace says; on another Python where the lock's own cannot be had offline.

    Raises:
        AmlError: as ``build_environment``.
    """
    facts = await look_again(session, wish)
    if facts.python is None and session.choices.offline and wish.resolved is not None:
        another = await read_wish(session.choices)
        wish = replace(another, added=wish.added, added_versions=wish.added_versions, may_leave_out=wish.may_leave_out)
        facts = await look(session, wish)
    run = session.context(wish, facts)
    session.emit(await plan_of(run))
    await build_environment(session, run)
    return run


async def remove_replaced(workspace: Workspace) -> None:
    """Remove the environment that was exchanged for the new one."""
    with suppress(OSError):  # the new one is in place all the same; the next start tries again
        await run_past_return(remove_old, workspace)
