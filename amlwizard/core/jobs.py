"""Jobs: a user's script, run by the environment's interpreter in the job environment (DESIGN section 6)."""

from __future__ import annotations

import itertools
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import Phrase
from amlwizard.core.child_env import job_environment
from amlwizard.core.environment.layout import site_folders
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.errors import AmlError
from amlwizard.core.newer_records import refuse_newer_records
from amlwizard.core.root_reach import refuse_out_of_reach
from amlwizard.core.run_record import OwnRecord, remove_private_folder
from amlwizard.core.running import CRASH_STATUS, Command, Exited, NotStarted, OutputLine, Signalled
from amlwizard.core.temporary import system_folder
from amlwizard.core.workspace_lock import hold_use
from amlwizard.core.write_access import can_write, users_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amlwizard.core.paths import Workspace
    from amlwizard.core.running import Runner

SAMPLE_SCRIPT: Final = "sample_job.py"
_HOME: Final = ".aml-home"
_SIGNAL_BASE: Final = 128
"""A shell's exit code for a program that a signal ended is this plus the signal's number."""


@dataclass(frozen=True)
class Job:
    """What is to be run, checked and with absolute paths. ``job_dir`` is None where a new folder is to be made."""

    workspace: Workspace
    script: Path
    arguments: tuple[str, ...] = ()
    job_dir: Path | None = None
    let_through: tuple[str, ...] = ()


def make_job(
    workspace: Workspace,
    script: Sequence[str],
    *,
    cwd: Path,
    job_dir: str | None = None,
    let_through: Sequence[str] = (),
) -> Job:
    """Check that a script with its arguments can be run, or the kit's sample where ``script`` is empty. Changes nothing.

    Relative paths count from ``cwd``, the caller's folder.

    Raises:
        AmlError: the environment is not ready, the script is missing, or the sample needs packages that the environment
            does not hold (``AML_JOB_*``).
    """
    ready_python(workspace)
    if script:
        path = cwd / script[0]
        if not path.is_file():
            raise AmlError("AML_JOB_SCRIPT_MISSING", path=str(path))
    else:
        path = workspace.kit / SAMPLE_SCRIPT
        if not path.is_file():
            raise AmlError("AML_JOB_KIT_INCOMPLETE", path=str(path))
        if missing := _missing_imports(path, workspace):
            raise AmlError("AML_JOB_SAMPLE_NEEDS", packages=", ".join(missing), root=str(workspace.root))
    return Job(workspace, path, tuple(script[1:]), cwd / job_dir if job_dir else None, tuple(let_through))


def _missing_imports(sample: Path, workspace: Workspace) -> list[str]:
    """Return what a sample imports at its top that is in no folder of the environment, by the names of packages."""
    import ast  # only a sample is read
    import sys

    from amlwizard.core.wish import MAIN_IMPORTS

    try:
        statements = ast.parse(sample.read_bytes()).body
    except (SyntaxError, ValueError):  # the interpreter will say it
        return []
    names = [alias.name for statement in statements if isinstance(statement, ast.Import) for alias in statement.names]
    names += [statement.module or "" for statement in statements if isinstance(statement, ast.ImportFrom)]
    modules = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {""}
    packages = {module.partition(".")[0]: package for package, found in MAIN_IMPORTS.items() for module in found}
    folders = [*site_folders(workspace.venv), workspace.kit]
    present = {entry.name.partition(".")[0] for folder in folders for entry in folder.iterdir()}
    return sorted(packages.get(module, module) for module in modules - present)


def ready_python(workspace: Workspace) -> Path:
    """Return the interpreter of the workspace's environment.

    Raises:
        AmlError: there is no verified environment (``AML_JOB_NOT_READY``, ``AML_JOB_NEEDS_REPAIR``), or the job kit is
            missing.
        RefusedError: nobody can look into the workspace, or a newer amlwizard made it.
    """
    facts = inspect_environment(workspace)
    if not facts.ready:
        refuse_out_of_reach(workspace.root)  # no repair could look into it either
        refuse_newer_records(workspace)
        code = "AML_JOB_NEEDS_REPAIR" if facts.action == "repair" else "AML_JOB_NOT_READY"
        raise AmlError(code, root=str(workspace.root), reason=Phrase(facts.reason, facts.arguments))
    if not workspace.kit.is_dir():
        raise AmlError("AML_JOB_KIT_INCOMPLETE", path=str(workspace.kit))
    return workspace.python


