"""One run on one workspace, from the first look to the last word; the only place that catches (DESIGN section 5)."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
import traceback
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from amlwizard.core import receipt
from amlwizard.core.bundle.gathering import choose_source
from amlwizard.core.bundle.report import created_event
from amlwizard.core.bundle.steps import (
    AnyPython,
    AnyUv,
    CheckBundle,
    Gather,
    WriteBundle,
    bundle_plan,
    names_interpreter,
    steps_from_bundle,
)
from amlwizard.core.bundle.writing import check_place
from amlwizard.core.catalogue import Phrase, text
from amlwizard.core.child_env import tool_environment
from amlwizard.core.choices import Choices, UvMethod
from amlwizard.core.context import RunContext
from amlwizard.core.dead_runs import clear_dead_runs, left_by_dead_runs
from amlwizard.core.deep_check import DeepCheck
from amlwizard.core.detection import detect, detected_content, find_bundled_uv
from amlwizard.core.detection.known import known_facts, own_facts
from amlwizard.core.environment import users
from amlwizard.core.environment.commit import recover, refuse_foreign, remove_old
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.environment.threads import run_past_return, run_whole
from amlwizard.core.errors import AmlError, BusyError, RefusedError
from amlwizard.core.events import (
    BundleEvent,
    DetectedEvent,
    Emit,
    Event,
    FinishedEvent,
    LogEvent,
    PlanEvent,
    RunState,
    StepEvent,
    StepState,
)
from amlwizard.core.facts import EnvironmentFacts, Facts
from amlwizard.core.host import host_facts
from amlwizard.core.offline import refuse_incomplete_store
from amlwizard.core.outcome import cancelled, environment_content, finished_event, state_of, success_event
from amlwizard.core.paths import Workspace
from amlwizard.core.plan import Work, make_plan
from amlwizard.core.python_install import DEFAULT_VERSION, find_archive
from amlwizard.core.readiness import ready_now
from amlwizard.core.redact import redact
from amlwizard.core.remarks import remarks
from amlwizard.core.repair import Hands, Outcome, repair
from amlwizard.core.resolving import is_current
from amlwizard.core.root_checks import check_root
from amlwizard.core.run_log import RunLog
from amlwizard.core.run_record import OwnRecord
from amlwizard.core.steps import Proof, Step, all_steps, drop_build, finish_promotion, readable_lock
from amlwizard.core.storing import Wanted, ask_sizes, download_size, missing_files, wanted_files
from amlwizard.core.system_errors import failure_from_system
from amlwizard.core.undo import begin_undo, previous_wish
from amlwizard.core.uninstall_run import uninstall
from amlwizard.core.uv_cli import UvCli
from amlwizard.core.wish import Wish, make_wish, refuse_without_lock
from amlwizard.core.workspace_lock import hold_run, hold_use, refuse_while_used

if TYPE_CHECKING:
    from types import TracebackType

    from amlwizard.core.bundle.reading import Bundle
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.running import Runner


class Session:
    """One run. An asynchronous context manager: leaving it ends every process and removes the private folders."""

    def __init__(self, choices: Choices, runner: Runner, fetcher: Fetcher, emit: Emit, language: str) -> None:
        self._choices = choices
        self._workspace = Workspace(choices.root)
        self._runner = runner
        self._fetcher = fetcher
        self._listener = emit
        self._language = language
        self._started = time.monotonic()
        self._log: RunLog | None = None
        self._record = OwnRecord(self._workspace, runner.run_tag)
        self._held = ExitStack()
        self._probe_folder: Path | None = None
        self._tmp: Path | None = None
        self._step: Step | None = None
        self._run: RunContext | None = None

    async def __aenter__(self) -> Self:
        self._runner.tell_starts(self._record.note_child)
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
                await self._runner.sweep()
            finally:
                await run_whole(self._record.remove)

    async def detect(self) -> Facts:
        """Look at the computer; nothing is written."""
        if self._choices.bundle is not None:
            of_bundle = await self._make_wish(self._choices)
            self._check_bundle_fits(of_bundle)
            return await self._facts("detect", of_bundle)
        wish = None
        with suppress(AmlError):  # what is wrong with the wish is said by plan and install
            wish = await self._make_wish(self._choices)
        return await self._look(wish)

    async def plan(self) -> PlanEvent:
        """Look, then say what an installation would do; nothing is written."""
        wish = await self._make_wish(self._choices)
        self._check_bundle_fits(wish)
        facts = await self._facts("plan", wish)
        if wish.bundle is not None:
            await self._check_python(wish, facts)
        self._check_means(facts)
        self._tell_remarks(wish)
        run = self._context(wish, facts)
        plan = await self._first_plan(run, facts)
        self._emit(plan)
        return plan

    async def perform(self, kind: str) -> FinishedEvent:
        """Do the whole job and return its end, which is emitted as the last event."""
        try:
            finished = await self._job(kind)
        except AmlError as error:
            await self._give_up(StepState.FAILED)
            found = kind == "verify" and error.code in {"AML_VERIFY_FAILED", "AML_STORE_DAMAGED"}
            finished = self._ended(error, RunState.NOT_READY if found else state_of(error))
        except asyncio.CancelledError:
            await self._give_up(StepState.CANCELLED)
            finished = self._ended(cancelled(await self._runner.sweep()), RunState.CANCELLED)
        except Exception as error:  # noqa: BLE001 - the user gets a sentence, the log file the traceback
            await self._give_up(StepState.FAILED)
            failure = failure_from_system(error, self._workspace.root)
            if failure is None:
                failure = AmlError("AML_INTERNAL", kind=type(error).__name__, path=self._note_fault(error))
            finished = self._ended(failure, state_of(failure))
        with suppress(asyncio.CancelledError):  # that comes too late: this is the end already
            if kind != "uninstall" and finished.environment is None:
                environment = await asyncio.to_thread(self._environment_content, kind, finished.code)
                finished = replace(finished, environment=environment)
        with suppress(asyncio.CancelledError):
            await self._let_go()
        self._emit(finished)
        return finished

    def _environment_content(self, kind: str, code: str) -> dict[str, str]:
        """Return the environment's state as a front end shows it; what only a proof can find counts as well."""
        state = inspect_environment(self._workspace, None)
        if state.ready and code == "AML_VERIFY_FAILED" and kind == "verify":
            state = replace(state, state="damaged", reason="environment.not_passed", arguments={})
        return environment_content(state, self._language)

    def processes(self) -> int:
        """Return how many processes of this run are alive. Blocks for a moment, so it is called in a thread."""
        return self._runner.processes()

    # -- the kinds of job

    async def _job(self, kind: str) -> FinishedEvent:
        match kind:
            case "verify":
                return await self._verify()
            case "repair":
                return await self._repair(kind)
            case "undo":
                return await self._undo()
            case "uninstall":
                return await self._uninstall()
            case "bundle":
                return await self._make_bundle()
            case _:
                return await self._build(kind)

    async def _build(self, kind: str) -> FinishedEvent:
        workspace, choices = self._workspace, self._choices
        if kind == "rebuild" and not (choices.requirements or choices.profile or choices.bundle):
            await asyncio.to_thread(refuse_without_lock, workspace)
        wish = await self._make_wish(choices, from_lock=kind == "rebuild")
        if kind == "install":
            if workspace.journal.exists() or await asyncio.to_thread(left_by_dead_runs, workspace):
                with suppress(BusyError):  # somebody else is at it already
                    await self._hold(kind, replaces=False)
            ready = await asyncio.to_thread(ready_now, choices, self._language)
            if ready is not None:
                return ready
            plain = not choices.refresh and choices.until is None and choices.python is None
            if plain and await asyncio.to_thread(self._is_only_moved, wish):
                return await self._repair(kind)
        await asyncio.to_thread(check_root, choices.root)
        await asyncio.to_thread(refuse_foreign, workspace)
        if wish.bundle is not None:
            await self._check_bundle(wish)
        facts = await self._facts(kind, wish)
        self._check_means(facts)
        await self._check_python(wish, facts)
        await self._hold(kind, replaces=choices.until in (None, "commit"))
        self._tell_remarks(wish)
        run = self._context(wish, facts)
        self._emit(await self._first_plan(run, facts))
        reached = await self._run_steps(run, kind)
        if reached:
            await self._remove_old()
        state = await run_past_return(inspect_environment, workspace, None)
        if not reached:
            return self._success("AML_STEP_DONE", RunState.DONE, state)
        return self._success("AML_READY", RunState.READY if kind == "install" else RunState.DONE, state, self._remarks(run))

    async def _hold(self, kind: str, *, replaces: bool = True) -> None:
        """Hold the workspace alone to the end of this session; mend what a run that died had begun, and say so in one line.

        Whoever uses an environment that is to be replaced is named before anything is done to it.
        """
        workspace = self._workspace
        held = self._tmp is not None
        if not held:
            places = await asyncio.to_thread(receipt.absent_places, workspace)
            await run_whole(self._held.enter_context, hold_run(workspace, kind))
            await run_whole(partial(receipt.note_created, workspace, *places, kind="folder"))
        if replaces:
            await asyncio.to_thread(refuse_while_used, workspace, kind)
        if not held:
            self._log = await run_whole(RunLog, workspace, kind)
            cleared = await self._clear_dead_runs()
            mended = await run_whole(recover, workspace)
            await run_whole(finish_promotion, workspace)
            sentences = [*cleared, *([text(mended, self._language)] if mended is not None else [])]
            if sentences:
                self._emit(LogEvent("", " ".join(sentences), remark=True))
            self._tmp = await run_whole(self._record.settle, kind)
        if replaces:
            await self._tell_users()

    async def _clear_dead_runs(self) -> list[str]:
        cleared = await clear_dead_runs(self._workspace, self._runner)
        return [cleared.in_words(self._language)] if cleared is not None else []

    async def _remove_old(self) -> None:
        with suppress(OSError):  # the new one is in place all the same; the next start tries again
            await run_past_return(remove_old, self._workspace)

    async def _tell_users(self) -> None:
        """Name the programs that use the environment although no job is running.

        Raises:
            AmlError: ``AML_ENVIRONMENT_OPEN`` where the system lets no folder in use be renamed.
        """
        venv = self._workspace.venv
        found = await asyncio.to_thread(users.environment_users, venv) if os.path.lexists(venv) else []
        if found and users.BLOCK_RENAME:
            programs = tuple((user.name, user.pid) for user in found)
            raise AmlError("AML_ENVIRONMENT_OPEN", path=str(venv), users=users.in_words(found), programs=programs)
        if found:
            line = text("environment.used", self._language, users=users.in_words(found))
            self._emit(LogEvent("", line, remark=True))

    async def _repair(self, kind: str) -> FinishedEvent:
        workspace = self._workspace
        await asyncio.to_thread(check_root, workspace.root)
        await asyncio.to_thread(refuse_foreign, workspace)
        await self._hold(kind)
        state = await asyncio.to_thread(inspect_environment, workspace, None)
        broken = state.state in {"damaged", "moved", "base_missing"}
        wish = await self._make_wish(self._choices, from_lock=broken)  # what was installed, not what is wanted since
        if broken or (state.ready and state.digest == wish.digest(state.python or "")):
            self._choices = replace(self._choices, python=None)  # it stays on the Python that it is on
        run = self._context(wish, Facts(host_facts(), (), None, None, state))

        async def run_step(step: Step) -> None:
            await self._run_step(run, step)

        async def look(minor: str | None) -> Facts:
            return await self._facts_for(wish, minor)

        outcome = await repair(run, Hands(run_step, self._give_up, look))
        if outcome is Outcome.REBUILD:
            run = await self._rebuild(wish)
        if outcome is not Outcome.SOUND:
            await self._remove_old()
        state = await run_past_return(inspect_environment, workspace, None)
        code = {Outcome.SOUND: "AML_NOTHING_TO_REPAIR", Outcome.MENDED: "AML_REPAIRED"}.get(outcome, "AML_READY")
        return self._success(code, RunState.READY, state, self._remarks(run))

    async def _undo(self) -> FinishedEvent:
        workspace = self._workspace
        await asyncio.to_thread(previous_wish, workspace)
        await asyncio.to_thread(check_root, workspace.root)
        await asyncio.to_thread(refuse_foreign, workspace)
        await self._hold("undo")
        wish = await run_whole(begin_undo, workspace)
        self._choices = replace(self._choices, python=None)  # the lock says which one
        try:
            run = await self._rebuild(wish)
        except BaseException:
            workspace.next_lock.unlink(missing_ok=True)
            raise
        await self._remove_old()
        state = await run_past_return(inspect_environment, workspace, None)
        return self._success("AML_UNDONE", RunState.DONE, state, self._remarks(run))

    async def _rebuild(self, wish: Wish) -> RunContext:
        """Build the environment by the usual steps; on another Python where the wish's own cannot be had offline."""
        facts = await self._facts_for(wish, None)
        if facts.python is None and self._choices.offline and wish.resolved is not None:
            wish = await self._make_wish(self._choices)
            facts = await self._look(wish)
        run = self._context(wish, facts)
        self._emit(await self._make_plan(run, facts))
        await self._run_steps(run, "repair")
        return run

    async def _uninstall(self) -> FinishedEvent:
        async def prepare() -> None:
            await self._clear_dead_runs()
            await self._tell_users()

        end = await uninstall(self._workspace, self._emit, self._language, prepare)
        return self._ended(end, RunState.DONE)

    async def _hold_use(self) -> None:
        """Keep the environment from being exchanged meanwhile; where no lock can be had, nobody can exchange it."""
        try:
            await run_whole(self._held.enter_context, hold_use(self._workspace, "verify"))
        except BusyError:
            raise
        except AmlError:
            return

    async def _check_bundle(self, wish: Wish) -> None:
        """Look at every byte of the bundle before anything is written."""
        self._check_bundle_fits(wish)
        state = EnvironmentFacts("absent")
        await self._run_step(self._context(wish, Facts(host_facts(), (), None, None, state)), CheckBundle())

    def _check_bundle_fits(self, wish: Wish) -> None:
        """Refuse a bundle that is not for this computer, or not for the Python that was named."""
        if wish.bundle is None:
            return
        wish.bundle.check_fits(host_facts())
        if self._choices.python is not None and self._choices.python[:1].isdigit():
            wish.bundle.check_python(self._choices.python)

    async def _make_bundle(self) -> FinishedEvent:
        """Make a bundle: of the workspace where it holds what is asked for, else with the network."""
        workspace, choices, order = self._workspace, self._choices, self._choices.order
        assert order is not None  # noqa: S101 - the engine gives one
        await asyncio.to_thread(check_place, order.out)
        wish = await self._make_wish(choices)
        source = await asyncio.to_thread(choose_source, choices, order, wish, workspace, host_facts())
        await asyncio.to_thread(check_root, choices.root)
        gather = Gather(source)
        write = WriteBundle(gather, order.out)
        steps: tuple[Step, ...] = (gather, write)
        if source.recorded is None:
            steps = (AnyUv(), AnyPython(), *steps)
            facts = await self._look(None)
        else:
            facts = await self._own_facts()
        await self._hold("bundle", replaces=False)
        self._tell_remarks(wish)
        run = self._context(wish, facts)
        if source.recorded is None and choices.index_url is None:
            run.default_index = await self._default_index(run, facts)
        run.uv = facts.uv.path if facts.uv is not None else find_bundled_uv()
        self._emit(await asyncio.to_thread(bundle_plan, run, source, order.out))
        for step in steps:
            await self._run_step(run, step)
        return self._bundle_made(write)

    def _bundle_made(self, write: WriteBundle) -> FinishedEvent:
        content, contents = write.content, write.contents
        left_out = contents.left_out
        self._emit(BundleEvent({**content, "packages": len(contents.wheels), "left_out": list(left_out)}))
        return created_event(content, len(contents.wheels), left_out, self._workspace.root, self._language, self._seconds())

    async def _verify(self) -> FinishedEvent:
        workspace = self._workspace
        state = await asyncio.to_thread(inspect_environment, workspace, None)
        if not state.ready:
            reason = text(state.reason, self._language, **state.arguments) if state.reason else ""
            self._emit(LogEvent("verify", reason or state.state))
            action = Phrase(f"action.{state.action}")
            error = AmlError("AML_NOT_READY", root=str(workspace.root), state=state.state, reason=reason, action=action)
            return self._ended(error, RunState.NOT_READY)
        if self._choices.expect not in (None, state.lock):
            error = AmlError("AML_LOCK_DIFFERS", expected=self._choices.expect, found=state.lock or "-")
            return self._ended(error, RunState.NOT_READY)
        await self._hold_use()
        wish = await self._make_wish(replace(self._choices, requirements=None), from_lock=True)
        self._tmp = await run_whole(self._record.make_outside_folder)
        run = self._context(wish, Facts(host_facts(), (), None, None, state))
        await self._run_step(run, Proof())
        if self._choices.deep:
            await self._run_step(run, DeepCheck())
        return self._success("AML_VERIFIED", RunState.READY, state, self._remarks(run))

    # -- steps

    async def _run_steps(self, run: RunContext, kind: str) -> bool:
        """Run the steps; False where the choices asked to stop before the end."""
        if kind == "rebuild":
            run.workspace.next_lock.unlink(missing_ok=True)
        for step in all_steps() if run.wish.bundle is None else steps_from_bundle():
            await self._run_step(run, step)
            if step.id == "resolve":
                await self._check_space(run)
            if step.id == self._choices.until and step.id != "commit":
                return False
        return True

    async def _run_step(self, run: RunContext, step: Step) -> None:
        began = time.monotonic()
        run.step = step.id
        self._step, self._run = step, run
        if await step.is_done(run):
            self._emit(StepEvent(step.id, StepState.SKIPPED))
        else:
            self._emit(StepEvent(step.id, StepState.STARTED))
            await step.run(run)
            self._emit(StepEvent(step.id, StepState.DONE, seconds=time.monotonic() - began))
        self._step = None

    async def _give_up(self, state: StepState) -> None:
        """Take back what was begun; completed steps and downloads stay."""
        step = self._step
        if step is not None and self._run is not None:
            try:
                await drop_build(self._run)
            except (AmlError, OSError) as error:  # the journal is still there, and the next start goes on from it
                self._emit(LogEvent(step.id, str(error)))
            self._emit(StepEvent(step.id, state))
        self._step = None

    async def _check_space(self, run: RunContext) -> None:
        await ask_sizes(run)
        plan = await self._make_plan(run, run.facts)
        self._emit(plan)
        free = (await asyncio.to_thread(shutil.disk_usage, self._workspace.root)).free
        if plan.disk_bytes is not None and plan.disk_bytes > free:
            raise AmlError("AML_DISK_SPACE", root=str(self._workspace.root), needed=plan.disk_bytes, free=free)

    # -- looking

    async def _make_wish(self, choices: Choices, *, from_lock: bool = False) -> Wish:
        """Read what is wanted; a lock or a long requirements file takes a moment, during which a window stays alive."""
        return await asyncio.to_thread(make_wish, choices, self._workspace, os.environ, from_lock=from_lock)

    def _is_only_moved(self, wish: Wish) -> bool:
        """Tell whether the environment is what is wanted, but at another place than it was."""
        state = inspect_environment(self._workspace, None)
        return state.state == "moved" and state.python is not None and state.digest == wish.digest(state.python)

    def _check_means(self, facts: Facts) -> None:
        """Refuse to do without uv where no interpreter can do without it; only uv could bring one."""
        if self._choices.uv_method is not UvMethod.NONE or facts.python is not None:
            return
        incomplete = (
            candidate.python
            for candidate in facts.candidates
            if candidate.python is not None and candidate.reason.startswith("candidate.needs_uv")
        )
        minor = next((python.minor for python in incomplete), "3")
        raise RefusedError("AML_NO_PYTHON_WITHOUT_UV", package=f"python{minor}-venv")

    async def _check_python(self, wish: Wish, facts: Facts) -> None:
        """Refuse a version that cannot be used or had, while nothing has been changed."""
        wanted, allowed = self._choices.python, wish.python_range
        if wanted is None or wish.bundle is not None:
            if wish.bundle is not None and facts.python is not None and facts.python.python is not None:
                wish.bundle.check_python(facts.python.python.version_text)
            return
        if not wanted[:1].isdigit():
            return
        exact = wanted if wanted.count(".") == 2 else f"{wanted}.99"  # the newest patch of a minor version
        if allowed is not None and not allowed.contains(exact):
            raise RefusedError("AML_PYTHON_NOT_IN_RANGE", wanted=wanted, allowed=str(allowed))
        uv = facts.uv.path if facts.uv is not None else find_bundled_uv()
        if facts.python is None and uv is not None and not self._choices.offline:
            run = self._context(wish, facts)
            run.uv = uv
            if await find_archive(run, wanted) is None:
                raise RefusedError("AML_PYTHON_VERSION_UNAVAILABLE", wanted=wanted, platform=facts.host.platform)

    async def _facts(self, kind: str, wish: Wish) -> Facts:
        plain = self._choices.python is None and self._choices.uv is None and not self._choices.refresh
        named = names_interpreter(self._choices) or self._choices.uv is not None
        if wish.bundle is not None and not named and self._choices.uv_method is not UvMethod.NONE:
            return await self._own_facts()
        if kind == "rebuild" and plain and self._choices.uv_method is not UvMethod.NONE:
            state = await asyncio.to_thread(inspect_environment, self._workspace, None)
            facts = await known_facts(self._workspace, self._runner, await self._probe_environment(), host_facts(), state)
            if facts is not None:
                self._emit(DetectedEvent(detected_content(facts, self._language)))
                return facts
        return await self._look(wish)

    async def _own_facts(self) -> Facts:
        """Look only at the uv and the interpreters that the workspace has itself."""
        state = await asyncio.to_thread(inspect_environment, self._workspace, None)
        facts = await own_facts(self._workspace, self._runner, await self._probe_environment(), host_facts(), state)
        self._emit(DetectedEvent(detected_content(facts, self._language)))
        return facts

    async def _facts_for(self, wish: Wish, minor: str | None) -> Facts:
        """Find uv and an interpreter: the one that the environment stands on where it fits, else any of a minor version."""
        state = await asyncio.to_thread(inspect_environment, self._workspace, None)
        facts = await known_facts(self._workspace, self._runner, await self._probe_environment(), host_facts(), state)
        free = minor is None and self._choices.python is None
        if facts is None or not free or not _fits(wish, facts):
            present = ".".join((state.python or "").split(".")[:2])
            pinned = wish.resolved is not None  # its Python is known without asking for it
            return await self._look(wish, minor or (None if pinned else present or None))
        self._emit(DetectedEvent(detected_content(facts, self._language)))
        return facts

    async def _look(self, wish: Wish | None, minor: str | None = None) -> Facts:
        workspace = self._workspace
        choices = replace(self._choices, python=minor) if minor and self._choices.python is None else self._choices

        def environment() -> EnvironmentFacts:
            state = inspect_environment(workspace, None)
            if wish is None or not state.ready or state.python is None:
                return state
            return inspect_environment(workspace, wish.digest(state.python))

        facts = await detect(
            choices,
            workspace,
            self._runner,
            os.environ,
            env=await self._probe_environment(),
            bundled_uv=find_bundled_uv(),
            python_range=wish.python_range if wish is not None else None,
            environment=environment,
        )
        self._emit(DetectedEvent(detected_content(facts, self._language)))
        return facts

    async def _probe_environment(self) -> dict[str, str]:
        if self._probe_folder is None:
            self._probe_folder = await run_whole(self._record.make_outside_folder)
        return tool_environment(self._fetcher.child_environment(os.environ), tmp=self._probe_folder).variables

    def _context(self, wish: Wish, facts: Facts) -> RunContext:
        self._fetcher.learn_logins(wish.logins)
        return RunContext(
            workspace=self._workspace,
            choices=self._choices,
            parent_environment=os.environ,
            runner=self._runner,
            fetcher=self._fetcher,
            emit=self._emit,
            language=self._language,
            tmp=self._tmp or self._probe_folder or Path(tempfile.gettempdir()),
            facts=facts,
            wish=wish,
            held=self._held,
        )

    async def _first_plan(self, run: RunContext, facts: Facts) -> PlanEvent:
        """Return the plan, or say at once what cannot be had without a network."""
        plan = await self._make_plan(run, facts)
        if self._choices.offline and run.python is not None and run.wish.bundle is None:
            fresh = self._choices.refresh
            await refuse_incomplete_store(run, None if fresh else await asyncio.to_thread(self._locked_files, run))
        return plan

    async def _make_plan(self, run: RunContext, facts: Facts) -> PlanEvent:
        """Return the plan as far as it is known; reads the store, changes nothing."""
        choices = self._choices
        if run.wish.bundle is not None:
            return self._plan_of_bundle(run, run.wish.bundle)
        if run.default_index is None and choices.index_url is None:
            run.default_index = await self._default_index(run, facts)
        python = run.python or (facts.python.python if facts.python is not None else None)
        package_bytes: int | None = None
        store_bytes = 0
        resolve, builds = True, False
        files_hosts: list[str] = []
        if python is not None:
            run.python = python
            wanted = None if choices.refresh and run.lock is None else await asyncio.to_thread(self._locked_files, run)
            if wanted is not None:
                resolve = False
                missing = await missing_files(run, wanted)
                store_bytes = sum(file.size or 0 for file in wanted.files if file not in missing)
                sizes = [download_size(run, file) for file in missing]
                package_bytes = None if None in sizes else sum(size or 0 for size in sizes)
                builds = any(file.needs_build for file in missing)
                files_hosts = [run.host_of(file.url) for file in missing if file.url]
            elif run.wish.profile is not None:
                package_bytes = run.wish.profile.download_bytes(facts.host.platform, python.minor)
        elif run.wish.profile is not None:
            package_bytes = run.wish.profile.download_bytes(facts.host.platform, choices.python or DEFAULT_VERSION)
        addresses = [choices.index_url or run.default_index or "", *choices.extra_index_urls]
        addresses += [place for place in choices.find_links if "://" in place]
        hosts = [run.host_of(url) for url in addresses] if resolve else []
        if facts.python is None and choices.python_downloads_json:
            hosts.append(run.host_of(choices.python_downloads_json))
        work = Work(
            install_uv=facts.uv is None and run.uv is None and choices.uv_method is not UvMethod.NONE,
            uv_is_bundled=choices.uv_method in (UvMethod.AUTO, UvMethod.BUNDLED) and find_bundled_uv() is not None,
            install_python=python is None,
            resolve=resolve,
            package_bytes=package_bytes,
            store_bytes=store_bytes,
            builds=builds,
            hosts=tuple(dict.fromkeys(host for host in [*hosts, *files_hosts] if host)),
        )
        replaces = os.path.lexists(self._workspace.venv)
        plan = make_plan(self._workspace, work, replaces_environment=replaces, language=self._language)
        return replace(plan, download_bytes=0, hosts=()) if choices.offline else plan

    def _plan_of_bundle(self, run: RunContext, bundle: Bundle) -> PlanEvent:
        """Return the plan of a job that takes everything out of a bundle."""
        work = Work(
            install_uv=run.facts.uv is None and run.uv is None and self._choices.uv_method is not UvMethod.NONE,
            uv_is_bundled=True,
            install_python=run.python is None and run.facts.python is None,
            resolve=True,
            package_bytes=sum(wheel.size for wheel in bundle.wheels),
            store_bytes=0,
            hosts=(),
            from_bundle=True,
        )
        replaces = os.path.lexists(self._workspace.venv)
        return make_plan(self._workspace, work, replaces_environment=replaces, language=self._language)

    def _locked_files(self, run: RunContext) -> Wanted | None:
        """Return what the lock of this wish installs, or None where there is none; called in a thread."""
        lock = run.lock or readable_lock(self._workspace.lock)
        if lock is None or not is_current(run, lock):
            return None
        return wanted_files(run, lock)

    async def _default_index(self, run: RunContext, facts: Facts) -> str | None:
        """Ask uv for the index that it uses by itself; no address of a registry stands in this program."""
        uv = run.uv or (facts.uv.path if facts.uv is not None else find_bundled_uv())
        if uv is None:
            return None
        empty = run.tmp / "empty.txt"
        empty.touch()
        result = await run.run_tool(UvCli(uv, self._workspace).show_index(empty), quiet_stdout=True, total_seconds=15)
        for line in result.stdout:
            if line.startswith("--index-url "):
                return line.partition(" ")[2].strip()
        return None

    # -- the end

    def _tell_remarks(self, wish: Wish) -> None:
        for line in remarks(wish, self._choices, self._language):
            self._emit(LogEvent("", line, remark=True))

    def _remarks(self, run: RunContext) -> str:
        if run.report is None:
            return ""
        found = (*run.report.warnings, *run.report.remarks)
        return "\n".join(text(finding.key, self._language, **finding.arguments) for finding in found)

    def _success(self, code: str, state: RunState, facts: EnvironmentFacts, detail: str = "") -> FinishedEvent:
        return success_event(
            code, state, self._workspace.root, self._workspace.python, facts, self._language, self._seconds(), detail=detail
        )

    def _ended(self, error: AmlError, state: RunState) -> FinishedEvent:
        detail = redact(error.detail, self._secrets())
        return finished_event(error, state, self._workspace.root, self._language, self._seconds(), detail=detail)

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _emit(self, event: Event) -> None:
        if self._log is not None:
            self._log.write(event)
        self._listener(event)

    def _secrets(self) -> tuple[str, ...]:
        if self._run is not None:
            return self._run.secrets
        return tuple(password for _, password in self._choices.credentials.values())

    def _note_fault(self, error: Exception) -> str:
        trace = redact("".join(traceback.format_exception(error)), self._secrets())
        if self._log is None:
            descriptor, name = tempfile.mkstemp(prefix="amlwizard-", suffix=".log", text=True)
            with open(descriptor, "w", encoding="utf-8") as stream:  # noqa: PTH123 - mkstemp has opened it
                stream.write(trace)
            return name
        self._log.write_text(trace)
        return str(self._log.path)


def _fits(wish: Wish, facts: Facts) -> bool:
    version = facts.python.version if facts.python is not None else ""
    return bool(version) and (wish.python_range is None or wish.python_range.contains(version))
