"""The state of ``.venv`` as the disk shows it; the marker is only a hint (DESIGN 7). Starts no process."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core import receipt
from amlwizard.core.data_text import lock_table
from amlwizard.core.environment.foreign_links import layout_link
from amlwizard.core.environment.layout import distribution_of, metadata_names, normalised, read_pyvenv_cfg, site_folders
from amlwizard.core.environment.marker import is_marker, read_marker
from amlwizard.core.environment.removal import is_link
from amlwizard.core.errors import RefusedError
from amlwizard.core.facts import EnvironmentFacts
from amlwizard.core.journal import Action, read_journal
from amlwizard.core.paths import venv_python
from amlwizard.core.plain_files import read_plain_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.core.environment.marker import Marker
    from amlwizard.core.paths import Workspace


PACKAGES_MISSING: Final = "environment.packages_missing"
"""The reason where only packages are gone that the environment was built to hold."""
FOLDER_LINKED: Final = "environment.folder_linked"
"""The reason where the libraries or the programs lie elsewhere, and a link leads there."""


def inspect_environment(workspace: Workspace, expected_digest: str | None = None) -> EnvironmentFacts:
    """Look at the environment without starting anything or writing anything.

    Args:
        workspace: the workspace.
        expected_digest: the digest of what is wanted; None where any verified environment will do.
    """
    try:
        facts = _inspect(workspace, expected_digest)
        return _in_work(workspace, facts) if facts.state in {"absent", "unfinished"} else facts
    except RefusedError as error:
        return EnvironmentFacts("foreign", "environment.newer", error.arguments)
    except OSError as error:
        path = error.filename or str(workspace.venv)
        return EnvironmentFacts("damaged", "environment.unreadable", {"path": str(path), "reason": error.strerror or ""})


def inspect_for(workspace: Workspace, digest_of: Callable[[str], str]) -> EnvironmentFacts:
    """Do the same for what is wanted: ``digest_of`` returns its digest for the version of a Python."""
    state = inspect_environment(workspace)
    if not state.ready or state.python is None:
        return state
    return inspect_environment(workspace, digest_of(state.python))


def _inspect(workspace: Workspace, expected_digest: str | None) -> EnvironmentFacts:
    venv = workspace.venv
    path: dict[str, Any] = {"path": str(venv)}
    if is_link(venv):
        return EnvironmentFacts("foreign", "environment.link", path)
    names = _names(venv)
    if names is None:
        return EnvironmentFacts("foreign", "environment.not_a_folder", path)
    if not names:
        if read_journal(workspace) is not None or _has_leftover(workspace):
            return _unfinished(workspace, path)
        return EnvironmentFacts("absent", "environment.absent", path)
    markers = [name for name in names if is_marker(name)]
    marker = read_marker(venv, markers)
    if marker is None:
        return _without_marker(workspace, markers, path)
    return _with_marker(workspace, marker, expected_digest, path)


def _unfinished(workspace: Workspace, path: dict[str, Any]) -> EnvironmentFacts:
    """Return the state after an interruption; only what still tells what was wanted can be finished."""
    from amlwizard.core.wish import tells_wish  # takes time to load, and a ready workspace needs it not

    journal = read_journal(workspace)
    begun = journal is not None and journal.action is Action.BEGIN
    known = begun or os.path.lexists(workspace.aside) or tells_wish(workspace)
    return EnvironmentFacts("unfinished", "environment.unfinished" if known else "environment.unfinished_unknown", path)


def _in_work(workspace: Workspace, facts: EnvironmentFacts) -> EnvironmentFacts:
    """Name the run that is just making what is not there yet; without one, what was found holds."""
    from amlwizard.core.wording import moment_text
    from amlwizard.core.workspace_lock import other_run  # takes time to load, and a ready workspace needs it not

    holder = other_run(workspace)
    if holder is None:
        return facts
    if not holder.command:
        return replace(facts, reason="environment.in_work_unknown")
    who: dict[str, object] = {"command": holder.command, "pid": holder.pid, "since": moment_text(holder.since)}
    return replace(facts, reason="environment.in_work", arguments=facts.arguments | who)


def _has_leftover(workspace: Workspace) -> bool:
    return os.path.lexists(workspace.aside) or os.path.lexists(workspace.staged)


def _names(venv: Path) -> list[str] | None:
    """Return what lies in the environment's folder: nothing where it is missing, None where it is no folder."""
    try:
        return os.listdir(venv)  # noqa: PTH208
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        return None


