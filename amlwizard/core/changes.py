"""What a new lock changes in the environment that is in place, told before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.environment.by_hand import installed_distributions, same_version
from amlwizard.core.environment.marker import read_marker
from amlwizard.core.environment.record_check import SEEDS
from amlwizard.core.events import ChangesEvent
from amlwizard.core.storing import wanted_files

if TYPE_CHECKING:
    from packaging.pylock import Pylock

    from amlwizard.core.context import RunContext


def changes(run: RunContext, lock: Pylock) -> ChangesEvent | None:
    """Return what building from a lock changes, None where no environment is in place. Blocks for a moment."""
    marker = read_marker(run.workspace.venv)
    if marker is None:
        return None
    new = {file.name: file.version for file in wanted_files(run, lock).files}
    stays = SEEDS if run.uv is None else frozenset()  # what venv puts into every environment
    found = installed_distributions(run.workspace.venv)
    old = {name: found[name][-1].version for name in found if name in new or name not in stays}
    python = run.require_python().version_text
    return ChangesEvent(
        python=(marker.python, python) if marker.python != python else None,
        added=tuple((name, new[name] or "") for name in sorted(new.keys() - old.keys())),
        removed=tuple((name, old[name]) for name in sorted(old.keys() - new.keys())),
        changed=tuple(
            (name, old[name], version)
            for name, version in sorted(new.items())
            if name in old and version is not None and not same_version(old[name], version)
        ),
    )
