"""A scripted engine for tests of the window, and the outside that goes with it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amlwizard.core.catalogue import Phrase
from amlwizard.core.choices import Choices, Part
from amlwizard.core.diagnose.reaching import NetworkCheck
from amlwizard.core.disk_use import DiskUse
from amlwizard.core.engine import Engine
from amlwizard.core.errors import AmlError
from amlwizard.core.events import (
    ChangesEvent,
    DetectedEvent,
    FinishedEvent,
    LogEvent,
    PlanEvent,
    PlanStep,
    RunState,
    StepEvent,
    StepState,
    StoreEvent,
)
from amlwizard.core.facts import Candidate, EnvironmentFacts, Facts, GraphicsCard, Holder, Host
from amlwizard.core.root_checks import check_root
from amlwizard.ui.services import Defaults, Services
from tests.support.fake_memory import FakeMemory
from tests.support.fake_network import FakeNetwork
from tests.support.fake_opening import FakeOpening

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amlwizard.core.events import Emit
    from amlwizard.core.preflight import Reached
    from amlwizard.core.torch_builds import TorchChoice

STEPS = ("install_uv", "install_python", "resolve", "fetch", "build", "verify", "commit")
HOST = Host("linux", "x86_64", "6.1", "glibc 2.36", 2, 8 * 10**9)


def fake_services(engine: FakeEngine, root: Path, defaults: Defaults | None = None) -> Services:
    """Return an outside of the window that touches nothing; the settings are right when they are read again, in Chinese."""
    right = Defaults(Choices(root=root), "zh_CN")
    return Services(
        lambda: engine,
        defaults or right,
        lambda: engine.read_settings(right),
        lambda _: 42 * 10**9,
        lambda _: engine.look(),
        engine.opening,
        lambda _: engine.holder,
        lambda _: engine.mark,
        lambda _: 0,
        engine.network,
        lambda _: engine.can_undo,
        lambda _, stopped: engine.measure(stopped),
        engine.memory,
        engine.save_log,
        engine.held_awake,
        lambda _: engine.write_refusal,
    )


def store_content(freeable: int = 90_000_000, cache: int = 0, *, complete: bool = True) -> dict[str, Any]:
    """Return what the window needs of a ``StoreEvent``."""
    whole = {"files": 9, "bytes": 400_000_000 + cache, "shared_bytes": 400_000_000}
    return {"complete": complete, "freeable_bytes": freeable, "cache": whole}


class FakeEngine(Engine):
    """Emits what a real run would.

    ``fail_at`` names a step that fails (with the code ``fails_with``, which is about
    ``fails_about``, and a ``log``), ``hold_at`` one that goes on until it
    is cancelled or ``release`` is set; ``skipped`` names one that the plan leaves out and the run reports as skipped;
    ``lines`` are logged in every build step;
    ``changes`` are told by every run; ``alive`` processes are left after a cancel until ``ended`` is set. ``slow_look``
    holds up the look at the folder until it is set; with ``hold_detect`` the look at the computer does not end. ``calls``
    keeps what was asked. ``remarks`` are told with the plan, which tries the folder with ``tries_root``.
    ``memory`` is what the window remembers.
    ``network`` is what the Network page reads and changes; ``reached`` is what a check of it finds. ``opening`` is what
    the pages about a ready environment open.
    ``torch`` and ``graphics`` are found by every look; ``sees`` is what PyTorch sees after a run that ends well.
    ``defaults`` are those of the window. ``holder`` is another run in the folder, ``mark`` is what changes when somebody
    has changed it, ``write_refusal`` why this account cannot.
    A look ahead for an update tells ``changes`` as well, one at the store ``store_content``; ``updates``
    are what such a look finds of Python and uv; ``hold_at`` holds up ``plan`` and ``store`` too. ``use`` is what the
    folder takes, which with ``slow_measure`` is measured until
    that is stopped. ``saved`` is the thread in which a log was saved and what was to be, unless that ends with
    ``save_problem``; ``awake`` tells whether sleep is held off,
    ``read_in`` the thread in which the settings were read again.
    """

    def __init__(
        self, *, fail_at: str = "", hold_at: str = "", lines: int = 3, line: str = "+ package", pause: float = 0.0
    ):
        self.language = "en"
        self.fail_at = fail_at
        self.hold_at = hold_at
        self.lines = lines
        self.line = line
        self.pause = pause
        self.skipped = ""
        self.release = asyncio.Event()
        self.refusal: AmlError | None = None
        self.remarks: tuple[str, ...] = ()
        self.tries_root = False
        self.environment = EnvironmentFacts("absent")
        self.changes: ChangesEvent | None = None
        self.updates: dict[Part, tuple[str, int | None] | AmlError | str] = {
            Part.PYTHON: "Python 3.11.2 is the newest that is offered.",
            Part.UV: "uv 0.13.9 is the newest that is offered.",
        }
        self.holder: Holder | None = None
        self.write_refusal: AmlError | None = None
        self.mark = 0
        self.defaults: Defaults | None = None
        self.alive = 0
        self.ended = asyncio.Event()
        self.slow_look: threading.Event | None = None
        self.hold_detect = False
        self.calls: list[tuple[str, Choices]] = []
        self.fails_with = "AML_TEST"
        self.fails_about: dict[str, object] = {}
        self.log = ""
        self.can_undo = False
        self.use = DiskUse(612_000_000, 120_000_000, 203_000_000, 1_500_000)
        self.slow_measure = False
        self.saved: tuple[int, str | None, list[str], Path] | None = None
        self.save_problem: AmlError | None = None
        self.awake: bool | None = None
        self.read_in = 0
        self.store_content: dict[str, Any] = store_content()
        self.network = FakeNetwork()
        self.opening = FakeOpening()
        self.memory = FakeMemory()
        self.reached: tuple[Reached, ...] = ()
        self.torch: TorchChoice | None = None
        self.graphics: tuple[GraphicsCard, ...] = ()
        self.sees: Phrase | None = None

    def processes(self) -> int:
        return self.alive

    def measure(self, stopped: threading.Event) -> DiskUse:
        if self.slow_measure:
            assert stopped.wait(80)
        return self.use

    def save_log(self, _root: Path, log: str | None, lines: Sequence[str], target: Path) -> None:
        self.saved = (threading.get_ident(), log, list(lines), target)
        if self.save_problem is not None:
            raise self.save_problem

    @contextmanager
    def held_awake(self) -> Iterator[None]:
        self.awake = True
        yield
        self.awake = False

    def read_settings(self, found: Defaults) -> Defaults:
        self.read_in = threading.get_ident()
        return found

    def look(self) -> EnvironmentFacts:
        if self.slow_look is not None:
            self.slow_look.wait(80)
        return self.environment

    async def detect(self, choices: Choices, emit: Emit) -> Facts:
        await (asyncio.Event().wait() if self.hold_detect else asyncio.sleep(0))
        if self.refusal is not None:
            raise self.refusal
        python = Candidate("python", Path("/usr/bin/python3"), "path", "3.11.2", usable=True)
        stub = Candidate("python", Path("/opt/stub/python"), "path")
        emit(DetectedEvent({"candidates": [stub.to_json("")]}))
        await asyncio.sleep(0)
        return Facts(HOST, (stub, python), None, python, self.environment, self.graphics, self.torch)

    async def plan(self, choices: Choices, emit: Emit) -> PlanEvent:
        await asyncio.sleep(0)
        if self.tries_root:
            await asyncio.to_thread(check_root, choices.root)
        for line in self.remarks:
            emit(LogEvent("", line, remark=True))
        if choices.update is not None:
            return self._foresee(self.updates[choices.update], emit)
        if choices.refresh:
            self.calls.append(("plan", choices))
            if self.hold_at == "plan":
                await self.release.wait()
            if self.refusal is not None:
                raise self.refusal
            if self.changes is not None:
                emit(self.changes)
        steps = tuple(PlanStep(step, step) for step in STEPS)
        return PlanEvent(steps, 147_000_000, 1_100_000_000, ("files.example.org",), (str(choices.root),), ())

    def _foresee(self, found: tuple[str, int | None] | AmlError | str, emit: Emit) -> PlanEvent:
        """Tell of an update what it changes and the size of its download, or that nothing is newer."""
        if isinstance(found, AmlError):
            raise found
        if isinstance(found, str):
            emit(LogEvent("", found, remark=True))
            return PlanEvent((), 0, 0, (), (), ())
        name, before, after = found[0].split()
        emit(ChangesEvent(uv=(before, after)) if name == "uv" else ChangesEvent(python=(before, after)))
        return PlanEvent((), found[1], 0, (), (), ())

    async def check_network(self, choices: Choices, facts: Facts) -> NetworkCheck:
        self.calls.append(("check_network", choices))
        await asyncio.sleep(self.pause)
        if self.refusal is not None:
            raise self.refusal
        return NetworkCheck(self.reached, "Allow files.example.org:443.")

    async def report(self, choices: Choices, kind: str, event: FinishedEvent, more: Sequence[str]) -> str:
        await asyncio.sleep(self.pause)
        if self.refusal is not None:
            raise self.refusal
        return "\n".join([f"Last run: {kind}: {event.state.value}, {event.code}.", *more])

    async def install(self, choices: Choices, emit: Emit) -> FinishedEvent:
        return await self._play("install", choices, emit, STEPS)

    async def rebuild(self, choices: Choices, emit: Emit) -> FinishedEvent:
        return await self._play("rebuild", choices, emit, STEPS[-3:])

    async def repair(self, choices: Choices, emit: Emit) -> FinishedEvent:
        self.environment = EnvironmentFacts("ready", python="3.11.2", packages=106)
        return await self._play("repair", choices, emit, ("relink", "inspect"))

    async def verify(self, choices: Choices, emit: Emit) -> FinishedEvent:
        return await self._play("verify", choices, emit, ("verify",))

    async def change(self, choices: Choices, emit: Emit) -> FinishedEvent:
        return await self._play("change", choices, emit, STEPS[-5:])

    async def undo(self, choices: Choices, emit: Emit) -> FinishedEvent:
        return await self._play("undo", choices, emit, STEPS[-3:])

    async def store(self, choices: Choices, emit: Emit) -> FinishedEvent:
        if choices.prune:
            return await self._play("prune", choices, emit, ("prune",))
        self.calls.append(("store", choices))
        if self.hold_at == "store":
            await self.release.wait()
        emit(StoreEvent(self.store_content))
        return FinishedEvent(RunState.DONE, "AML_STORE_COMPLETE", "", root=str(choices.root))

    async def update(self, choices: Choices, emit: Emit) -> FinishedEvent:
        return await self._play("update", choices, emit, STEPS[:1] if choices.update is Part.UV else STEPS[-3:])

    async def share(self, choices: Choices, emit: Emit) -> FinishedEvent:
        assert choices.share is not None
        finished = await self._play("share", choices, emit, ("share",))
        arguments: dict[str, object] = {"path": str(choices.share), "file": choices.share.name, "size": "12 kB"}
        arguments["content"] = Phrase("share.content", {"packages": 106})
        return replace(finished, state=RunState.DONE, code="AML_SHARED", arguments=arguments)

    async def _play(self, name: str, choices: Choices, emit: Emit, steps: tuple[str, ...]) -> FinishedEvent:
        self.calls.append((name, choices))
        if choices.until is not None:
            steps = steps[: steps.index(choices.until) + 1]
        emit(
            PlanEvent(
                tuple(PlanStep(step, step) for step in steps if step != self.skipped),
                147_000_000,
                1_100_000_000,
                (),
                (),
                (),
            )
        )
        if self.changes is not None:
            emit(self.changes)
        for step in steps:
            if step == self.skipped:
                emit(StepEvent(step, StepState.SKIPPED))
                continue
            emit(StepEvent(step, StepState.STARTED))
            try:
                await self._step(step, emit)
            except asyncio.CancelledError:
                emit(StepEvent(step, StepState.CANCELLED, seconds=0.1))
                if self.alive:
                    await self.ended.wait()
                return FinishedEvent(RunState.CANCELLED, "AML_CANCELLED", "Cancelled.", arguments={"stopped": 3})
            if step == self.fail_at:
                emit(StepEvent(step, StepState.FAILED, seconds=0.1))
                return FinishedEvent(
                    RunState.FAILED,
                    self.fails_with,
                    "files.example.org refused the connection.",
                    "Ask IT to allow files.example.org:443.",
                    log=self.log,
                    arguments=self.fails_about,
                )
            emit(StepEvent(step, StepState.DONE, seconds=0.4))
        python = f"{choices.root}/.venv/bin/python"
        told: dict[str, object] = {"torch": self.sees} if self.sees is not None else {}
        return FinishedEvent(RunState.READY, "", "", root=str(choices.root), python=python, packages=106, arguments=told)

    async def _step(self, step: str, emit: Emit) -> None:
        if step == "fetch":
            for done in range(0, 147, 49):
                subject = "scipy-1.14.1-cp311-cp311-manylinux_2_17_x86_64.whl"
                emit(StepEvent(step, StepState.PROGRESS, done * 10**6, 147 * 10**6, "bytes", 11e6, subject))
                await asyncio.sleep(self.pause)
        if step == "build":
            for number in range(self.lines):
                emit(LogEvent(step, f"{self.line} {number}"))
                if number % 500 == 0:
                    await asyncio.sleep(0)
        await asyncio.sleep(self.pause)
        if step == self.hold_at:
            await self.release.wait()
