"""Whether a workspace holds what is wanted already. It imports little, so that such a run is over at once."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from amlwizard.core.accelerator import accelerator_remark
from amlwizard.core.environment.state import inspect_environment, inspect_for
from amlwizard.core.errors import AmlError
from amlwizard.core.events import RunState
from amlwizard.core.outcome import success_event
from amlwizard.core.paths import Workspace
from amlwizard.core.plain_files import exists
from amlwizard.core.wish import keeps_accelerator, make_wish

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.facts import EnvironmentFacts


def already_ready(choices: Choices, language: str) -> FinishedEvent | None:
    """Return the end of an installation that has nothing to do, or None where there may be something. Blocks.

    What a run has noted, a dead one perhaps, has to be looked at first.
    """
    workspace = Workspace(choices.root)
    return None if exists(workspace.journal) or _has_notes(workspace) else ready_now(choices, language)


def _has_notes(workspace: Workspace) -> bool:
    try:
        with os.scandir(workspace.runs) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


def ready_now(choices: Choices, language: str) -> FinishedEvent | None:
    """Do the same whatever runs have noted, for the caller who has looked at that."""
    if choices.refresh or choices.until is not None:
        return None
    started = time.monotonic()
    workspace = Workspace(choices.root)
    try:
        state = _ready_state(choices, workspace)
    except Exception:  # noqa: BLE001 - the run itself meets it again, and says what is wrong
        return None
    if state is None:
        return None
    remark = accelerator_remark(choices, make_wish(choices, workspace, os.environ), language) if choices.accelerator else ""
    seconds = time.monotonic() - started
    return success_event(
        "AML_ALREADY_READY", RunState.READY, workspace.root, workspace.python, state, language, seconds, detail=remark
    )


def environment_state(choices: Choices) -> EnvironmentFacts:
    """Return the state of the workspace's environment, stale where another one is wanted. Starts nothing; blocks."""
    from amlwizard.core.additions import with_additions  # these read locks, which takes time to load
    from amlwizard.core.lock_recovery import with_lock

    workspace = Workspace(choices.root)
    return with_additions(with_lock(_state(choices, workspace), workspace), workspace)


def _state(choices: Choices, workspace: Workspace) -> EnvironmentFacts:
    try:
        return inspect_for(workspace, lambda python: _wanted_digest(choices, workspace, python))
    except AmlError:  # what is wrong with the wish is said by the plan
        return inspect_environment(workspace)


def _wanted_digest(choices: Choices, workspace: Workspace, python: str) -> str:
    """Return the digest of an environment that is what is wanted; none has the empty one of another accelerator."""
    wish = make_wish(choices, workspace, os.environ)
    return wish.digest(python) if keeps_accelerator(choices, workspace, wish) else ""


def _ready_state(choices: Choices, workspace: Workspace) -> EnvironmentFacts | None:
    """Return the environment's state where it is what is wanted already."""
    state = inspect_environment(workspace, None)
    if not state.ready or state.python is None:
        return None
    if state.digest != _wanted_digest(choices, workspace, state.python):
        return None
    if choices.interpreter is not None:
        # where environments hold a copy of the interpreter instead of a link, this builds afresh
        return state if workspace.python.resolve() == choices.interpreter.resolve() else None
    met = choices.python is None or f"{state.python}.".startswith(f"{choices.python}.")
    return state if met else None
