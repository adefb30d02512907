"""What was added by hand and is there now, as a front end shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.added_lines import name_of
from amlwizard.core.environment.by_hand import find_by_hand
from amlwizard.core.extended_lock import added_requirements
from amlwizard.core.facts import AddedPackage
from amlwizard.core.lock import readable_lock
from amlwizard.core.wish import lock_in_use

if TYPE_CHECKING:
    from collections.abc import Collection

    from amlwizard.core.facts import EnvironmentFacts
    from amlwizard.core.paths import Workspace


def with_additions(state: EnvironmentFacts, workspace: Workspace) -> EnvironmentFacts:
    """Return the state with what was added by hand, and what was so before and is kept in the lock. Blocks."""
    found = find_by_hand(workspace)
    kept = kept_packages(workspace, {package.name for package in found})
    return replace(state, added=tuple(package.shown for package in found), kept=kept)


def kept_packages(workspace: Workspace, but: Collection[str]) -> tuple[AddedPackage, ...]:
    """Return what was added by hand once and stands in the lock now, all but those named. Blocks."""
    lock = readable_lock(lock_in_use(workspace))
    if lock is None:
        return ()
    versions: dict[str, str] = {package.name: str(package.version or "") for package in lock.packages}
    names = map(name_of, added_requirements(lock))
    there = [name for name in names if name in versions or name.startswith("-e ")]  # some are for other computers
    return tuple(AddedPackage(name, versions.get(name, "")) for name in there if name not in but)