def _without_marker(workspace: Workspace, markers: list[str], path: dict[str, Any]) -> EnvironmentFacts:
    journal = read_journal(workspace)
    if journal is not None and journal.action is Action.IN_PLACE:
        return _unfinished(workspace, path)
    if markers:
        return EnvironmentFacts("damaged", "environment.marker_unreadable", path)
    if receipt.owns(workspace, workspace.venv):
        return EnvironmentFacts("damaged", "environment.marker_missing", path)
    return EnvironmentFacts("foreign", "environment.foreign", path)


def _with_marker(
    workspace: Workspace, marker: Marker, expected_digest: str | None, path: dict[str, Any]
) -> EnvironmentFacts:
    venv = workspace.venv
    link = layout_link(venv)
    if link is not None:  # before a moved one is mended in place
        path |= link.shown
        return EnvironmentFacts("damaged", FOLDER_LINKED, path, marker.python, 0, marker.digest, marker.lock)
    metadata = [name for site in site_folders(venv) for name in metadata_names(site)]
    packages = len(metadata)

    def facts(state: str, reason: str, **arguments: object) -> EnvironmentFacts:
        return EnvironmentFacts(state, reason, path | arguments, marker.python, packages, marker.digest, marker.lock)

    if not _same_folder(marker.root, workspace.root):
        return facts("moved", "environment.moved", recorded=marker.root, root=str(workspace.root))
    config = read_pyvenv_cfg(venv)
    if config is None or "home" not in config:
        return facts("damaged", "environment.no_pyvenv_cfg")
    python = venv_python(venv)
    if not os.path.lexists(python):
        return facts("damaged", "environment.no_python", python=str(python))
    base = _missing_base(python, config["home"])
    if base is not None:
        return facts("base_missing", "environment.base_missing", base=base, version=marker.python)
    if not os.access(python, os.X_OK) or python.stat().st_size == 0:
        return facts("damaged", "environment.python_broken", python=str(python))
    if packages == 0:
        return facts("damaged", "environment.no_packages")
    if missing := _missing_packages(workspace, metadata):
        return facts("damaged", PACKAGES_MISSING, names=", ".join(missing), count=len(missing))
    if expected_digest is not None and marker.digest != expected_digest:
        return facts("stale", "environment.stale")
    return facts("ready", "environment.ready", packages=packages, version=marker.python)


def _missing_packages(workspace: Workspace, metadata: list[str]) -> list[str]:
    """Return what the environment was built to hold and does not; only names are compared.

    After a run that was killed in its last moment, the lock that belongs to the environment is the next one.
    """
    present = {distribution_of(name)[0] for name in metadata}
    missing: list[str] = []
    for lock in (workspace.local_lock, workspace.next_local_lock):
        names = _locked_names(lock)
        if names is None:
            continue
        absent = sorted(names - present)
        if not absent:
            return []
        missing = missing or absent
    return missing


def _locked_names(lock: Path) -> frozenset[str] | None:
    """Return the names of a lock's packages, None where it cannot be read; the whole lock would take time to load."""
    try:
        packages = lock_table(read_plain_text(lock))["packages"]
        return frozenset(normalised(str(package["name"])) for package in packages)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _missing_base(python: Path, home: str) -> str | None:
    """Return the path of the interpreter that the environment stands on where it is gone."""
    if not python.exists():  # a link whose target is gone
        return str(python.parent / python.readlink()) if python.is_symlink() else str(python)
    base = Path(home, python.name)
    if os.name == "nt" and not base.exists():
        return str(base)
    return None if Path(home).is_dir() else home


def _same_folder(recorded: str, root: Path) -> bool:
    if os.path.normcase(recorded) == os.path.normcase(root):
        return True
    try:
        return Path(recorded).samefile(root)
    except (OSError, ValueError):
        return False
