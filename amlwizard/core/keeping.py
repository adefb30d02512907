"""What becomes of what the user added by hand where an environment is built afresh: kept as requirements, or left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from amlwizard.core.added_lines import label, name_of
from amlwizard.core.catalogue import text
from amlwizard.core.environment.by_hand import ByHand, find_by_hand, wanted_by_user
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.records import copy_atomically
from amlwizard.core.store.ledger import Noted, note_files, store_place
from amlwizard.core.wording import added_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amlwizard.core.before import Before
    from amlwizard.core.paths import Workspace
    from amlwizard.core.wish import Wish


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
    found = [package for package in find_by_hand(workspace) if package.name not in wish.leaves]
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
    return replace(wish, added=tuple(kept[name] for name in sorted(kept)))


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


def without_named(wish: Wish, names: Iterable[str]) -> Wish:
    """Return the wish without those additions that its requirements name themselves by now."""
    named = set(names)
    return replace(wish, added=tuple(line for line in wish.added if line not in named))
