"""One run on one workspace, from the first look to the last word; the only place that catches (DESIGN section 5).

What is done in between is not known here: each kind of run is a function of ``core/runs/``, which is given the session.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from amlwizard.core import receipt
from amlwizard.core.catalogue import Phrase, text
from amlwizard.core.child_env import tool_environment
from amlwizard.core.cloud_folders import cloud_service
from amlwizard.core.context import RunContext
from amlwizard.core.crash import crash_error
from amlwizard.core.cures import run_curing
from amlwizard.core.damaged_records import damaged_records
from amlwizard.core.dead_runs import clear_dead_runs, is_interrupted
from amlwizard.core.detection.graphics import find_cards
from amlwizard.core.detection.windows import system_registry
from amlwizard.core.environment import users
from amlwizard.core.environment.commit import recover
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.environment.threads import run_past_return, run_whole
from amlwizard.core.errors import AmlError, BusyError
from amlwizard.core.events import Emit, Event, FinishedEvent, LogEvent, RunState, StepEvent, StepState
from amlwizard.core.fresh import FreshWorkspace
from amlwizard.core.host import host_facts, system_name
from amlwizard.core.locked_hints import note_locks
from amlwizard.core.misplaced import free_lock_files, refuse_misplaced, set_misplaced_aside
from amlwizard.core.outcome import cancelled, environment_content, finished_event, success_event
from amlwizard.core.paths import Workspace
from amlwizard.core.redact import redact
from amlwizard.core.run_log import RunLog
from amlwizard.core.run_record import OwnRecord
from amlwizard.core.search_path import renewed_environment
from amlwizard.core.steps import Step, drop_build, finish_promotion
from amlwizard.core.system_errors import failure_from_system
from amlwizard.core.temporary import system_folder
from amlwizard.core.workspace_lock import hold_run, hold_use, other_run, refuse_while_used

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from amlwizard.core.choices import Choices
    from amlwizard.core.environment.findings import VerifyReport
    from amlwizard.core.facts import Facts, GraphicsCard
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.running import Runner
    from amlwizard.core.torch_builds import TorchChoice
    from amlwizard.core.wish import Wish


Work = Callable[["Session"], Awaitable[FinishedEvent]]
"""What a kind of run does: it returns its end, or raises what stood in the way."""


class Session:
    """One run. An asynchronous context manager: leaving it ends every process and removes the private folders.

    ``choices`` are what the next look and the next context go by; a run may narrow them.
    """

    def __init__(self, choices: Choices, runner: Runner, fetcher: Fetcher, emit: Emit, language: str) -> None:
        self.choices = choices
        self.workspace = Workspace(choices.root)
        self.runner = runner
        self.language = language
        self._fetcher = fetcher
        self._listener = emit
        self._started = time.monotonic()
        self._log: RunLog | None = None
        self._record = OwnRecord(self.workspace, runner.run_tag)
        self._held = ExitStack()
        self._probe_folder: Path | None = None
        self._tmp: Path | None = None
        self._step: Step | None = None
        self._run: RunContext | None = None
        self._link_mode: str | None = None
        self._not_passed_on: set[str] = set()
        self.torch: TorchChoice | None = None
        self.graphics: tuple[GraphicsCard, ...] | None = None
        self._fresh: FreshWorkspace | None = None
        self._was_taken_back: FreshWorkspace | None = None
        self.has_set_aside = False
        """Whether this run has moved away what lay in the place of something of ours."""

    async def __aenter__(self) -> Self:
        self.runner.tell_starts(self._record.note_child)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._let_go()
        finally:
            if self._log is not None:
                self._log.close()

    async def _let_go(self) -> None:
        """End what is left of the run and take its notes away; only then free the workspace for another."""
        with self._held:
            try:
                await self.runner.sweep()
            finally:
                await run_whole(self._record.remove)

    async def perform(self, work: Work, *, tells_state: bool = True) -> FinishedEvent:
        """Do the whole work and return its end, which is emitted as the last event and tells the environment's state."""
        try:
            finished = await work(self)
        except AmlError as error:
            await self.give_up(StepState.FAILED)
            with suppress(asyncio.CancelledError, OSError):  # a cancel comes too late: this is the end already
                await self._take_back(error)
            finished = self.ended(error)
        except asyncio.CancelledError:
            await self.give_up(StepState.CANCELLED)
            finished = self.ended(cancelled(await self.runner.sweep()))
        except Exception as error:  # noqa: BLE001 - the user gets a sentence, a file the traceback
            await self.give_up(StepState.FAILED)
            root = self.workspace.root
            finished = self.ended(failure_from_system(error, root) or crash_error(error, root, self._secrets()))
        with suppress(asyncio.CancelledError):  # that comes too late: this is the end already
            if tells_state and finished.environment is None:
                environment = await asyncio.to_thread(self._environment_content, finished)
                finished = replace(finished, environment=environment)
        with suppress(asyncio.CancelledError):
            await self._let_go()
        if self._was_taken_back is not None:
            with suppress(asyncio.CancelledError, OSError):
                await run_whole(self._was_taken_back.finish)
        elif self._log is not None and self._log.is_open:
            finished = replace(finished, log=str(self._log.path))
        self.emit(finished)
        return finished

    async def _take_back(self, error: AmlError) -> None:
        """Leave the folder as it was where a run was refused that had found no workspace in it."""
        fresh, self._fresh = self._fresh, None
        if fresh is None or not await run_whole(fresh.was_refused, error):
            return
        if self._log is not None:
            self._log.close()
            self._log = None
        await run_whole(fresh.remove)
        self._was_taken_back = fresh

    def _environment_content(self, finished: FinishedEvent) -> dict[str, str]:
        """Return the environment's state as a front end shows it; what only a proof can find counts as well."""
        state = inspect_environment(self.workspace, None)
        if state.ready and finished.code == "AML_VERIFY_FAILED" and finished.state is RunState.NOT_READY:
            state = replace(state, state="damaged", reason="environment.not_passed", arguments={})
        if finished.code in {"AML_LOCK_DAMAGED", "AML_LOCK_LOST"}:
            from amlwizard.core.lock_recovery import with_lock  # rare, and takes time to load

            state = with_lock(state, self.workspace)
        return environment_content(state, self.language)

    async def look_for_graphics(self) -> tuple[GraphicsCard, ...]:
        """Return the graphics cards of this computer, which are looked for once; ``graphics`` has them afterwards."""
        if self.graphics is None:
            windows = os.environ.get("SYSTEMROOT")
            folder = Path(windows) if windows else None
            env = await self.probe_environment()
            self.graphics = await find_cards(host_facts(), self.runner, env, windows_folder=folder)
        return self.graphics

    # -- what a run holds

    async def hold(self, kind: str, *, replaces: bool = True, frees: bool = False) -> None:
        """Hold the workspace alone to the end of this session; mend what a run that died had begun, and say so in one line.

        Whoever uses an environment that is to be replaced is named before anything is done to it. A run that ``frees``
        space makes nothing, and needs none for itself.
        """
        workspace = self.workspace
        held = self._tmp is not None
        if not held:
            places = () if frees else await asyncio.to_thread(receipt.absent_places, workspace)
            is_fresh = not await asyncio.to_thread(os.path.lexists, workspace.runtime)
            moved: list[Path] = []
            try:
                await self._clear_places(kind, moved)
                await self.keep(hold_run(workspace, kind))
                if kind == "repair":
                    await run_whole(set_misplaced_aside, workspace, moved)
            finally:
                told = [LogEvent("", text("repair.set_aside", self.language, path=path), remark=True) for path in moved]
                for event in told:
                    self.emit(event)
            self.has_set_aside = bool(moved)
            self._fresh = FreshWorkspace(workspace) if is_fresh else None
            receipt_mended = await run_whole(receipt.mend, workspace)
            await run_whole(partial(receipt.note_created, workspace, *places, kind="folder"))
        if replaces:
            await asyncio.to_thread(refuse_while_used, workspace, kind)
        if not held:
            self._log = await run_whole(RunLog, workspace, kind, self.language)
            for event in told:
                self._log.write(event)
            more = [text("records.receipt_mended", self.language, file=str(workspace.receipt))] if receipt_mended else []
            await self.clear_dead_runs(mends=True, more=more)
            self._tmp = await run_whole(partial(self._record.settle, kind, frees=frees))
            self._link_mode = await asyncio.to_thread(_link_mode, workspace.root)
        if replaces:
            await self.tell_users()

    async def _clear_places(self, kind: str, moved: list[Path]) -> None:
        """Make sure that ours can be written: a repair makes room for the locks now, for the rest once it holds them."""
        if kind == "repair":
            await run_whole(free_lock_files, self.workspace, moved)
        else:
            await asyncio.to_thread(refuse_misplaced, self.workspace)

    async def keep(self, lock: AbstractContextManager[None]) -> None:
        """Take a lock and hold it to the end of this session."""
        await run_whole(self._held.enter_context, lock)

    async def keep_use(self, kind: str) -> None:
        """Keep the environment from being exchanged while it is read; where no lock can be had, nobody can exchange it.

        Raises:
            BusyError: it is being exchanged (``AML_WORKSPACE_BUSY``).
        """
        try:
            await self.keep(hold_use(self.workspace, kind))
        except BusyError:
            raise
        except AmlError:
            return

    async def work_outside(self, *, needed: bool = True) -> None:
        """Let what is run from now on use a private folder outside of the workspace, in which nothing is to be changed.

        One that is not ``needed`` may be missing on a full disk.
        """
        self._tmp = await run_whole(partial(self._record.make_outside_folder, needed=needed))

    async def clear_dead_runs(self, *, mends: bool = False, more: Sequence[str] = ()) -> None:
        """End what dead runs have left, and say so in one line, with ``more`` that is to be said.

        With ``mends`` the workspace is held alone, and what was under way there is finished or undone as well. What was
        ended is told also where that fails.
        """
        sentences: list[str] = []
        try:
            cleared = await clear_dead_runs(self.workspace, self.runner)
            if cleared is not None:
                sentences.append(cleared.in_words(self.language))
            if mends:
                mended = await run_whole(recover, self.workspace)
                await run_whole(finish_promotion, self.workspace)
                sentences += [text(mended, self.language)] if mended is not None else []
        finally:
            if sentences or more:
                self.remark(" ".join([*sentences, *more]))

    async def end_dead_runs(self, kind: str) -> None:
        """Do the same in a run that does not hold the workspace alone; where it is there, it is held for that.

        Where that cannot be, somebody else is at it, or the proof that nobody is cannot be had.
        """
        with suppress(AmlError), ExitStack() as held:
            if await asyncio.to_thread(is_interrupted, self.workspace):
                is_there = await asyncio.to_thread(self.workspace.runtime.is_dir)  # or holding it would make one
                if is_there:
                    await run_whole(held.enter_context, hold_run(self.workspace, kind))
                await self.clear_dead_runs(mends=is_there)

    async def name_dead_runs(self) -> None:
        """Say that a run was interrupted, in one that only looks and leaves everything as it is."""
        with suppress(AmlError):
            is_left = await asyncio.to_thread(is_interrupted, self.workspace)
            if is_left and await asyncio.to_thread(other_run, self.workspace) is None:
                self.remark(text("runs.left", self.language))

    async def tell_damaged_records(self) -> None:
        """Name what is damaged of the workspace's records, although the environment works."""
        for finding in await asyncio.to_thread(damaged_records, self.workspace):
            self.remark(finding.in_words(self.language))

    async def tell_users(self) -> None:
        """Name the programs that use the environment although no job is running.

        Raises:
            AmlError: ``AML_ENVIRONMENT_OPEN`` where the system lets no folder in use be renamed.
        """
        venv = self.workspace.venv
        found = await asyncio.to_thread(users.environment_users, venv) if os.path.lexists(venv) else []
        if found and users.BLOCK_RENAME:
            programs = tuple((user.name, user.pid) for user in found)
            raise AmlError("AML_ENVIRONMENT_OPEN", path=str(venv), users=users.in_words(found), programs=programs)
        if found:
            self.remark(text("environment.used", self.language, users=users.in_words(found)))

    # -- steps

    async def probe_environment(self) -> dict[str, str]:
        """Return the environment of a program that is only asked what it is."""
        if self._probe_folder is None:
            self._probe_folder = await run_whole(partial(self._record.make_outside_folder, needed=False))
        return tool_environment(self._fetcher.child_environment(os.environ), tmp=self._probe_folder).variables

    def context(self, wish: Wish, facts: Facts) -> RunContext:
        """Return what steps share, for a wish and what was found."""
        self._fetcher.learn_logins(wish.logins)
        return RunContext(
            workspace=self.workspace,
            choices=wish.sources.fill(self.choices),
            parent_environment=renewed_environment(os.environ, system_registry()),
            runner=self.runner,
            fetcher=self._fetcher,
            emit=self.emit,
            language=self.language,
            tmp=self._tmp or self._probe_folder or system_folder(),
            facts=facts,
            wish=wish,
            held=self._held,
            link_mode=self._link_mode,
            not_passed_on=self._not_passed_on,
        )

    async def run_step(self, run: RunContext, step: Step) -> None:
        """Run one step unless there is nothing to do, and tell how it gets on."""
        began = time.monotonic()
        run.step = step.id
        self._step, self._run = step, run
        if await step.is_done(run):
            self.emit(StepEvent(step.id, StepState.SKIPPED))
        else:
            self.emit(StepEvent(step.id, StepState.STARTED))
            await run_curing(run, step)
            self.emit(StepEvent(step.id, StepState.DONE, seconds=time.monotonic() - began))
        self._step = None

    async def give_up(self, state: StepState) -> None:
        """Take back what was begun; completed steps and downloads stay."""
        step = self._step
        if self._run is not None:  # between two steps as well
            try:
                await drop_build(self._run)
            except (AmlError, OSError) as error:  # the journal is still there, and the next start goes on from it
                self._run.log(str(error))
        if step is not None:
            self.emit(StepEvent(step.id, state))
        self._step = None

    # -- what is told

    def emit(self, event: Event) -> None:
        """Tell what happens, and write it into the log."""
        if self._log is not None:
            self._log.write(event)
        self._listener(event)

    def remark(self, line: str) -> None:
        """Tell a sentence that every front end shows."""
        self.emit(LogEvent("", line, remark=True))

    async def success(
        self,
        code: str,
        state: RunState,
        report: VerifyReport | None = None,
        lacking: AmlError | None = None,
        **arguments: object,
    ) -> FinishedEvent:
        """Return the end of a run that came to its aim, with what the proof of the environment remarked.

        ``lacking`` lists what is missing all the same; its arguments are those of the code as well.
        """
        workspace, language = self.workspace, self.language
        environment = await run_past_return(inspect_environment, workspace, None)
        remarks = (*report.warnings, *report.remarks) if report is not None else ()
        lines = [finding.in_words(language) for finding in remarks]
        more = dict(arguments)
        if report is not None and report.torch is not None:
            more["torch"] = Phrase(report.torch.key, report.torch.arguments)  # a window puts it into words anew
        if lacking is not None:
            lines.append(lacking.detail)
            more |= {name: value for name, value in lacking.arguments.items() if name != "lacking"}
        return success_event(
            code,
            state,
            workspace.root,
            workspace.python,
            environment,
            language,
            self.seconds(),
            detail="\n".join(lines),
            more=more,
        )

    def ended(self, error: AmlError, state: RunState | None = None) -> FinishedEvent:
        """Return any other end; its state is the error's own unless another is given."""
        note_locks(error, self.choices.organisation)
        detail = redact(error.detail, self._secrets())
        return finished_event(error, self.workspace.root, self.language, self.seconds(), state=state, detail=detail)

    def seconds(self) -> float:
        """Return how long this session has been going on."""
        return time.monotonic() - self._started

    def _secrets(self) -> tuple[str, ...]:
        if self._run is not None:
            return self._run.secrets
        return tuple(password for _, password in self.choices.credentials.values())


def _link_mode(root: Path) -> str | None:
    """Return how uv is to bring files into an environment; a cloud service refuses hard links, or breaks them later."""
    in_cloud = cloud_service(root.resolve(), os.environ, system_name(sys.platform)) is not None
    return "copy" if in_cloud else None
