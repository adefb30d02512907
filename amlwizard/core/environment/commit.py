"""Putting a verified environment in place of the old one, and mending what was interrupted (DESIGN 3.9, promise P1).

Each irreversible act is preceded by a flushed journal, and each state of the disk between two acts leads ``recover`` to
either the old environment or the new one. Which is which is told by the build identity in the marker, never by a path.
"""

from __future__ import annotations

import errno
import os
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from amlwizard.core import receipt
from amlwizard.core.environment import exchange as system
from amlwizard.core.environment.marker import Marker, marker_names, read_marker, write_marker
from amlwizard.core.environment.removal import is_link, remove_tree
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.journal import Action, Journal, clear_journal, read_journal, write_journal
from amlwizard.core.records import sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amlwizard.core.paths import Workspace

_PROTECTED: Final = frozenset({errno.EROFS} if os.name == "nt" else {errno.EROFS, errno.EACCES, errno.EPERM})
"""What the system says of a file that must not be removed; Windows says that it denies access to one in use as well."""


def _pass(_point: str) -> None:
    """Do nothing at a checkpoint."""


def new_build() -> str:
    """Return the identity of a new build."""
    return uuid.uuid4().hex


def refuse_foreign(workspace: Workspace) -> None:
    """Make sure that ``.venv`` is absent, empty, or ours.

    Raises:
        RefusedError: it is a link (``AML_VENV_LINK``) or not ours (``AML_VENV_FOREIGN``); nothing was touched.
    """
    venv = workspace.venv
    if not os.path.lexists(venv):
        return
    if is_link(venv):
        raise RefusedError("AML_VENV_LINK", path=str(venv))
    if not venv.is_dir() or not (is_ours(workspace, venv) or _is_empty(venv)):
        raise RefusedError("AML_VENV_FOREIGN", path=str(venv))


def is_ours(workspace: Workspace, folder: Path) -> bool:
    """Tell whether a folder carries our marker or stands in the receipt; a link is never ours."""
    if is_link(folder) or not folder.is_dir():
        return False
    return bool(marker_names(folder)) or receipt.owns(workspace, folder)


def begin_stage(workspace: Workspace) -> Journal:
    """Clear the way for a new environment beside the old one and write down that it is ours. Blocks: call it in a thread.

    Raises:
        RefusedError: what is in the way is not ours.
        AmlError: an older leftover cannot be removed.
    """
    refuse_foreign(workspace)
    discard(workspace, workspace.staged)
    receipt.note_created(workspace, workspace.staged, workspace.venv, workspace.aside, kind="environment")
    journal = Journal(Action.STAGE, new_build(), os.path.lexists(workspace.venv))
    write_journal(workspace, journal)
    return journal


def undo_stage(workspace: Workspace) -> None:
    """Throw the staged environment away, where one is under way. Blocks: call it in a thread."""
    if read_journal(workspace) is None:
        return
    discard(workspace, workspace.staged)
    clear_journal(workspace)


def commit_staged(workspace: Workspace, marker: Marker, checkpoint: Callable[[str], None] = _pass) -> None:
    """Put the verified staged environment in place. Blocks for a moment: call it in a thread.

    The old environment stays in ``workspace.aside`` for ``remove_old``. ``checkpoint`` is told each point between two acts.

    Raises:
        RefusedError: what is at ``.venv`` is not ours.
        AmlError: ``AML_COMMIT_FAILED`` where the system refused; the old environment is in place then.
    """
    refuse_foreign(workspace)
    discard(workspace, workspace.aside)
    write_marker(workspace.staged, marker)
    checkpoint("marked")
    system.flush_file_system(workspace.root)
    write_journal(workspace, Journal(Action.COMMIT, marker.build, os.path.lexists(workspace.venv)))
    checkpoint("journal")
    try:
        _put_in_place(workspace, checkpoint)
    except OSError as error:
        if not os.path.lexists(workspace.venv) and workspace.aside.is_dir():
            workspace.aside.rename(workspace.venv)
        raise AmlError("AML_COMMIT_FAILED", path=str(workspace.venv), reason=error.strerror or str(error)) from error
    checkpoint("placed")
    if not workspace.aside.is_dir():
        clear_journal(workspace)


def begin_in_place(workspace: Workspace) -> Journal:
    """Move the old environment aside so that a new one can be built at the final path. Blocks: call it in a thread.

    Raises:
        RefusedError: what is at ``.venv`` is not ours.
        AmlError: ``AML_COMMIT_FAILED`` where the old environment cannot be moved, such as when it is in use on Windows.
    """
    refuse_foreign(workspace)
    discard(workspace, workspace.aside)
    receipt.note_created(workspace, workspace.venv, workspace.aside, kind="environment")
    journal = Journal(Action.IN_PLACE, new_build(), _drop_empty(workspace.venv))
    write_journal(workspace, journal)
    if journal.had_old:
        try:
            workspace.venv.rename(workspace.aside)
        except OSError as error:
            clear_journal(workspace)
            raise AmlError("AML_COMMIT_FAILED", path=str(workspace.venv), reason=error.strerror or str(error)) from error
        sync_folder(workspace.root)
    return journal


