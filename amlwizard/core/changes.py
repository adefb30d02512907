"""What a new lock changes in the environment that is in place, told before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.environment.by_hand import installed_distributions, same_version
from amlwizard.core.environment.marker import read_marker
from amlwizard.core.environment.record_check import SEEDS
from amlwizard.core.events import ChangesEvent
from amlwizard.core.facts import minor_of
from amlwizard.core.lock import FileKind
from amlwizard.core.store_files import installed_wheels
from amlwizard.core.storing import wanted_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.pylock import Pylock

    from amlwizard.core.context import RunContext
    from amlwizard.core.lock import LockedFile


def changes(run: RunContext, lock: Pylock) -> ChangesEvent | None:
    """Return what building from a lock changes, None where no environment is in place. Blocks for a moment."""
    marker = read_marker(run.workspace.venv)
    if marker is None:
        return None
    files = wanted_files(run, lock).files
    new = {file.name: file.version for file in files}
    stays = SEEDS if run.uv is None else frozenset()  # what venv puts into every environment
    found = installed_distributions(run.workspace.venv)
    old = {name: found[name][-1].version for name in found if name in new or name not in stays}
    python = run.require_python().version_text
    others = _other_content(run, files) if minor_of(marker.python) == minor_of(python) else set()
    return ChangesEvent(
        python=(marker.python, python) if marker.python != python else None,
        added=tuple((name, new[name] or "") for name in sorted(new.keys() - old.keys())),
        removed=tuple((name, old[name]) for name in sorted(old.keys() - new.keys())),
        changed=tuple(
            (name, old[name], version)
            for name, version in sorted(new.items())
            if name in old and version is not None and (name in others or not same_version(old[name], version))
        ),
    )


def _other_content(run: RunContext, files: Sequence[LockedFile]) -> set[str]:
    """Return the packages whose wheel is not the one that was installed, whatever version it has.

    That of something to be built is not known before, and on another Python another wheel is no news.
    """
    installed = {wheel.name: wheel.sha256 for wheel in installed_wheels(run.workspace)}
    wheels = (file for file in files if file.kind is FileKind.WHEEL and file.sha256 is not None)
    return {wheel.name for wheel in wheels if installed.get(wheel.name, wheel.sha256) != wheel.sha256}
