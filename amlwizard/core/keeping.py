"""What becomes of what the user added by hand where an environment is built afresh: kept as requirements, or left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from amlwizard.core.catalogue import text
from amlwizard.core.environment.by_hand import HASH_MARK, STORE_PREFIX, ByHand, find_by_hand, wanted_by_user
from amlwizard.core.extended_lock import added_requirements
from amlwizard.core.facts import AddedPackage
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.lock import readable_lock
from amlwizard.core.records import copy_atomically
from amlwizard.core.store.ledger import Noted, note_files, store_place
from amlwizard.core.wish import lock_in_use
from amlwizard.core.wording import added_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from amlwizard.core.before import Before
    from amlwizard.core.facts import EnvironmentFacts
    from amlwizard.core.paths import Workspace
    from amlwizard.core.wish import Wish


def with_additions(state: EnvironmentFacts, workspace: Workspace) -> EnvironmentFacts:
    """Return the state with what was added by hand, and what was so before and is kept in the lock. Blocks."""
    found = find_by_hand(workspace)
    kept = kept_packages(workspace, {package.name for package in found})
    return replace(state, added=tuple(package.shown for package in found), kept=kept)


def kept_packages(workspace: Workspace, but: Collection[str] = ()) -> tuple[AddedPackage, ...]:
    """Return what was added by hand once and stands in the lock now, all but those named. Blocks."""
    lock = readable_lock(lock_in_use(workspace))
    if lock is None:
        return ()
    versions: dict[str, str] = {package.name: str(package.version or "") for package in lock.packages}
    names = map(name_of, added_requirements(lock))
    return tuple(AddedPackage(name, versions.get(name, "")) for name in names if name not in but)


@dataclass(frozen=True)
class Settled:
    """A wish that says what becomes of what was added by hand, and the sentence for the user, empty where nothing was."""

    wish: Wish
    remark: str


def settle(
    wish: Wish, workspace: Workspace, language: str, *, keep: bool, exact: bool = False, before: Before | None = None
) -> Settled:
    """Look for what was added by hand, and keep it or leave it out. Blocks for a moment.

    Args:
        wish: what is wanted, with what was kept before.
        workspace: the workspace.
        language: of the sentence.
        keep: keep it.
        exact: what is left out is only what the lock does not have.
        before: what was there besides the lock of the wish, when that was in use.
    """
    found = find_by_hand(workspace)
    present = {package.name for package in found}
    back = [package for package in before.packages if package.name not in present] if before is not None else []
    shown = [*(package.shown for package in found), *back]
    if keep:
        remark = text("added.kept", language, packages=added_text(shown, language)) if shown else ""
        if before is not None:
            wish = _with_lines(wish, before.requirements)
            wish = replace(wish, added_versions={package.name: package.version for package in before.packages})
        return Settled(_with_lines(wish, [package.requirement for package in wanted_by_user(found)]), remark)
    kept = () if exact else tuple(label(line) for line in wish.added if name_of(line) not in present)
    named = text("cli.separator", language).join([*([added_text(shown, language)] if shown else []), *kept])
    remark = text("added.dropped", language, packages=named) if named else ""
    return Settled(wish if exact else replace(wish, added=()), remark)


def _with_lines(wish: Wish, lines: Iterable[str]) -> Wish:
    kept = {name_of(line): line for line in (*wish.added, *lines)}
    return replace(wish, added=tuple(dict.fromkeys(kept[name] for name in sorted(kept))))


def take_local_wheels(workspace: Workspace) -> None:
    """Copy the wheels of this computer that were installed by hand into the store. Blocks."""
    for package in find_by_hand(workspace):
        _take_wheel(package, workspace)


def _take_wheel(package: ByHand, workspace: Workspace) -> None:
    wheel, sha256 = package.local_wheel, package.local_sha256
    if wheel is None or not wheel.is_file() or file_sha256(wheel) != sha256:
        return  # what is not in the store will be missed there, by its name
    target = store_place(workspace, wheel.name, sha256)
    if target.is_file() and file_sha256(target) == sha256:
        return
    note_files(workspace, {target: Noted(sha256, wheel.stat().st_size)})
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_atomically(wheel, target)


def label(line: str) -> str:
    """Return a requirement as it is told: without the place of the store and the hash."""
    return line.replace(f" @ {STORE_PREFIX}", " ").partition(HASH_MARK)[0] if STORE_PREFIX in line else line


def without_named(wish: Wish, names: Iterable[str]) -> Wish:
    """Return the wish without those additions that its requirements name themselves by now."""
    named = set(names)
    return replace(wish, added=tuple(line for line in wish.added if line not in named))


def name_of(line: str) -> str:
    """Return the name that a requirement is about; of an editable folder the line itself."""
    if line.startswith("-e "):
        return line
    return canonicalize_name(line.partition(" @ ")[0].partition("==")[0].strip())


def is_plain(line: str) -> bool:
    """Tell whether a requirement is a name alone, of whatever version."""
    return name_of(line) == line and not line.startswith("-e ")


def rendered(line: str, workspace: Workspace, pins: Mapping[str, str]) -> str:
    """Return a requirement as a resolver reads it wherever it runs, at the version that is installed. Blocks."""
    name, direct, place = line.partition(" @ ")
    if direct and place.startswith(STORE_PREFIX):
        filename, _, sha256 = place.removeprefix(STORE_PREFIX).partition(HASH_MARK)
        wheel = store_place(workspace, filename, sha256 or None)
        return f"{name} @ {(wheel if wheel.is_file() else _where_it_came_from(workspace, wheel)).as_uri()}"
    return f"{line}=={pins[line]}" if is_plain(line) and line in pins else line


def _where_it_came_from(workspace: Workspace, wheel: Path) -> Path:
    """Return the place of a wheel that a look at what would be has not copied into the store."""
    origins = (package.local_wheel for package in find_by_hand(workspace))
    return next((origin for origin in origins if origin is not None and origin.name == wheel.name), wheel)