async def run_job(job: Job, runner: Runner, parent: Mapping[str, str]) -> int:
    """Run a job attached to this program's streams; return the script's exit code.

    The environment cannot be exchanged meanwhile. ``parent`` is the environment of which the job sees a small part.

    Raises:
        AmlError: the job could not be started.
    """
    workspace = job.workspace
    with hold_use(workspace, f"run {job.script.name}"):
        python = ready_python(workspace)  # once more: it cannot go away any more
        folder = _make_folder(job)
        with OwnRecord(workspace, runner.run_tag, shared=True) as record:
            runner.tell_starts(record.note_child)
            with _private_folders(record, job, folder) as (home, tmp):
                variables = job_variables(workspace, folder, parent, home=home, tmp=tmp, let_through=job.let_through)
                command = Command((str(python), str(job.script), *job.arguments), variables, folder, attached=True)
                outcome = await runner.run(command, _no_line)
    match outcome:
        case Exited(code):
            return code
        case Signalled(number):
            return _SIGNAL_BASE + number if number < CRASH_STATUS else number - 2**32  # exit codes are signed
        case NotStarted(reason):
            raise AmlError("AML_JOB_NOT_STARTED", path=str(python), reason=reason)
        case _:
            raise AssertionError(outcome)  # a job has no time limit


def job_variables(
    workspace: Workspace,
    job_dir: Path,
    parent: Mapping[str, str],
    *,
    home: Path | None = None,
    tmp: Path | None = None,
    let_through: Sequence[str] = (),
) -> dict[str, str]:
    """Return the whole environment of a job that works in ``job_dir``, with its home and its temporary folder."""
    home = home or job_home(workspace, job_dir)
    tmp = tmp or (workspace.tmp if can_write(workspace.tmp) else system_folder())
    return job_environment(parent, workspace=workspace, job_dir=job_dir, home=home, tmp=tmp, let_through=let_through)


def jobs_folder(workspace: Workspace) -> Path:
    """Return where the folders of jobs come: the workspace's, or the user's own where this account cannot write there.

    What a job makes belongs to who started it, so it lies among the user's data and stays.
    """
    return workspace.jobs if can_write(workspace.jobs) else users_data() / "jobs"


def job_home(workspace: Workspace, job_dir: Path) -> Path:
    """Return the home of a job: the workspace's, or in the job's folder where this account cannot write there."""
    return workspace.job_home if can_write(workspace.job_home) else job_dir / _HOME


def new_job_folder(jobs: Path) -> Path:
    """Return a folder for a job that starts now, under a name that no other in ``jobs`` has; it is not made yet."""
    name = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    candidates = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(folder for candidate in candidates if not (folder := jobs / candidate).exists())


def _make_folder(job: Job) -> Path:
    folder, jobs = job.job_dir, jobs_folder(job.workspace)
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            return folder
        jobs.mkdir(parents=True, exist_ok=True)
        while True:
            folder = new_job_folder(jobs)
            try:
                folder.mkdir()
            except FileExistsError:  # another job took the name in between
                continue
            return folder
    except OSError as error:
        path = folder or jobs
        raise AmlError("AML_JOB_FOLDER", path=str(path), reason=error.strerror or str(error)) from error


@contextmanager
def _private_folders(record: OwnRecord, job: Job, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Give a job its home and its temporary folder: the workspace's, or in the job's folder where that takes nothing."""
    workspace = job.workspace
    try:
        workspace.job_home.mkdir(parents=True, exist_ok=True)
        tmp = record.settle(f"run {job.script.name}")
    except (AmlError, OSError):
        record.remove()
    else:
        yield workspace.job_home, tmp
        return
    home = folder / _HOME
    try:
        home.mkdir(exist_ok=True)
        tmp = Path(tempfile.mkdtemp(prefix=".aml-tmp-", dir=folder))
    except OSError as error:
        raise AmlError("AML_JOB_NOT_WRITABLE", path=str(folder), reason=error.strerror or str(error)) from error
    try:
        yield home, tmp
    finally:
        remove_private_folder(tmp)


def _no_line(_line: OutputLine) -> None:
    """The lines of an attached command pass by."""
