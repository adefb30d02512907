"""The runs that only look; nothing is written, but for the trial whether the folder can be the workspace."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from amlwizard.core.errors import AmlError
from amlwizard.core.git_need import refuse_without_git
from amlwizard.core.looking import look, look_for
from amlwizard.core.means import check_bundle, check_found
from amlwizard.core.planning import first_plan
from amlwizard.core.remarks import tell_remarks
from amlwizard.core.root_checks import check_root
from amlwizard.core.runs.added import foresee_changes
from amlwizard.core.wish import read_wish

if TYPE_CHECKING:
    from amlwizard.core.events import PlanEvent
    from amlwizard.core.facts import Facts
    from amlwizard.core.session import Session


async def detect(session: Session) -> Facts:
    """Look at the computer.

    Raises:
        RefusedError: an explicit choice does not work.
    """
    if session.choices.bundle is not None:
        of_bundle = await read_wish(session.choices)
        check_bundle(of_bundle, session.choices)
        return await look_for(session, of_bundle)
    wish = None
    with suppress(AmlError):  # what is wrong with the wish is said by plan and install
        wish = await read_wish(session.choices)
    return await look(session, wish)


async def plan(session: Session) -> PlanEvent:
    """Look, then say what an installation would do.

    Raises:
        RefusedError: the choices cannot be used.
    """
    await asyncio.to_thread(check_root, session.choices.root)
    wish = await read_wish(session.choices)
    check_bundle(wish, session.choices)
    run = session.context(wish, await look_for(session, wish))
    check_found(run)
    await refuse_without_git(run)
    await tell_remarks(run)
    event = await first_plan(run)
    session.emit(event)
    if session.choices.refresh and event.replaces:
        await foresee_changes(session, run)
    return event
