"""amlwizard for programs: make sure of an environment, get its interpreter, and the environment variables of a job.

    from amlwizard.api import ensure_environment

    environment = ensure_environment("/srv/ml", requirements="requirements.txt")
    subprocess.run([environment.python, "train.py"])

Settings and ``AML_*`` variables count as they do on the command line; arguments count more. Failures are raised as
``AmlError`` with a stable ``code``: ``RefusedError`` where nothing was changed, ``BusyError`` where another run holds the
workspace.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amlwizard.core.catalogue import system_language
from amlwizard.core.errors import AmlError, BusyError, RefusedError
from amlwizard.core.events import FinishedEvent, RunState
from amlwizard.text_mode import build_choices, build_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amlwizard.core.events import Event

__all__ = [
    "AmlError",
    "BusyError",
    "Environment",
    "RefusedError",
    "ensure_environment",
    "ensure_environment_async",
    "environment_python",
    "job_environment",
    "store_report",
]


@dataclass(frozen=True)
class Environment:
    """An environment that is ready.

    ``python`` is the interpreter, ``packages`` the number of installed packages, and ``lock`` the SHA-256 of the lock
    that it was built from.
    """

    root: Path
    python: Path
    packages: int | None
    lock: str | None


def ensure_environment(
    root: str | Path | None = None,
    *,
    requirements: str | Path | None = None,
    profile: str | None = None,
    on_event: Callable[[Event], None] | None = None,
    **choices: Any,
) -> Environment:
    """Make the workspace's environment ready, which takes a moment where it is, and return it.

    Not to be called where an event loop is running: see ``ensure_environment_async``.

    Args:
        root: the workspace; None for ``AML_ROOT``, the settings' or ``~/aml``.
        requirements: a requirements file or ``pylock.toml``.
        profile: a built-in list of packages, instead.
        on_event: is called with every event of the run.
        choices: the other options of ``amlwizard install``, by the names of ``core.settings.ChoiceOptions``: ``python``,
            ``index_url``, ``extra_index_urls``, ``offline`` and so on.

    Raises:
        AmlError: it could not be made ready; a working environment is still in place.
    """
    return asyncio.run(
        ensure_environment_async(root, requirements=requirements, profile=profile, on_event=on_event, **choices)
    )


async def ensure_environment_async(
    root: str | Path | None = None,
    *,
    requirements: str | Path | None = None,
    profile: str | None = None,
    on_event: Callable[[Event], None] | None = None,
    **choices: Any,
) -> Environment:
    """Do the same as ``ensure_environment`` in a running event loop. Cancelling the task stops every child first."""
    wish = build_choices(changes=True, root=root, requirements=requirements, profile=profile, **choices)
    finished = await build_engine(system_language()).install(wish, on_event or _ignore)
    task = asyncio.current_task()
    if finished.state is RunState.CANCELLED and task is not None and task.cancelling():
        raise asyncio.CancelledError  # the engine has turned the cancel of this task into a result
    if finished.state not in {RunState.READY, RunState.DONE}:
        raise _error(finished)
    python = Path(finished.python) if finished.python else environment_python(wish.root)
    return Environment(wish.root, python, finished.packages, finished.lock)


def environment_python(root: str | Path | None = None) -> Path:
    """Return the interpreter of a workspace's environment.

    Raises:
        AmlError: there is none that is ready (``AML_JOB_NOT_READY``).
    """
    from amlwizard.core.jobs import ready_python
    from amlwizard.core.paths import Workspace

    return ready_python(Workspace(build_choices(root=root).root))


def job_environment(root: str | Path | None, job_dir: str | Path, let_through: Sequence[str] = ()) -> dict[str, str]:
    """Return the whole environment of a job that works in ``job_dir``: small, clean, and without this program's secrets.

    ``let_through`` names variables of this process that the job may see besides.
    """
    from amlwizard.core.jobs import job_variables
    from amlwizard.core.paths import Workspace

    workspace = Workspace(build_choices(root=root).root)
    return job_variables(workspace, Path(job_dir).absolute(), os.environ, let_through=let_through)


def store_report(
    root: str | Path | None = None, *, prune: bool = False, on_event: Callable[[Event], None] | None = None
) -> dict[str, Any]:
    """Return what a workspace holds for working without a network and what it lacks, as docs/offline.md describes it.

    Not to be called where an event loop is running.

    Args:
        root: the workspace; None for ``AML_ROOT``, the settings' or ``~/aml``.
        prune: first free what nothing needs.
        on_event: is called with every event of the run.

    Raises:
        AmlError: there is no workspace, another run holds it, or something cannot be removed.
    """
    from amlwizard.core.events import StoreEvent

    found: dict[str, Any] = {}

    def listen(event: Event) -> None:
        if isinstance(event, StoreEvent):
            found.update(event.content)
        (on_event or _ignore)(event)

    choices = replace(build_choices(root=root), prune=prune)
    finished = asyncio.run(build_engine(system_language()).store(choices, listen))
    if finished.state is not RunState.DONE:
        raise _error(finished)
    return found


def _ignore(_event: Event) -> None:
    """Nobody asked for the events."""


def _error(finished: FinishedEvent) -> AmlError:
    kind = {RunState.REFUSED: RefusedError, RunState.BUSY: BusyError}.get(finished.state, AmlError)
    return kind(finished.code, detail=finished.detail, **finished.arguments)
