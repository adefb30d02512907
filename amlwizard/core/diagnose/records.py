"""The workspace's own records as they lie there: readable or not, of this version or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.data_text import parse_json
from amlwizard.core.diagnose.reading import first_lines
from amlwizard.core.environment.marker import is_marker
from amlwizard.core.run_record import RECORD
from amlwizard.core.system_errors import reason_of

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.paths import Workspace

_RECORD_BYTES: Final = 256 * 1024
_LOCK_BYTES: Final = 16_000
_RUNS: Final = 10


def record_contents(workspace: Workspace) -> dict[str, Any]:
    """Return the records by their names in the report: JSON values, or the text where it is none; None where absent."""
    records = {
        "journal": workspace.journal,
        "receipt": workspace.receipt,
        "uv": workspace.uv_record,
        "python": workspace.python_record,
    }
    return {name: _content(path) for name, path in records.items()} | {"markers": _markers(workspace)}


def run_contents(workspace: Workspace) -> dict[str, Any]:
    """Return what runs that live, or died, have noted: their records, and who says to hold a lock."""
    return {
        "runs": {place.name: _content(place / RECORD) for place in _entries(workspace.runs)},
        "holders": {note.name: _content(note) for note in _entries(workspace.holders)},
    }


def lock_heads(workspace: Workspace) -> dict[str, str]:
    """Return the beginnings of the locks, which say what they were made from."""
    texts = {}
    for path in (workspace.lock, workspace.previous_lock, workspace.next_lock):
        try:
            texts[f"locks/{path.name}"] = first_lines(path, _LOCK_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            texts[f"locks/{path.name}"] = f"[cannot be read: {reason_of(error)}]\n"
    return texts


def _markers(workspace: Workspace) -> dict[str, Any]:
    return {path.name: _content(path) for path in _entries(workspace.venv) if is_marker(path.name)}


def _entries(folder: Path) -> list[Path]:
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return []
    return found if folder.name == ".venv" else found[-_RUNS:]


def _content(path: Path) -> Any:
    try:
        text = first_lines(path, _RECORD_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return {"unreadable": reason_of(error)}
    try:
        return parse_json(text)
    except ValueError:
        return {"no_json": text}
