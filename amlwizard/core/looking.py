"""How much of the computer a run looks at: everything, what the workspace uses already, or what it has itself."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.additions import with_additions
from amlwizard.core.choices import UvMethod
from amlwizard.core.detection import detect, detected_content, find_bundled_uv
from amlwizard.core.detection.known import known_facts, own_facts
from amlwizard.core.environment.state import inspect_environment, inspect_for
from amlwizard.core.events import DetectedEvent
from amlwizard.core.facts import minor_of
from amlwizard.core.host import host_facts
from amlwizard.core.lock_recovery import with_lock
from amlwizard.core.python_install import kept_archive, newest_patch
from amlwizard.core.remarks import settings_content
from amlwizard.core.wish import recorded_source

if TYPE_CHECKING:
    from amlwizard.core.facts import EnvironmentFacts, Facts
    from amlwizard.core.session import Session
    from amlwizard.core.wish import Wish


async def look(session: Session, wish: Wish | None, minor: str | None = None) -> Facts:
    """Look at every uv and every interpreter of this computer; only at those of a minor version where it is given."""
    return _told(session, await _detect(session, wish, minor))


async def _detect(session: Session, wish: Wish | None, minor: str | None = None) -> Facts:
    workspace, choices = session.workspace, session.choices
    if minor is not None and choices.python is None:
        choices = replace(choices, python=minor)

    def environment() -> EnvironmentFacts:
        state = inspect_environment(workspace) if wish is None else inspect_for(workspace, wish.digest)
        return with_additions(with_lock(state, workspace), workspace)

    env = await session.probe_environment()
    graphics = asyncio.create_task(session.look_for_graphics())
    try:
        facts = await detect(
            choices,
            workspace,
            session.runner,
            os.environ,
            env=env,
            bundled_uv=find_bundled_uv(),
            python_range=wish.python_range if wish is not None else None,
            environment=environment,
        )
        await graphics
        return facts
    finally:  # nothing that it started is left behind
        graphics.cancel()
        await asyncio.gather(graphics, return_exceptions=True)


async def look_at_own(session: Session) -> Facts:
    """Look only at the uv and the interpreters that the workspace has itself."""
    state, env = await _state(session), await session.probe_environment()
    return _told(session, await own_facts(session.workspace, session.runner, env, host_facts(), state))


async def look_for(session: Session, wish: Wish, *, rebuilds: bool = False) -> Facts:
    """Look for what a wish needs: a bundle brings it all, and a rebuild can do with what the environment was made from.

    Where no Python is chosen, a rebuild and a refresh stay on the minor version that the environment has.
    """
    choices = session.choices
    with_uv = choices.uv_method is not UvMethod.NONE
    if wish.bundle is not None and with_uv and choices.uv is None and choices.interpreter is None:
        return await look_at_own(session)
    if rebuilds and with_uv and choices.uv is None and choices.python is None and not choices.refresh:
        facts = await _known(session, await _state(session))
        if facts is not None:
            return _told(session, facts)
    if (rebuilds or choices.refresh) and choices.python is None and wish.bundle is None:
        return _told(session, await _look_for_same(session, wish))
    return await look(session, wish)


async def _look_for_same(session: Session, wish: Wish) -> Facts:
    """Look for a Python of the environment's minor version; none is found where that one can be set up instead."""
    workspace, choices = session.workspace, session.choices
    minor = await _own_minor(session, await _state(session))
    if minor and (wish.python_range is None or wish.python_range.contains(newest_patch(minor))):
        facts = await _detect(session, wish, minor)
        if facts.python is not None:
            return facts
        if choices.uv_method is not UvMethod.NONE:
            offline = choices.offline
            if not offline or await asyncio.to_thread(kept_archive, workspace, minor, facts.host) is not None:
                return facts
    return await _detect(session, wish)


async def look_again(session: Session, wish: Wish, minor: str | None = None) -> Facts:
    """Find uv and an interpreter: the one that the environment stands on where it fits, else any of a minor version."""
    if minor is None and session.choices.python is None:
        state = await _state(session)
        facts = await _known(session, state)
        if facts is not None and _fits(wish, facts):
            return _told(session, facts)
        if wish.resolved is None:  # otherwise the Python is known without asking for it
            minor = await _own_minor(session, state)
    return await look(session, wish, minor)


async def _state(session: Session) -> EnvironmentFacts:
    return await asyncio.to_thread(inspect_environment, session.workspace, None)


async def _own_minor(session: Session, state: EnvironmentFacts) -> str | None:
    """Return the minor version of the environment's Python; its lock knows it where nothing else does."""
    version = state.python or (await asyncio.to_thread(recorded_source, session.workspace)).get("python")
    return minor_of(version) if version else None


async def _known(session: Session, state: EnvironmentFacts) -> Facts | None:
    return await known_facts(session.workspace, session.runner, await session.probe_environment(), host_facts(), state)


def _fits(wish: Wish, facts: Facts) -> bool:
    version = facts.python.version if facts.python is not None else ""
    return bool(version) and (wish.python_range is None or wish.python_range.contains(version))


def _told(session: Session, facts: Facts) -> Facts:
    facts = replace(facts, graphics=session.graphics or (), torch=session.torch)
    content = detected_content(facts, session.language) | {"settings": settings_content(session.choices)}
    session.emit(DetectedEvent(content))
    return facts
