"""Whether a folder can be the workspace: tried with real files, which are removed again (DESIGN section 8)."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from amlwizard.core.births import birth_of
from amlwizard.core.environment.removal import is_link
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.host import system_name
from amlwizard.core.paths import Workspace
from amlwizard.core.root_places import folder_of_programs, foreign_owner, is_everybodys, what_lies_in
from amlwizard.core.root_reach import refuse_out_of_reach
from amlwizard.core.settings import home_folder
from amlwizard.core.system_errors import is_full, not_written, reason_of
from amlwizard.core.write_access import can_write, is_read_only
from amlwizard.resources import own_folders

_PROBE_PREFIX: Final = ".aml-probe-"
_PROBE_FILES: Final = ("written", "renamed", "link")
_PROBE_SECONDS: Final = 15.0
_SCRIPT: Final = "#!/bin/sh\nexit 0\n"
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


def check_root(root: Path) -> None:
    """Refuse a folder that cannot be the workspace; nothing is left behind.

    May take a while on a network drive: call it in a thread where a window waits.

    Raises:
        RefusedError: one of the ``AML_ROOT_*`` and ``AML_FOLDER_*`` codes.
        AmlError: its disk is full (``AML_NO_SPACE``).
    """
    check_root_by_looking(root)
    try:
        _check_by_doing(root)
    except OSError as error:
        raise root_refusal(root, error) from error


def check_root_by_looking(root: Path) -> None:
    """Refuse what ``check_root`` refuses without trying it: nothing is written or started.

    Raises:
        RefusedError: one of the ``AML_ROOT_*`` and ``AML_FOLDER_*`` codes.
    """
    _check_name(root)
    try:
        _check_place(root)
        refuse_linked_folders(Workspace(root))
        _refuse_no_folders(Workspace(root))
    except OSError as error:
        raise root_refusal(root, error) from error


def _check_name(root: Path) -> None:
    path = str(root)
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise RefusedError("AML_ROOT_BAD_NAME", path=path.encode("utf-8", "backslashreplace").decode()) from None
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in path):
        raise RefusedError("AML_ROOT_BAD_NAME", path=path.encode("unicode_escape").decode("ascii"))
    if os.pathsep in path:
        raise RefusedError("AML_ROOT_PATH_SEPARATOR", path=path, separator=os.pathsep)
    if not root.is_absolute():
        raise RefusedError("AML_ROOT_RELATIVE", path=path)
    refuse_out_of_reach(root)


def _check_place(root: Path) -> None:
    for place in (root, *root.parents):
        if os.path.lexists(place) and not place.exists():
            raise RefusedError("AML_ROOT_DANGLING_LINK", path=str(place))
        if place.exists() and not place.is_dir():
            raise RefusedError("AML_ROOT_IS_FILE", path=str(place))
    real = root.resolve()
    home = home_folder(os.environ)
    system, example = system_name(sys.platform), str(home / "aml")
    if real in {Path(real.anchor), home.resolve()} or is_everybodys(real, os.environ, system):
        raise RefusedError("AML_ROOT_TOO_BROAD", path=str(root), example=example)
    programs = folder_of_programs(real, os.environ, system, own_folders())
    if programs is not None:
        what = what_lies_in(programs)
        raise RefusedError("AML_ROOT_IN_PROGRAMS", path=str(root), programs=str(programs), what=what, example=example)
    for folder in (real, *real.parents):
        if (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta" / "history").is_file():
            raise RefusedError("AML_ROOT_IN_ENVIRONMENT", path=str(root), environment=str(folder))
    for place in dict.fromkeys((root, *root.parents, real, *real.parents)):
        if is_own_folder(place):
            raise RefusedError("AML_ROOT_IN_WORKSPACE", path=str(root), workspace=str(place.parent), folder=str(place))


def is_own_folder(folder: Path) -> bool:
    """Tell whether a folder is a workspace's own: what lies in it is freed and removed with it."""
    workspace = Workspace(folder.parent)
    is_workspace = workspace.receipt.is_file() or workspace.lock_file.is_file()
    return is_workspace and any(_is_same(folder, own) for own in workspace.own_folders)


def _is_same(folder: Path, own: Path) -> bool:
    """Tell whether two paths name one folder, also where the system tells no capital letters from small ones."""
    return folder == own or (folder.exists() and own.exists() and folder.samefile(own))


