"""What a run does about what was added by hand, and what it says of the changes that it makes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amlwizard.core.changes import changes
from amlwizard.core.events import LogEvent
from amlwizard.core.keeping import settle
from amlwizard.core.preflight import preflight
from amlwizard.core.resolving import resolve_to

if TYPE_CHECKING:
    from packaging.pylock import Pylock

    from amlwizard.core.before import Before
    from amlwizard.core.context import RunContext
    from amlwizard.core.events import ChangesEvent
    from amlwizard.core.session import Session
    from amlwizard.core.wish import Wish


async def settle_added(session: Session, wish: Wish, *, exact: bool = False, before: Before | None = None) -> Wish:
    """Keep or leave out what the user added by hand, as chosen, and name it; a run that builds nothing has no need to.

    Args:
        session: the session.
        wish: what is wanted, with what was kept before.
        exact: what is left out is only what the lock of the wish does not have.
        before: what was there besides that lock, when it was in use.
    """
    choices = session.choices
    if choices.until in {"install_uv", "install_python"}:
        return wish
    settled = await asyncio.to_thread(
        settle, wish, session.workspace, session.language, keep=choices.keep_added, exact=exact, before=before
    )
    if settled.remark:
        session.emit(LogEvent("", settled.remark, remark=True))
    return settled.wish


async def tell_changes(run: RunContext, lock: Pylock, told: ChangesEvent | None = None) -> None:
    """Show what building from a lock changes in the environment that is in place, unless that was told already."""
    event = await asyncio.to_thread(changes, run, lock)
    if event is not None and event != told:
        run.emit(event)


async def foresee_changes(session: Session, run: RunContext) -> None:
    """Resolve anew in a private folder, and show what would change; needs a network, a uv and an interpreter.

    Raises:
        AmlError: what resolving said.
    """
    if run.choices.offline or run.facts.uv is None or run.python is None:
        return
    run.uv, run.private_cache = run.facts.uv.path, run.tmp / "cache"
    run.wish = await settle_added(session, run.wish)
    await preflight(run)
    await tell_changes(run, await resolve_to(run, run.tmp / "pylock.toml"))
