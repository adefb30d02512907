"""The one module that knows where things lie in a workspace (DESIGN section 2)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MARKER_PREFIX = ".aml-ok-"


def venv_python(environment: Path) -> Path:
    """Return the interpreter of a virtual environment."""
    if os.name == "nt":
        return environment / "Scripts" / "python.exe"
    return environment / "bin" / "python"


def executable_name(name: str) -> str:
    """Return the file name of a program on this system."""
    return f"{name}.exe" if os.name == "nt" else name


@dataclass(frozen=True)
class Workspace:
    """The folders and files of one workspace; ``root`` is absolute."""

    root: Path

    @property
    def venv(self) -> Path:
        """The environment that is in use."""
        return self.root / ".venv"

    @property
    def staged(self) -> Path:
        """Where a new environment is built and verified before it takes the place of ``venv``."""
        return self.root / ".venv.staged"

    @property
    def aside(self) -> Path:
        """Where the old environment waits for its removal, or for its return."""
        return self.root / ".venv.old"

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return venv_python(self.venv)

    @property
    def tools(self) -> Path:
        """The folder of the private uv."""
        return self.root / "tools"

    @property
    def uv(self) -> Path:
        """The private uv, where this program puts it."""
        return self.tools / executable_name("uv")

    @property
    def interpreters(self) -> Path:
        """uv-managed interpreters."""
        return self.root / "python"

    @property
    def interpreters_beside(self) -> Path:
        """Where an interpreter is unpacked that is moved to the others then; in the folder that uv keeps for such."""
        return self.interpreters / ".temp" / "beside"

    @property
    def downloads(self) -> Path:
        """The offline store."""
        return self.root / "downloads"

    @property
    def built(self) -> Path:
        """The part of the store with the wheels that were built here."""
        return self.downloads / "built"

    @property
    def unchecked(self) -> Path:
        """Interpreter archives beside the store that uv has yet to check; nothing else uses them."""
        return self.downloads / "unchecked"

    @property
    def cache(self) -> Path:
        """uv's cache."""
        return self.root / "cache"

    @property
    def runtime(self) -> Path:
        """Our own records."""
        return self.root / "runtime"

    @property
    def uv_record(self) -> Path:
        """``uv.json``."""
        return self.runtime / "uv.json"

    @property
    def store_record(self) -> Path:
        """``store.json``: which files of the store are ours."""
        return self.runtime / "store.json"

    @property
    def python_record(self) -> Path:
        """``python.json``: from which archives the managed interpreters came."""
        return self.runtime / "python.json"

    @property
    def lock(self) -> Path:
        """The resolved ``pylock.toml`` with URLs."""
        return self.runtime / "pylock.toml"

    @property
    def local_lock(self) -> Path:
        """The same lock with relative paths into the store."""
        return self.runtime / "pylock.local.toml"

    @property
    def previous_lock(self) -> Path:
        """The lock before the last change."""
        return self.runtime / "pylock.previous.toml"

    @property
    def next_lock(self) -> Path:
        """The lock of the environment that is being built; it takes the place of ``lock`` with the commit."""
        return self.runtime / "pylock.next.toml"

    @property
    def next_local_lock(self) -> Path:
        """The same with relative paths into the store (uv wants one name between the dots)."""
        return self.runtime / "pylock.nextlocal.toml"

    @property
    def receipt(self) -> Path:
        """What was created here."""
        return self.runtime / "receipt.json"

    @property
    def journal(self) -> Path:
        """What is under way."""
        return self.runtime / "journal.json"

    @property
    def lock_file(self) -> Path:
        """The file that carries the operating system's lock of runs that change the workspace."""
        return self.runtime / "lock"

    @property
    def use_lock_file(self) -> Path:
        """The file that carries the lock of those that use the environment (jobs share it, Commit needs it alone)."""
        return self.runtime / "lock.use"

    @property
    def holders(self) -> Path:
        """Who holds the locks: one record a holder."""
        return self.runtime / "holders"

    @property
    def runs(self) -> Path:
        """What living runs note about themselves: one folder a run."""
        return self.runtime / "runs"

    @property
    def kit(self) -> Path:
        """The workspace's copy of the job kit."""
        return self.runtime / "kit"

    @property
    def job_home(self) -> Path:
        """The home folder of jobs."""
        return self.runtime / "home"

    @property
    def jupyter(self) -> Path:
        """What starts JupyterLab, and what that keeps while it runs."""
        return self.runtime / "jupyter"

    @property
    def terminal(self) -> Path:
        """What starts a terminal with the environment active."""
        return self.runtime / "terminal"

    @property
    def logs(self) -> Path:
        """Log files of runs."""
        return self.runtime / "logs"

    @property
    def tmp(self) -> Path:
        """Private temporary folders of runs."""
        return self.runtime / "tmp"

    @property
    def jobs(self) -> Path:
        """Folders of jobs; the user's own."""
        return self.root / "jobs"

    @property
    def notebooks(self) -> Path:
        """Where JupyterLab is opened; the user's own."""
        return self.root / "notebooks"

    @property
    def set_aside(self) -> Path:
        """What the user put into environments that are gone, and that is in none; the user's own."""
        return self.root / "set-aside"

    @property
    def record_files(self) -> tuple[Path, ...]:
        """The files in ``runtime``: records, locks of packages, and those that carry locks of the system."""
        locks = (self.lock, self.local_lock, self.previous_lock, self.next_lock, self.next_local_lock)
        records = (self.uv_record, self.python_record, self.store_record, self.receipt, self.journal)
        return (*locks, *records, self.lock_file, self.use_lock_file)

    @property
    def record_folders(self) -> tuple[Path, ...]:
        """The folders in ``runtime``."""
        notes = (self.holders, self.runs, self.logs, self.tmp)
        return (*notes, self.kit, self.job_home, self.jupyter, self.terminal)

    @property
    def own_folders(self) -> tuple[Path, ...]:
        """What this program has for itself: nobody else may rely on what lies in there."""
        environments = (self.venv, self.staged, self.aside)
        return (*environments, self.tools, self.interpreters, self.downloads, self.cache, self.runtime)

    @property
    def user_folders(self) -> tuple[Path, ...]:
        """What belongs to the user and is never deleted or rewritten."""
        return tuple(self.root / name for name in ("datasets", "models", "jobs", "notebooks"))

    def marker(self, digest: str) -> Path:
        """Return the marker file of a verified environment with this digest."""
        return self.venv / f"{MARKER_PREFIX}{digest}"
