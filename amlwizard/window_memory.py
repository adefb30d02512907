"""What the window remembers between its starts: the known workspaces, the last choices, its size. No secret is among it.

It is one record in the user's settings folder, which only windows read; the command line goes by settings and options.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_files import exists, is_path
from amlwizard.core.records import read_record, write_record
from amlwizard.core.settings_files import user_settings_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import EnvironmentFacts

FILE_NAME: Final = "window.json"
_MOST: Final = 100
"""How many workspaces are known at most; the oldest go."""


@dataclass(frozen=True)
class Last:
    """The last choices: the folder, and the packages where they were asked for and did not come to be yet."""

    root: str | None = None
    profile: str | None = None
    requirements: str | None = None


class WindowMemory:
    """Reads and writes the record; see ``ui.services.MemoryService``. What cannot be read counts as absent.

    Two windows that write in the same moment may lose the workspace of one, which is known again once it is opened.
    """

    def __init__(self, user_dir: Path | None = None) -> None:
        """Make the service; ``user_dir`` is the user's settings folder, where it is not the system's usual one."""
        self._user_dir = user_dir
        self._writing = Lock()

    def known(self) -> tuple[Path, ...]:
        """Return the folders of the known workspaces, the last one first."""
        return _roots(self._read())

    def add(self, root: Path) -> None:
        """Know a workspace from now on; it is the last one that was worked with, and its lock tells its packages."""

        def change(record: dict[str, Any]) -> None:
            record["workspaces"] = [str(root), *_without(record, root)][:_MOST]
            record["last"] = {"root": str(root)}

        self._change(change)

    def forget(self, root: Path) -> None:
        """Know a workspace no more; nothing is done to the folder itself."""

        def change(record: dict[str, Any]) -> None:
            record["workspaces"] = _without(record, root)
            last = _last(record).root
            if last is not None and _is_same(Path(last), root):
                del record["last"]

        self._change(change)

    def remember(self, choices: Choices) -> None:
        """Keep what is about to be set up, for the next start; a bundle is opened on purpose each time."""
        last = {"root": str(choices.root)}
        if choices.profile is not None:
            last["profile"] = choices.profile
        if choices.requirements is not None:
            last["requirements"] = str(choices.requirements)
        self._change(lambda record: record.update(last=last))

    def last(self) -> Last:
        """Return the last choices, as far as there are any."""
        return _last(self._read())

    def geometry(self) -> str:
        """Return the size and place of the window as Qt wrote it, or nothing."""
        found = self._read().get("geometry")
        return found if isinstance(found, str) else ""

    def keep_geometry(self, geometry: str) -> None:
        """Keep the size and place of the window."""
        self._change(lambda record: record.update(geometry=geometry))

    def look(self, root: Path) -> EnvironmentFacts | None:
        """Return the state of a workspace's environment, whatever it was made from, or None where the folder is gone.

        Raises:
            OSError: the folder cannot be reached.
        """
        from amlwizard.core.environment.state import inspect_environment
        from amlwizard.core.paths import Workspace

        try:
            mode = os.stat(root).st_mode  # noqa: PTH116 - pathlib would not tell what is gone from what is out of reach
        except (FileNotFoundError, NotADirectoryError):
            return None
        return inspect_environment(Workspace(root)) if stat.S_ISDIR(mode) else None

    def new_folder(self, beside: Path) -> Path:
        """Return a folder beside another one that does not exist yet, named after that one."""
        number = 2
        while exists(found := beside.with_name(f"{beside.name}-{number}")):
            number += 1
        return found

    @property
    def _file(self) -> Path:
        return user_settings_file(self._user_dir).with_name(FILE_NAME)

    def _read(self) -> dict[str, Any]:
        try:
            return read_record(self._file) or {}
        except RefusedError:  # of a newer amlwizard, which this one does not know
            return {}

    def _change(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Write the record anew where a change makes it another one; one of a newer amlwizard stays as it is."""
        with self._writing:
            try:
                before = read_record(self._file) or {}
            except RefusedError:
                return
            before.pop("format", None)
            record = dict(before)
            change(record)
            if record != before:
                write_record(self._file, record)


def _roots(record: dict[str, Any]) -> tuple[Path, ...]:
    found = record.get("workspaces")
    if not isinstance(found, list):
        return ()
    return tuple(Path(root) for root in dict.fromkeys(filter(_is_absolute, found)))[:_MOST]


def _without(record: dict[str, Any], root: Path) -> list[str]:
    return [str(other) for other in _roots(record) if not _is_same(other, root)]


def _last(record: dict[str, Any]) -> Last:
    found = record.get("last")
    if not isinstance(found, dict) or not _is_absolute(found.get("root")):
        return Last()
    profile, requirements = found.get("profile"), found.get("requirements")
    return Last(
        found["root"],
        profile if isinstance(profile, str) else None,
        requirements if _is_absolute(requirements) else None,
    )


def _is_absolute(path: object) -> bool:
    return isinstance(path, str) and is_path(path) and os.path.isabs(path)  # noqa: PTH117


def _is_same(one: Path, other: Path) -> bool:
    """Tell whether two paths are spelled alike for this system; no drive is asked."""
    return os.path.normcase(one) == os.path.normcase(other)
