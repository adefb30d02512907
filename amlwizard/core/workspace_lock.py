"""One run at a time: the operating system's lock on a workspace, freed by the kernel when its holder dies (DESIGN 6).

There are two locks. ``hold_run`` is held alone by a run that changes the workspace. ``hold_use`` is shared by those that
use the environment, such as jobs, and is held alone for the moment of a commit. Neither waits for anybody. A lock that
nobody alive holds is tried for a moment: a child that a killed run was starting has it until it becomes another program.
Who holds a lock is written beside it for people to read; only the kernel's lock itself decides.
"""

from __future__ import annotations

import errno
import itertools
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from amlwizard.core.births import Birth, birth_of, is_alive, this_boot
from amlwizard.core.errors import AmlError, BusyError, RefusedError
from amlwizard.core.facts import Holder
from amlwizard.core.kernel_lock import try_lock
from amlwizard.core.newer_records import refuse_newer_records
from amlwizard.core.records import read_record, utc_now, write_record
from amlwizard.core.root_checks import refuse_linked_folders, root_refusal
from amlwizard.core.system_errors import is_full

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from amlwizard.core.paths import Workspace

_NOBODY_SECONDS = 1.0
"""How long a lock is tried that nobody who lives has noted."""
_LOOK_SECONDS = 0.02
_SHORT = frozenset({"verify", "bundle"})
"""What uses the environment for no longer than it takes; a job may do so for days."""
_NOT_WRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})

_serial = itertools.count()


class _HeldByOthersError(Exception):
    """A lock is held by others, of whom those are known that noted it."""

    def __init__(self, holders: Sequence[Holder]) -> None:
        super().__init__()
        self._holders = holders or [Holder()]

    def first(self) -> BusyError:
        """Return the error that names the first of them."""
        first = self._holders[0]
        return BusyError("AML_WORKSPACE_BUSY", pid=first.pid or "?", since=first.since or "?", command=first.command or "?")

    def all(self) -> BusyError:
        """Return the error that names all of them, with their process ids."""
        programs = tuple((holder.command or "?", holder.pid or "?") for holder in self._holders)
        jobs = ", ".join(f"{command} ({pid})" for command, pid in programs)
        return BusyError("AML_ENVIRONMENT_IN_USE", jobs=jobs, programs=programs)


@contextmanager
def hold_run(workspace: Workspace, command: str) -> Iterator[None]:
    """Hold the workspace alone for a run that changes it.

    Raises:
        RefusedError: a folder of ours is a link to another place (``AML_FOLDER_LINK``), the workspace cannot be written
            (``AML_ROOT_READ_ONLY``, ``AML_ROOT_NOT_WRITABLE``, ``AML_ROOT_NOT_YOURS``), the lock's file is a folder
            (``AML_FILE_IS_FOLDER``), or a newer amlwizard wrote a record in it.
        BusyError: another run holds it (``AML_WORKSPACE_BUSY`` with ``pid``, ``since`` and ``command``).
        AmlError: this file system knows no locks (``AML_LOCK_FAILED``).
    """
    refuse_linked_folders(workspace)
    refuse_newer_records(workspace)
    try:
        with _held(workspace, workspace.lock_file, command, shared=False):
            yield
    except _HeldByOthersError as error:
        raise error.first() from error


@contextmanager
def hold_use(workspace: Workspace, command: str, *, alone: bool = False) -> Iterator[None]:
    """Hold the environment for its use, together with others, or ``alone`` for the moment of its exchange.

    Raises:
        BusyError: others use it (``AML_ENVIRONMENT_IN_USE`` names them all in ``jobs``, and as pairs of command and process
            in ``programs``), or it is being exchanged (``AML_WORKSPACE_BUSY``).
        AmlError: this file system knows no locks (``AML_LOCK_FAILED``).
    """
    try:
        with _held(workspace, workspace.use_lock_file, command, shared=not alone):
            yield
    except _HeldByOthersError as error:
        raise (error.all() if alone else error.first()) from error


def refuse_while_used(workspace: Workspace, command: str) -> None:
    """Make sure that no job uses the environment now, before hours are spent on another one.

    What ends before long is waited for when that one is to be put in place.

    Raises:
        BusyError: ``AML_ENVIRONMENT_IN_USE`` names those that use it.
        AmlError: this file system knows no locks (``AML_LOCK_FAILED``).
    """
    try:
        with hold_use(workspace, command, alone=True):
            pass
    except BusyError as error:
        if not ends_soon(error):
            raise


