"""A workspace of real files for the tests of this folder: locks, tiny wheels, records."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from amlwizard.core.host import host_facts
from amlwizard.core.lock import StoredWheel, local_lock
from amlwizard.core.store.ledger import Noted, note_files
from amlwizard.core.store.needs import find_needs
from amlwizard.core.store.survey import survey
from tests.support.interpreters import probe
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amlwizard.core.facts import PythonFacts
    from amlwizard.core.paths import Workspace
    from amlwizard.core.store.survey import Survey

PYTHON, _ = probe(Path(sys.executable))


def fetched(workspace: Workspace, name: str, version: str = "1.0", **more: Any) -> Path:
    """Put a wheel into the store as a fetch does."""
    wheel = make_wheel(workspace.downloads, name, version, **more)
    note_files(workspace, {wheel: Noted(sha256_of(wheel), wheel.stat().st_size)})
    return wheel


def package_of(wheel: Path, *others: Path) -> dict[str, Any]:
    """Return the entry of a lock for the wheels of one package."""
    name, version, *_ = wheel.name.split("-")
    entries = [
        {
            "url": f"https://files.example.org/{each.name}",
            "size": each.stat().st_size,
            "hashes": {"sha256": sha256_of(each)},
        }
        for each in (wheel, *others)
    ]
    return {"name": name, "version": version, "wheels": entries}


def write_lock(path: Path, *packages: dict[str, Any], python: str = PYTHON.version_text) -> None:
    """Write a lock as Resolve does."""
    about = {"kind": "file", "name": "/nowhere/requirements.txt", "digest": "0" * 12, "python": python}
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"lock-version": "1.0", "created-by": "tests", "packages": list(packages)}
    path.write_text(tomli_w.dumps({**content, "tool": {"amlwizard": about}}), encoding="utf-8")


def write_local_lock(workspace: Workspace, *wheels: Path) -> None:
    """Write what the environment in use was installed from."""
    stored = [
        StoredWheel(wheel.name.split("-")[0], wheel.name.split("-")[1], wheel, wheel.stat().st_size, sha256_of(wheel))
        for wheel in wheels
    ]
    workspace.local_lock.write_text(local_lock(stored, [], lock=workspace.local_lock), encoding="utf-8")


def look(workspace: Workspace, pythons: Sequence[PythonFacts] = (PYTHON,)) -> Survey:
    """Look at a workspace."""
    return survey(workspace, find_needs(workspace, pythons, host_facts()), threading.Event())


def freeable(found: Survey) -> list[str]:
    """Return the names of what nothing needs."""
    return [held.path.name for held in found.freeable]
