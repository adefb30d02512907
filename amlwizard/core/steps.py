"""The steps of an installation, one class each; the engine runs them in the order of ``plan.STEP_IDS`` and catches."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from amlwizard.core.before import before_in, is_unchanged, note_before
from amlwizard.core.catalogue import text
from amlwizard.core.child_env import job_environment
from amlwizard.core.choices import UvMethod
from amlwizard.core.detection.known import first_start
from amlwizard.core.environment.build import build_staged
from amlwizard.core.environment.build_ahead import BuildAhead
from amlwizard.core.environment.commit import commit_in_place, commit_staged, undo_in_place, undo_stage
from amlwizard.core.environment.marker import Marker
from amlwizard.core.environment.pip_build import build_in_place
from amlwizard.core.environment.reinstall import reinstall_packages
from amlwizard.core.environment.threads import run_past_return, run_whole
from amlwizard.core.environment.torch_sight import has_torch, torch_sight
from amlwizard.core.environment.verify import verify_environment
from amlwizard.core.errors import AmlError
from amlwizard.core.events import LogEvent
from amlwizard.core.exchange_wait import hold_alone
from amlwizard.core.held_files import replace_file
from amlwizard.core.journal import Action
from amlwizard.core.lacking import incomplete_store
from amlwizard.core.local_files import refuse_gone
from amlwizard.core.lock import lock_digest
from amlwizard.core.loose import leave_out, set_aside, take_back, take_loose_files, tell_set_aside
from amlwizard.core.offline import lacking_files
from amlwizard.core.path_lengths import has_short_paths, refuse_long_paths
from amlwizard.core.pip_cli import PipSettings
from amlwizard.core.python_install import install_python, wanted_version
from amlwizard.core.records import copy_atomically
from amlwizard.core.resolving import current_lock, resolve
from amlwizard.core.store_files import expected_names
from amlwizard.core.storing import Wanted, arriving, bring_in, missing_files, out_of_reach, wanted_files, write_local_lock
from amlwizard.core.uv_install import install_private_uv, is_changed, record_existing
from amlwizard.core.variants import tell_accelerators
from amlwizard.core.wish import lock_in_use, recorded_in
from amlwizard.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.environment.findings import VerifyReport
    from amlwizard.core.lock import LockedFile
    from amlwizard.core.paths import Workspace
    from amlwizard.core.running import OutputLine


class Step(ABC):
    """One step. ``is_done`` may read and probe but changes nothing; ``run`` undoes what it began where it cannot end it."""

    id: ClassVar[str]

    async def is_done(self, run: RunContext) -> bool:  # noqa: ARG002
        """Tell whether there is nothing to do; most steps always have something."""
        return False

    @abstractmethod
    async def run(self, run: RunContext) -> None:
        """Do it, or raise ``AmlError``."""


class InstallUv(Step):
    """The private uv."""

    id = "install_uv"

    async def is_done(self, run: RunContext) -> bool:
        """Tell whether the workspace has its uv, or the fallback without uv was chosen."""
        if run.choices.uv_method is UvMethod.NONE:
            return True
        found = run.facts.uv
        if await asyncio.to_thread(is_changed, run.workspace) and run.choices.uv is None:
            run.log(text("uv.vanished", run.language, path=str(run.workspace.tools)))
            return False
        if found is None:
            return False
        run.uv = found.path
        if run.choices.uv is not None:
            await asyncio.to_thread(record_existing, run, found.path, found.version)
        return True

    async def run(self, run: RunContext) -> None:
        """Install uv; where no way works and a Python with venv and pip is there, go on without uv and say so."""
        try:
            run.uv = await install_private_uv(run)
        except AmlError as error:
            python = run.facts.interpreter
            if run.choices.uv_method is not UvMethod.AUTO or python is None or not python.has_ensurepip:
                raise
            run.log(str(error.arguments.get("ways", "")))
            run.emit(LogEvent(run.step, text("engine.without_uv", run.language), remark=True))


class InstallPython(Step):
    """The managed interpreter."""

    id = "install_python"

    async def is_done(self, run: RunContext) -> bool:
        """Tell whether an interpreter was found."""
        found = run.facts.interpreter
        if found is None:
            return False
        run.python = found
        return True

    async def run(self, run: RunContext) -> None:
        """Set up an interpreter of the wanted version and start it once."""
        executable = await install_python(run, wanted_version(run))
        version = executable.parent.parent.name
        run.python = await first_start(run.runner, executable, run.child_environment(), run.facts.host, version)


class Resolve(Step):
    """The lock."""

    id = "resolve"

    async def is_done(self, run: RunContext) -> bool:
        """Tell whether a lock for this wish and this Python is there."""
        if run.choices.refresh:
            return False
        found = await asyncio.to_thread(current_lock, run)
        if found is not None:
            run.lock_path, run.lock = found
        return found is not None

    async def run(self, run: RunContext) -> None:
        """Resolve."""
        run.lock = await resolve(run)
        run.lock_path = run.workspace.next_lock


class Fetch(Step):
    """The store."""

    id = "fetch"

    def __init__(self) -> None:
        self._wanted = Wanted(())
        self._missing: list[LockedFile] = []

    async def is_done(self, run: RunContext) -> bool:
        """Tell whether every wheel lies in the store with its right hash, and nothing is built where it stays."""
        if run.lock is None:
            return False
        self._wanted = await asyncio.to_thread(wanted_files, run, run.lock)
        self._missing = await missing_files(run, self._wanted)
        if self._missing or (self._wanted.editables and run.uv is not None):
            return False
        await run_whole(write_local_lock, run, self._wanted)
        return True

    async def run(self, run: RunContext) -> None:
        """Fetch and build what is missing."""
        await refuse_gone(run, self._missing)
        if run.choices.offline:
            absent = lacking_files(await out_of_reach(run, self._missing))
            if absent:
                raise incomplete_store(absent, run.workspace.downloads, run.language)
        if run.uv is None or run.choices.until == self.id or not self._missing:
            await bring_in(run, self._wanted, self._missing)
            return
        arrived = await asyncio.to_thread(arriving, run, self._wanted, self._missing)
        async with BuildAhead(run, arrived):
            await bring_in(run, self._wanted, self._missing)


class Build(Step):
    """The new environment, beside the old one (at its place where there is no uv)."""

    id = "build"

    async def run(self, run: RunContext) -> None:
        """Build it, with what the user put into the old one; a failure or a cancel leaves nothing."""
        await self._build(run)
        await take_loose_files(run)

    async def _build(self, run: RunContext) -> None:
        settings = PipSettings(run.choices.index_url, run.choices.extra_index_urls, run.choices.ca_file)

        def on_line(line: OutputLine) -> None:
            run.log(line.text)

        def on_packages(done: int, total: int) -> None:
            run.progress(done, total, "packages")

        if run.lock_path is not None:
            run.lock_path = await run_whole(note_before, run.workspace, run.lock_path)
        python = run.require_python().executable
        if has_short_paths(run.facts.host.system):
            await asyncio.to_thread(refuse_long_paths, run.workspace.root, [wheel.path for wheel in run.stored])

        if run.uv is not None:
            run.journal = await build_staged(
                run.uv_cli(),
                run.runner,
                run.child_environment(run.uv_variables()),
                python=python,
                lock=run.workspace.next_local_lock,
                expected=run.expected,
                pip_settings=settings,
                begun=run.journal,
                on_line=on_line,
                on_packages=on_packages,
                on_undo=run.tell_removal,
            )
            return
        # the old environment is moved aside at once
        await hold_alone(run, run.held, "build")
        run.journal = await build_in_place(
            run.workspace,
            run.runner,
            run.child_environment(run.pip_variables()),
            python=python,
            wheels=run.stored,
            expected=run.expected,
            pip_settings=settings,
            on_line=on_line,
            on_packages=on_packages,
            on_undo=run.tell_removal,
        )


async def drop_build(run: RunContext) -> None:
    """Throw away what Build made, and bring the old environment back where it waits aside."""
    if run.journal is None:
        return
    run.tell_removal()
    if run.journal.action is Action.IN_PLACE:
        await run_whole(undo_in_place, run.workspace)
    else:
        await run_whole(undo_stage, run.workspace)
    run.journal = None


class Verify(Step):
    """The proof."""

    id = "verify"

    async def run(self, run: RunContext) -> None:
        """Verify the new environment; what came out of uv's cache damaged is installed again once, past the cache.

        What the user put into the old one and keeps Python from starting is left out by a repair alone.

        Raises:
            AmlError: ``AML_VERIFY_FAILED`` with what was found; ``AML_START_BLOCKED`` where it is a file of the user's.
        """
        in_place = run.journal is not None and run.journal.action is Action.IN_PLACE
        environment = run.workspace.venv if in_place else run.workspace.staged
        report = await examine(run, environment, run.expected)
        if report.loose:
            if not run.wish.may_leave_out:
                raise _start_blocked(run, report)
            await leave_out(run, report.loose)
            report = await examine(run, environment, run.expected)
        if not in_place and can_reinstall(run, report):
            run.log(text("verify.reinstalling", run.language, packages=", ".join(report.broken_packages)))
            await reinstall_packages(run, environment, report.broken_packages)
            report = await examine(run, environment, run.expected)
        refuse_damaged(run, report)
        await tell_accelerators(run, environment)


def _start_blocked(run: RunContext, report: VerifyReport) -> AmlError:
    sentences = [finding.in_words(run.language) for finding in report.loose]
    files = ", ".join(str(run.workspace.venv / finding.loose) for finding in report.loose)
    return AmlError("AML_START_BLOCKED", first=sentences[0], count=len(sentences), files=files, detail="\n".join(sentences))


def can_reinstall(run: RunContext, report: VerifyReport) -> bool:
    """Tell whether everything that is wrong can be put right by installing distributions from the store again."""
    broken = set(report.broken_packages)
    return (
        bool(broken)
        and run.uv is not None
        and all(finding.package or finding.loose for finding in report.problems)
        and broken <= {wheel.name for wheel in run.stored}
    )


async def prove(
    run: RunContext, environment: Path, expected: dict[str, str] | None, *, write_bytecode: bool = True
) -> None:
    """Verify an environment and leave the report in ``run``.

    Raises:
        AmlError: ``AML_VERIFY_FAILED`` with what was found.
    """
    refuse_damaged(run, await examine(run, environment, expected, write_bytecode=write_bytecode))


def refuse_damaged(run: RunContext, report: VerifyReport) -> None:
    """Raise what verification found, if anything.

    Raises:
        AmlError: ``AML_VERIFY_FAILED``.
    """
    if not report.ok:
        sentences = [finding.in_words(run.language) for finding in report.problems]
        raise AmlError("AML_VERIFY_FAILED", first=sentences[0], count=len(sentences), detail="\n".join(sentences[:40]))


async def examine(
    run: RunContext, environment: Path, expected: dict[str, str] | None, *, write_bytecode: bool = True
) -> VerifyReport:
    """Verify an environment and leave the report in ``run``; warnings and remarks go to the log."""
    loop = asyncio.get_running_loop()
    step = run.step

    def on_progress(done: int, total: int, unit: str) -> None:
        def tell() -> None:
            if run.step == step:
                run.runner.touch()
                run.progress(done, total, unit)

        loop.call_soon_threadsafe(tell)

    variables = job_environment(run.parent_environment, workspace=run.workspace, job_dir=run.tmp, tmp=run.tmp)
    report = await verify_environment(
        environment,
        run.runner,
        variables,
        main_imports=run.wish.main_imports,
        expected=expected,
        write_bytecode=write_bytecode,
        on_progress=on_progress,
    )
    if report.ok and await asyncio.to_thread(has_torch, environment):
        sight = await torch_sight(environment, run.runner, variables, run.tmp)
        report = replace(report, remarks=(*report.remarks, sight), torch=sight)
    run.report = report
    for finding in (*report.warnings, *report.remarks, *report.notes):
        run.log(finding.in_words(run.language))
    return report


class Proof(Step):
    """The proof of the environment that is in use; it writes nothing into it."""

    id = "verify"

    async def run(self, run: RunContext) -> None:
        """Verify the environment in use."""
        await prove(run, run.workspace.venv, expected_names(run.workspace), write_bytecode=False)


class Commit(Step):
    """The exchange."""

    id = "commit"

    async def run(self, run: RunContext) -> None:
        """Put the new environment in place, its lock and the job kit with it; the old one waits aside."""
        workspace = run.workspace
        if run.journal is None or run.lock_path is None:
            raise AmlError("AML_COMMIT_FAILED", path=str(workspace.venv), reason="nothing was built")
        source = run.lock_path
        marker = Marker(
            digest=run.digest,
            root=str(workspace.root),
            python=run.require_python().version_text,
            lock=lock_digest(await asyncio.to_thread(source.read_text, encoding="utf-8")),
            build=run.journal.build,
        )
        in_place = run.journal.action is Action.IN_PLACE
        put_in_place = commit_in_place if in_place else commit_staged

        def put() -> None:
            put_in_place(workspace, marker)
            run.journal = None
            promote_locks(workspace)

        with ExitStack() as held:
            if not in_place:  # Build in place holds it already
                await hold_alone(run, held, "commit")
            await run_whole(copy_kit, run)
            aside = await set_aside(run)
            try:
                await run_past_return(put)  # as one: a cancel meanwhile must not part the environment from its lock
            except BaseException:
                await take_back(run, aside)
                raise
            tell_set_aside(run, aside)


def promote_locks(workspace: Workspace) -> None:
    """Make the locks of the new environment the workspace's own and keep the one before the last change."""
    if workspace.next_lock.is_file():
        if recorded_in(workspace.lock) and not (
            is_unchanged(workspace) and before_in(workspace.lock) == before_in(workspace.next_lock)
        ):
            copy_atomically(workspace.lock, workspace.previous_lock)
        replace_file(workspace.next_lock, workspace.lock)
    with suppress(FileNotFoundError):
        replace_file(workspace.next_local_lock, workspace.local_lock)


def finish_promotion(workspace: Workspace) -> None:
    """Promote the locks where a run ended between the exchange and that: the marker in place names the next lock."""
    if lock_in_use(workspace) == workspace.next_lock:
        promote_locks(workspace)


def copy_kit(run: RunContext) -> None:
    """Give the workspace its copy of the job kit and the folders of its user."""
    source = run.choices.kit or resource("python")
    run.workspace.kit.mkdir(parents=True, exist_ok=True)
    for file in source.glob("*.py"):
        if file.is_file():
            copy_atomically(file, run.workspace.kit / file.name)  # a job that begins now imports the old one or the new one
    for folder in run.workspace.user_folders:
        if not os.path.lexists(folder):  # it may lead to a disk that is not there now
            folder.mkdir()


def all_steps() -> tuple[Step, ...]:
    """Return new steps in their order."""
    return (InstallUv(), InstallPython(), Resolve(), Fetch(), Build(), Verify(), Commit())