def undo_in_place(workspace: Workspace) -> None:
    """Remove what is being built at the final path and bring the old environment back. Blocks: call it in a thread."""
    journal = read_journal(workspace)
    if journal is None or journal.action is not Action.IN_PLACE:
        return
    old_is_aside = workspace.aside.is_dir()
    if old_is_aside or not journal.had_old:
        discard(workspace, workspace.venv)
    if old_is_aside:
        workspace.aside.rename(workspace.venv)
        sync_folder(workspace.root)
    clear_journal(workspace)


def commit_in_place(workspace: Workspace, marker: Marker) -> None:
    """Declare the environment that was built and verified at its final path the one in use. Blocks: call it in a thread."""
    system.flush_file_system(workspace.root)
    write_marker(workspace.venv, marker)
    if not workspace.aside.is_dir():
        clear_journal(workspace)


def remove_old(workspace: Workspace) -> bool:
    """Remove what a commit left behind; False where something is in use, which the next start tries again.

    Blocks for seconds: call it in a thread.
    """
    for leftover in (workspace.aside, workspace.staged):
        if is_ours(workspace, leftover) and not remove_tree(leftover):
            return False
    clear_journal(workspace)
    return True


def recover(workspace: Workspace) -> str | None:
    """Finish or undo what an interrupted run left under way; the caller holds the workspace's lock alone.

    Returns:
        A catalogue key that says what was done, or None where nothing was to be done.

    Raises:
        AmlError: what is in the way cannot be removed, or belongs to a newer amlwizard.
    """
    journal = read_journal(workspace)
    if journal is None or journal.action is Action.BEGIN:  # the latter stays: repair goes on from it
        return _restore_stray(workspace)
    if journal.action is Action.STAGE:
        undo_stage(workspace)
        return _undone(workspace, "recover.stage_removed")
    if has_build(workspace.venv, journal.build):
        remove_old(workspace)
        return "recover.finished"
    if journal.action is Action.IN_PLACE:
        undo_in_place(workspace)
        return _undone(workspace, "recover.old_restored")
    return _recover_commit(workspace, journal)


def _restore_stray(workspace: Workspace) -> str | None:
    """Bring an old environment back that waits aside although nothing is known of a run (the journal was deleted)."""
    if os.path.lexists(workspace.venv) or not is_ours(workspace, workspace.aside):
        return None
    workspace.aside.rename(workspace.venv)
    sync_folder(workspace.root)
    return "recover.old_restored"


def _recover_commit(workspace: Workspace, journal: Journal) -> str:
    """Go on from a state in which the new environment is not in place yet."""
    if has_build(workspace.staged, journal.build):
        _put_in_place(workspace, _pass)
        remove_old(workspace)
        return "recover.finished"
    if not os.path.lexists(workspace.venv) and workspace.aside.is_dir():
        workspace.aside.rename(workspace.venv)
        sync_folder(workspace.root)
    clear_journal(workspace)
    return _undone(workspace, "recover.old_restored")


def _undone(workspace: Workspace, key: str) -> str:
    """Return what is said of an environment that an interruption left as it was, or that there never was one."""
    return key if os.path.lexists(workspace.venv) else "recover.first_removed"


def _put_in_place(workspace: Workspace, checkpoint: Callable[[str], None]) -> None:
    venv, staged, aside = workspace.venv, workspace.staged, workspace.aside
    if _drop_empty(venv):
        if system.exchange(staged, venv):
            checkpoint("exchanged")
            sync_folder(workspace.root)
            with suppress(OSError):  # the new one is in place; remove_old finds the old one here as well
                staged.rename(aside)
                sync_folder(workspace.root)
            return
        venv.rename(aside)
        checkpoint("gap")
    staged.rename(venv)
    sync_folder(workspace.root)


def discard(workspace: Workspace, folder: Path) -> None:
    """Remove one of our own folders with all that is in it. Blocks: call it in a thread.

    Raises:
        RefusedError: it is a link or carries no sign of ours.
        AmlError: something in it cannot be removed: ``AML_LEFTOVER_PROTECTED`` where that is not allowed,
            ``AML_LEFTOVER_STUCK`` where it is in use.
    """
    if not os.path.lexists(folder):
        return
    if is_link(folder):
        raise RefusedError("AML_VENV_LINK", path=str(folder))
    if not is_ours(workspace, folder):
        raise RefusedError("AML_VENV_FOREIGN", path=str(folder))
    refused: list[OSError] = []
    if remove_tree(folder, refused):
        return
    protected = next((error for error in refused if error.errno in _PROTECTED), None)
    if protected is None:
        raise AmlError("AML_LEFTOVER_STUCK", path=str(folder))
    reason = protected.strerror or str(protected)
    raise AmlError("AML_LEFTOVER_PROTECTED", path=str(folder), file=str(protected.filename or folder), reason=reason)


def has_build(environment: Path, build: str) -> bool:
    """Tell whether an environment is the one that a build made and that was found right."""
    if is_link(environment):
        return False
    marker = read_marker(environment)
    return marker is not None and marker.build == build


def _drop_empty(venv: Path) -> bool:
    """Remove an empty folder at the environment's place; tell whether something is there."""
    if venv.is_dir() and not is_link(venv) and _is_empty(venv):
        venv.rmdir()
    return os.path.lexists(venv)


def _is_empty(folder: Path) -> bool:
    with os.scandir(folder) as entries:
        return next(entries, None) is None