def refuse_linked_folders(workspace: Workspace, *more: Path) -> None:
    """Make sure that what is ours alone lies in the workspace itself: nothing is written or removed elsewhere.

    ``downloads`` may lead to a store that several workspaces have in common: files come into it, and none is freed there.

    Args:
        workspace: the workspace.
        more: further folders in it that are to be written.

    Raises:
        RefusedError: ``AML_FOLDER_LINK`` names the link.
    """
    for folder in (workspace.runtime, workspace.tools, workspace.interpreters, *more):
        if is_link(folder):
            raise RefusedError("AML_FOLDER_LINK", path=str(folder))


def _refuse_no_folders(workspace: Workspace) -> None:
    """Make sure that nothing else lies where a folder has to be; ``downloads`` and ``cache`` may be links to folders."""
    own = (workspace.runtime, workspace.tools, workspace.interpreters, workspace.downloads, workspace.cache)
    for folder in own:
        if os.path.lexists(folder) and not folder.exists():
            raise RefusedError("AML_ROOT_DANGLING_LINK", path=str(folder))
        if folder.exists() and not folder.is_dir():
            raise RefusedError("AML_FOLDER_IS_FILE", path=str(folder))


def _check_by_doing(root: Path) -> None:
    existing = next(folder for folder in (root, *root.parents) if folder.is_dir())
    _remove_dead_probes(existing)
    private = Path(tempfile.mkdtemp(prefix=f"{_PROBE_PREFIX}{os.getpid()}-", dir=existing))
    try:
        _write_and_run(root, private)
    finally:
        shutil.rmtree(private, ignore_errors=True)


def _remove_dead_probes(folder: Path) -> None:
    """Remove what a check left here that was killed; what holds anything of others stays."""
    for left in folder.glob(f"{_PROBE_PREFIX}*-*"):
        owner = left.name.removeprefix(_PROBE_PREFIX).partition("-")[0]
        with suppress(OSError):
            if owner.isdecimal() and birth_of(int(owner)) is None and not left.is_symlink():
                for name in _PROBE_FILES:
                    (left / name).unlink(missing_ok=True)
                left.rmdir()


def _write_and_run(root: Path, private: Path) -> None:
    """Do once what an installation does all the time."""
    written, renamed, link = (private / name for name in _PROBE_FILES)
    written.write_text(_SCRIPT, encoding="utf-8", newline="\n")
    written.rename(renamed)
    if os.name == "nt":
        renamed.unlink()
        return
    try:
        link.symlink_to(renamed.name)
    except OSError as error:
        if error.errno in _NO_LINKS:
            raise RefusedError("AML_ROOT_NO_LINKS", path=str(root)) from error
        raise
    renamed.chmod(0o700)
    _run(root, renamed)
    renamed.unlink()


def _run(root: Path, script: Path) -> None:
    try:
        subprocess.run(
            [script],
            env={},
            cwd=script.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=True,
        )
    except PermissionError as error:
        raise RefusedError("AML_ROOT_NOEXEC", path=str(root), mount=_mount_point(script)) from error
    except OSError as error:
        if error.errno != errno.ETXTBSY:  # another thread is starting a child meanwhile; starting as such is allowed
            raise
    except subprocess.SubprocessError as error:
        raise RefusedError("AML_ROOT_NOEXEC", path=str(root), mount=_mount_point(script), detail=str(error)) from error


def _mount_point(path: Path) -> str:
    return str(next(folder for folder in path.resolve().parents if os.path.ismount(folder)))


def write_refusal(root: Path) -> AmlError | None:
    """Return why this account cannot change the workspace that is there, or None; told without trying but on Windows."""
    if not root.is_dir() or can_write(root):
        return None
    number = errno.EROFS if is_read_only(root) else errno.EACCES
    return root_refusal(root, OSError(number, os.strerror(number)))


def root_refusal(root: Path, error: OSError) -> AmlError:
    """Return the error for what the system refused when something was to be written into a workspace."""
    if is_full(error):
        return not_written(root, error)
    if error.errno == errno.EROFS:
        return RefusedError("AML_ROOT_READ_ONLY", path=str(root))
    if (owner := foreign_owner(root)) is not None:
        return RefusedError("AML_ROOT_NOT_YOURS", path=str(root), owner=owner)
    return RefusedError("AML_ROOT_NOT_WRITABLE", path=str(root), reason=reason_of(error))
