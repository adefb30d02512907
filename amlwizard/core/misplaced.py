"""What lies in a place of ours and is of another type: a folder where a file has to be, or the other way round.

None of it is ours. A repair moves it to ``set-aside``; whatever else would write there refuses it before anything is done.
"""

from __future__ import annotations

import os
import re
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from amlwizard.core import receipt
from amlwizard.core.built_store import RECORD as BUILT_RECORD
from amlwizard.core.environment.marker import marker_names
from amlwizard.core.environment.removal import is_link
from amlwizard.core.errors import RefusedError
from amlwizard.core.host import host_facts
from amlwizard.core.interpreters import origins
from amlwizard.core.loose import refuse_place
from amlwizard.core.opening.jupyter import ICON, LAUNCHER
from amlwizard.core.plain_files import is_folder
from amlwizard.core.records import read_record
from amlwizard.core.store.needs import find_needs
from amlwizard.core.store.survey import is_known, known_names, whole_name
from amlwizard.core.system_errors import not_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from amlwizard.core.paths import Workspace

OF_BUILT: Final = re.compile(r"[0-9a-f]{16}")
"""How the folders of wheels that were built here are named."""


def misplaced(workspace: Workspace) -> list[Path]:
    """Return what lies in the place of a file or a folder of ours and is none. Changes nothing; blocks for a moment.

    Raises:
        RefusedError: a newer amlwizard wrote a record.
    """
    return [*_for_files(workspace), *_for_folders(workspace)]


def refuse_misplaced(workspace: Workspace) -> None:
    """Refuse the first of it, before anything is written there. Blocks for a moment.

    Raises:
        RefusedError: ``AML_FILE_IS_FOLDER`` or ``AML_FOLDER_IS_FILE``.
    """
    for path in misplaced(workspace):
        raise RefusedError("AML_FILE_IS_FOLDER" if is_folder(path) else "AML_FOLDER_IS_FILE", path=str(path))


def free_lock_files(workspace: Workspace, moved: list[Path]) -> None:
    """Do what ``set_misplaced_aside`` does for the files of the locks, without which none can be held. Blocks.

    Raises:
        AmlError: as ``set_misplaced_aside``.
    """
    _set_aside(workspace, _folders_of((workspace.lock_file, workspace.use_lock_file)), moved)


def set_misplaced_aside(workspace: Workspace, moved: list[Path]) -> None:
    """Move all of it to ``set_aside``; a receipt is written anew. Blocks.

    The caller holds the workspace alone. ``moved`` takes the places there, of what was moved before an error as well.

    Raises:
        AmlError: it cannot be moved (``AML_CANNOT_WRITE``), or there is no place for it (``AML_FOLDER_IS_FILE``,
            ``AML_FOLDER_NO_ENTRY``).
    """
    if _set_aside(workspace, _folders_of((workspace.receipt,)), moved):
        receipt.write_anew(workspace)  # while what shows that an environment is ours is in place
    _set_aside(workspace, misplaced(workspace), moved)


def _set_aside(workspace: Workspace, paths: Iterable[Path], moved: list[Path]) -> bool:
    paths = list(paths)
    if not paths:
        return False
    refuse_place(workspace.set_aside)
    folder = workspace.set_aside / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}-{uuid.uuid4().hex[:4]}"
    for path in paths:
        target = folder / path.relative_to(workspace.root)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        except OSError as error:
            raise not_written(error, path) from error
        moved.append(target)
    return True


def _for_files(workspace: Workspace) -> Iterator[Path]:
    records = set(workspace.record_files)
    yield from (path for path in _folders_in(workspace.runtime) if path.with_name(whole_name(path.name)) in records)
    yield from (path for path in _folders_in(workspace.kit) if whole_name(path.name).endswith(".py"))
    yield from (path for path in _folders_in(workspace.jupyter) if whole_name(path.name) in {LAUNCHER, ICON})
    yield from _folders_in(workspace.terminal)
    yield from _folders_of(workspace.venv / name for name in marker_names(workspace.venv))
    if (read_record(workspace.uv_record) or {}).get("uvPath") == str(workspace.uv):  # else it may hold the user's own uv
        yield from _folders_of((workspace.uv,))
    if not is_link(workspace.downloads):  # a store that several have in common is not ours to tidy
        yield from _for_store_files(workspace)


def _for_store_files(workspace: Workspace) -> Iterator[Path]:
    found = [path for path in _folders_in(workspace.downloads) if path not in {workspace.built, workspace.unchecked}]
    if found:
        ours = known_names(workspace, find_needs(workspace, (), host_facts()))
        yield from (path for path in found if is_known(path.name, ours))
    for folder in _folders_in(workspace.built):
        if OF_BUILT.fullmatch(folder.name) and not is_link(folder):
            wheels = (path for path in _folders_in(folder) if path.suffix == ".whl" or path.name == BUILT_RECORD)
            yield from wheels


def _for_folders(workspace: Workspace) -> Iterator[Path]:
    places = [*workspace.record_folders, workspace.staged, workspace.aside]
    places += [workspace.interpreters / name for name in origins(workspace)]
    if not is_link(workspace.downloads):
        places += [workspace.built, workspace.unchecked]
        places += [path for path in _entries(workspace.built) if OF_BUILT.fullmatch(path.name)]
    yield from (path for path in places if os.path.lexists(path) and not is_folder(path))


def _folders_of(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if is_folder(path)]


def _folders_in(folder: Path) -> list[Path]:
    return _folders_of(_entries(folder))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
