"""The logs of runs and crashes, and how the last runs ended by what they say."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard.core.diagnose.reading import first_lines, last_lines
from amlwizard.core.system_errors import reason_of
from amlwizard.core.temporary import system_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amlwizard.core.paths import Workspace

LOGS: Final = 8
"""How many of the newest logs are taken."""
CRASHES: Final = 3
_LOG_BYTES: Final = 60_000
_NEWEST_BYTES: Final = 160_000
_CRASH_BYTES: Final = 30_000
_SEARCHED: Final = 20
_STAMP: Final = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-(.+)-\d+")
_END: Final = re.compile(
    r"^\S+ (ready|done|failed|cancelled|not_ready|refused|busy) (AML_[A-Z0-9_]+)(?: (.*))?$", re.MULTILINE
)
_ENGLISH: Final = re.compile(r"^\S+ english: (.*)$", re.MULTILINE)
_GOOD: Final = frozenset({"ready", "done"})


@dataclass(frozen=True)
class PastRun:
    """A run as its log tells it; ``state`` is empty where it did not come to an end, or is still going on.

    ``message`` is in the language of that run, ``english`` the same in English where that is another one.
    """

    kind: str
    began: str
    state: str = ""
    code: str = ""
    message: str = ""
    english: str = ""

    @property
    def is_good(self) -> bool:
        """Tell whether it came to its aim."""
        return self.state in _GOOD


def newest_logs(workspace: Workspace) -> list[Path]:
    """Return the logs of runs, the newest first.

    Raises:
        OSError: the folder cannot be read.
    """
    if not workspace.logs.is_dir():
        return []
    logs = [path for path in workspace.logs.iterdir() if _STAMP.fullmatch(path.stem) and path.suffix == ".log"]
    return sorted((path for path in logs if not path.name.startswith("crash-")), reverse=True)


def log_texts(workspace: Workspace) -> dict[str, str]:
    """Return the ends of the newest logs by their names in the report; of the newest one there is more."""
    texts: dict[str, str] = {}
    for path in newest_logs(workspace)[:LOGS]:
        texts[f"logs/{path.name}"] = _read(path, _LOG_BYTES if texts else _NEWEST_BYTES)
    return texts


def crash_texts(workspace: Workspace) -> dict[str, str]:
    """Return what was written where the program met something that nobody expected, the newest first."""
    found = []
    for folder in (workspace.logs, system_folder()):
        with suppress(OSError):
            found += [path for path in folder.glob("crash-*.log") if path.is_file()]
    texts = {}
    for path in sorted(found, key=lambda path: path.name, reverse=True):
        text = _read(path, _CRASH_BYTES, from_start=True)
        if path.parent == workspace.logs or text.startswith("amlwizard "):
            texts[f"crashes/{path.name}"] = text
        if len(texts) == CRASHES:
            break
    return texts


def last_runs(workspace: Workspace) -> tuple[PastRun, ...]:
    """Return the last run, and the last one before it that did not come to its aim, where there are such.

    Raises:
        OSError: the folder of the logs cannot be read.
    """
    runs = list(_past_runs(workspace))
    failed = [run for run in runs[1:] if run.state and not run.is_good]
    return (*runs[:1], *failed[:1]) if runs and (runs[0].is_good or not runs[0].state) else tuple(runs[:1])


def _past_runs(workspace: Workspace) -> Iterator[PastRun]:
    for path in newest_logs(workspace)[:_SEARCHED]:
        stamp = _STAMP.fullmatch(path.stem)
        assert stamp is not None  # noqa: S101 - as others are not listed
        year, month, day, hour, minute, second, kind = stamp.groups()
        began = f"{year}-{month}-{day}T{hour}:{minute}:{second}Z"
        try:
            text = last_lines(path, _LOG_BYTES)
        except OSError as error:
            yield PastRun(kind, began, "unreadable", message=reason_of(error))
            continue
        end = None
        for end in _END.finditer(text):  # noqa: B007 - the last one counts
            pass
        if end is None:
            yield PastRun(kind, began)
            continue
        english = _ENGLISH.search(text, end.end())
        yield PastRun(kind, began, end[1], end[2], (end[3] or "").strip(), english[1] if english is not None else "")


def _read(path: Path, limit: int, *, from_start: bool = False) -> str:
    try:
        return first_lines(path, limit) if from_start else last_lines(path, limit)
    except OSError as error:
        return f"[cannot be read: {reason_of(error)}]\n"
