"""What a run notes about itself while it lives, so that the next one can clear up after it if it dies (DESIGN 3.9, P2).

A record is a folder ``runtime/runs/<run tag>`` with ``run.json`` and a list of the children; before the workspace may be
written, the first private folder in the system's temporary folder carries the same. A run that ends takes both away.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from amlwizard.core.births import Birth, birth_of, this_boot
from amlwizard.core.child_env import private_tmp
from amlwizard.core.plain_files import is_path, read_plain_text
from amlwizard.core.records import read_record, utc_now, write_record
from amlwizard.core.system_errors import failure_from_system, is_full, not_written
from amlwizard.core.temporary import system_folder

if TYPE_CHECKING:
    from amlwizard.core.paths import Workspace

RECORD: Final = "run.json"
PREFIX: Final = "aml-"
"""How the names of our folders in the system's temporary folder begin."""
_CHILDREN: Final = "children"


@dataclass(frozen=True)
class RunRecord:
    """The record of one run: ``shared`` is a job, which runs beside others; ``folders`` are its private ones."""

    tag: str
    pid: int
    birth: Birth
    machine: str
    command: str
    since: str
    root: str
    shared: bool
    folders: tuple[Path, ...]
    children: tuple[tuple[int, float], ...] = ()
    """Ids and births (``Birth.at``) of the processes that it started itself."""


def read_run_record(place: Path) -> RunRecord | None:
    """Return the record in a folder, or None where there is none that can be read.

    Raises:
        RefusedError: a newer amlwizard wrote it.
    """
    record = read_record(place / RECORD)
    if record is None:
        return None
    try:
        return RunRecord(
            tag=_text(record, "tag"),
            pid=int(record["pid"]),
            birth=Birth(_text(record, "boot"), float(record["born"])),
            machine=_text(record, "machine"),
            command=_text(record, "command"),
            since=_text(record, "since"),
            root=_text(record, "root"),
            shared=record["shared"] is True,
            folders=tuple(Path(folder) for folder in record["folders"] if isinstance(folder, str) and is_path(folder)),
            children=tuple(_children(place)),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def remove_private_folder(folder: Path) -> None:
    """Remove a private folder, its record last, so that what is left by a death meanwhile can be told to be ours."""
    with suppress(OSError):
        for path in [path for path in folder.iterdir() if path.name != RECORD]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _text(record: dict[str, Any], key: str) -> str:
    value = record[key]
    if not isinstance(value, str) or not value:
        raise ValueError(key)
    return value


def _children(place: Path) -> list[tuple[int, float]]:
    """Return the noted children; a line that the death of its writer cut off is passed over."""
    found = []
    with suppress(OSError):
        for line in read_plain_text(place / _CHILDREN, errors="replace").splitlines(keepends=True):
            words = line.split()
            if line.endswith("\n") and len(words) == 2:
                with suppress(ValueError):
                    found.append((int(words[0]), float(words[1])))
    return found


@dataclass
class OwnRecord:
    """The record of this run. Folders in it are made here, written down before anything is put into them."""

    workspace: Workspace
    tag: str
    shared: bool = False
    _command: str = ""
    _since: str = field(default_factory=utc_now)
    _folders: list[Path] = field(default_factory=list)
    _places: list[Path] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.remove()

    def note_child(self, pid: int) -> None:
        """Write down a process that was just started; one that is over already needs no note."""
        birth = birth_of(pid)
        if birth is None:
            return
        for place in self._places:
            with suppress(OSError), (place / _CHILDREN).open("a", encoding="utf-8") as stream:
                stream.write(f"{pid} {birth.at!r}\n")

    def make_outside_folder(self, *, needed: bool = True) -> Path:
        """Make a private folder in the system's temporary folder; nothing in the workspace is touched.

        Where there is no room and it is not ``needed``, as nothing is put into it, the system's folder itself does.

        Raises:
            AmlError: there is no room, and it is needed (``AML_NO_SPACE``, ``AML_CANNOT_WRITE``).
        """
        folder = system_folder()
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=folder))
            self._folders.append(folder)
            self._add_place(folder)
        except OSError as error:
            failure = failure_from_system(error, folder)
            if needed and failure is not None:
                raise failure from error
            if needed:
                raise
        return folder

    def settle(self, command: str, *, frees: bool = False) -> Path:
        """Write the record into the workspace, then make the run's private temporary folder and return it.

        A run that ``frees`` space does without where there is none.

        Raises:
            AmlError: ``AML_CANNOT_WRITE``.
        """
        self._command = command
        tmp = private_tmp(self.workspace, uuid.uuid4().hex[:12])
        self._folders.append(tmp)
        try:
            self._add_place(self.workspace.runs / self.tag)
            tmp.parent.mkdir(parents=True, exist_ok=True)
            tmp.mkdir(mode=0o700)
            if not tmp.is_relative_to(self.workspace.root):
                self._add_place(tmp)
        except OSError as error:
            if frees and is_full(error):
                return self.make_outside_folder(needed=False)
            raise not_written(error, tmp) from error
        return tmp

    def remove(self) -> None:
        """Take everything away again; what cannot be removed now is the next run's to clear. Blocks."""
        for folder in (*reversed(self._folders), *self._places):
            remove_private_folder(folder)
        self._folders.clear()
        self._places.clear()

    def _add_place(self, place: Path) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self._places.append(place)
        birth = birth_of(os.getpid()) or Birth(this_boot(), 0.0)
        write_record(
            place / RECORD,
            {
                "tag": self.tag,
                "pid": os.getpid(),
                "boot": birth.boot,
                "born": birth.at,
                "machine": platform.node() or "?",
                "command": self._command or "detect",
                "since": self._since,
                "root": str(self.workspace.root),
                "shared": self.shared,
                "folders": [str(folder) for folder in self._folders],
            },
        )
