"""What was added to the requirements travels in a bundle as such, so that it can be taken out again where it arrives."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from packaging.requirements import InvalidRequirement, Requirement

from amlwizard.core.added_lines import name_of
from amlwizard.core.environment.by_hand import HASH_MARK, STORE_PREFIX
from amlwizard.core.extended_lock import added_requirements, replaced_packages
from amlwizard.core.lock import own_table, own_texts, readable_lock
from amlwizard.core.wish import lock_in_use

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from packaging.pylock import Pylock

    from amlwizard.core.lock import StoredWheel
    from amlwizard.core.paths import Workspace


@dataclass(frozen=True)
class Additions:
    """The note of a lock (``extended_lock``): the requirements that were added, and the names of what they brought."""

    added: tuple[str, ...] = ()
    brought: tuple[str, ...] = ()

    def to_toml(self) -> dict[str, Any]:
        """Return the note, empty where nothing was added."""
        return {"added": list(self.added), "brought": list(self.brought)} if self.added else {}


NO_ADDITIONS: Final = Additions()


def additions_of(workspace: Workspace, wheels: Sequence[StoredWheel]) -> Additions:
    """Return what of these wheels of a workspace was added. Blocks.

    What came from an address or a file comes from the bundle where it arrives. Where another version gave way, which is
    not in the bundle, nothing could be taken out.
    """
    lock = readable_lock(lock_in_use(workspace))
    if lock is None or replaced_packages(lock):
        return NO_ADDITIONS
    here = {wheel.name: _place(wheel.name, wheel.path.name, wheel.sha256) for wheel in wheels}
    named = [(name_of(line), line) for line in added_requirements(lock)]
    added = tuple(here[name] if " @ " in line else line for name, line in named if name in here)
    return Additions(added, tuple(name for name in own_texts(own_table(lock), "brought") if name in here))


def carried_additions(lock: Pylock) -> Additions:
    """Return the note of a bundle's lock; what does not speak of its own packages is nobody's wish and left out."""
    names: dict[str, str] = {
        package.name: _place(package.name, wheel.filename, wheel.hashes.get("sha256", ""))
        for package in lock.packages
        for wheel in package.wheels or ()
    }
    about = own_table(lock)
    added = tuple(line for line in own_texts(about, "added") if _is_of(line, names))
    return Additions(added, tuple(name for name in own_texts(about, "brought") if name in names))


def _is_of(line: str, places: Mapping[str, str]) -> bool:
    with suppress(InvalidRequirement):
        wanted = Requirement(line)
        return wanted.name in places and (line == places[wanted.name] if wanted.url else line == str(wanted))
    return False


def _place(name: str, filename: str, sha256: str) -> str:
    return f"{name} @ {STORE_PREFIX}{filename}{HASH_MARK}{sha256}"
