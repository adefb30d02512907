"""The marker that a verified environment carries: ``.aml-ok-<digest>``, JSON (DESIGN section 2)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.paths import MARKER_PREFIX
from amlwizard.core.plain_files import is_path
from amlwizard.core.records import read_record, utc_now, write_record

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Marker:
    """What a marker says.

    ``root`` is the workspace's root at that time, ``python`` the interpreter's version, ``lock`` the SHA-256 of
    ``pylock.toml``, and ``build`` tells this build from any other of the same digest.
    """

    digest: str
    root: str
    python: str
    lock: str
    build: str
    created: str = ""


def marker_names(environment: Path) -> list[str]:
    """Return the names of an environment's markers; none where it is missing."""
    try:
        return sorted(name for name in os.listdir(environment) if is_marker(name))  # noqa: PTH208
    except OSError:
        return []


def is_marker(name: str) -> bool:
    """Tell whether a file name is that of a marker, and not of one being written."""
    return name.startswith(MARKER_PREFIX) and not name.endswith(".part")


def read_marker(environment: Path, names: Iterable[str] | None = None) -> Marker | None:
    """Return an environment's marker, or None unless there is exactly one and it can be read.

    Raises:
        RefusedError: a newer amlwizard wrote it.
    """
    found = marker_names(environment) if names is None else list(names)
    if len(found) != 1:
        return None
    record = read_record(environment / found[0])
    if record is None:
        return None
    values = [record.get(key) for key in ("root", "python", "lock", "build", "created")]
    if not all(isinstance(value, str) and is_path(value) for value in values):
        return None
    return Marker(found[0].removeprefix(MARKER_PREFIX), *map(str, values))


def write_marker(environment: Path, marker: Marker) -> None:
    """Give an environment its marker, flushed to the disk; any other one goes."""
    target = f"{MARKER_PREFIX}{marker.digest}"
    for name in marker_names(environment):
        if name != target:
            Path(environment, name).unlink()
    write_record(
        environment / target,
        {
            "root": marker.root,
            "python": marker.python,
            "lock": marker.lock,
            "build": marker.build,
            "created": marker.created or utc_now(),
        },
    )