def ends_soon(error: BusyError) -> bool:
    """Tell whether all that uses the environment, as ``hold_use`` has found it, are commands that end by themselves."""
    programs = error.arguments.get("programs")
    return isinstance(programs, tuple) and all(command in _SHORT for command, _ in programs)


def run_holders(workspace: Workspace) -> list[Holder]:
    """Return the run that holds the workspace, if any."""
    return _holders(workspace, workspace.lock_file)


def run_holder(workspace: Workspace) -> Holder | None:
    """Return who holds the workspace for a run at this moment, None where nobody does. Creates nothing.

    The kernel's lock decides: of a holder that could not be noted nothing is known.
    """
    try:
        descriptor = os.open(workspace.lock_file, os.O_RDONLY)
    except OSError:
        return None
    try:
        if try_lock(descriptor, shared=True):  # for a blink, in which a run that begins tries once more
            return None
    except OSError:  # no locks here, so nobody can hold one
        return None
    finally:
        os.close(descriptor)
    holders = run_holders(workspace)
    return holders[0] if holders else Holder()


def other_run(workspace: Workspace) -> Holder | None:
    """Return who holds the workspace for a run at this moment, None where nobody or this process does. Creates nothing."""
    holder = run_holder(workspace)
    return None if holder is None or holder.pid == os.getpid() else holder


def refuse_while_run(workspace: Workspace) -> None:
    """Name the run that holds the workspace, before what it has not made yet is found missing. Creates nothing.

    Raises:
        BusyError: another run holds it (``AML_WORKSPACE_BUSY``).
    """
    holder = other_run(workspace)
    if holder is not None:
        raise _HeldByOthersError([holder]).first()


def use_holders(workspace: Workspace) -> list[Holder]:
    """Return those that use the environment."""
    return _holders(workspace, workspace.use_lock_file)


@contextmanager
def _held(workspace: Workspace, path: Path, command: str, *, shared: bool) -> Iterator[None]:
    descriptor = _open(workspace, path, shared=shared)
    try:
        deadline = time.monotonic() + _NOBODY_SECONDS
        while not _locked(descriptor, path, shared=shared):
            holders = _holders(workspace, path, tidy=True)
            if holders or time.monotonic() > deadline:
                raise _HeldByOthersError(holders)
            time.sleep(_LOOK_SECONDS)
        note = workspace.holders / f"{path.name}-{os.getpid()}-{next(_serial)}.json"
        with suppress(OSError):  # a workspace that another account owns can be used although nothing can be noted in it
            write_record(note, _description(command))
        try:
            yield
        finally:
            with suppress(OSError):
                note.unlink()
    finally:
        os.close(descriptor)


def _locked(descriptor: int, path: Path, *, shared: bool) -> bool:
    try:
        return try_lock(descriptor, shared=shared)
    except OSError as error:
        raise AmlError("AML_LOCK_FAILED", path=str(path), reason=error.strerror or str(error)) from error


def _open(workspace: Workspace, path: Path, *, shared: bool) -> int:
    """Open the lock file; what is opened here is closed on exec, so that children do not inherit the lock."""
    if path.is_dir():
        raise RefusedError("AML_FILE_IS_FOLDER", path=str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        if shared:
            with suppress(OSError):
                return os.open(path, os.O_RDONLY)
        if error.errno in _NOT_WRITABLE or is_full(error):
            raise root_refusal(workspace.root, error) from error
        raise AmlError("AML_LOCK_FAILED", path=str(path), reason=error.strerror or str(error)) from error


def _description(command: str) -> dict[str, object]:
    birth = birth_of(os.getpid()) or Birth(this_boot(), 0.0)
    return {"pid": os.getpid(), "boot": birth.boot, "born": birth.at, "since": utc_now(), "command": command}


def _holders(workspace: Workspace, path: Path, *, tidy: bool = False) -> list[Holder]:
    """Return who noted to hold a lock and is still alive; ``tidy`` removes the notes of the dead."""
    found = []
    for note in sorted(workspace.holders.glob(f"{path.name}-*.json")):
        record = read_record(note)
        if record is None:
            continue
        try:
            alive = is_alive(int(record["pid"]), Birth(str(record["boot"]), float(record["born"])))
        except (KeyError, TypeError, ValueError, OverflowError):  # the note is damaged
            alive = False
        if alive:
            found.append(Holder(record["pid"], str(record.get("since", "")), str(record.get("command", ""))))
        elif tidy:
            with suppress(OSError):
                note.unlink()
    return sorted(found, key=lambda holder: holder.since)
