"""One chaos run after the other, and what is made of them."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.chaos import proofs
from tests.chaos.blows import KINDS, STEPS, Kind, Moment
from tests.chaos.proofs import BreachError, Packages
from tests.chaos.stock import add_wild_source
from tests.chaos.world import HANGS_AFTER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.chaos.world import Run, World

ACTIONS = {"install": 35, "rebuild": 25, "repair": 15, "first install": 10, "wild build": 15}
"""What is interrupted: a change of the set, the same set again, the repair of a damaged environment, an empty workspace, a
source archive with wild children.
"""
WITHOUT_UV = 0.1


@dataclass(frozen=True)
class Choice:
    """Everything that is random about a run."""

    kind: Kind
    action: str
    without_uv: bool
    moment: Moment
    failing_start: bool


@dataclass
class Tally:
    """The counts of one kind."""

    runs: int = 0
    late: int = 0
    kept_old: int = 0
    has_new: int = 0
    breaches: int = 0


@dataclass
class Campaign:
    """Runs on one world. ``helpers`` are processes of our own, ``say`` prints a line."""

    world: World
    seed: int
    helpers: set[int]
    say: Callable[[str], None]
    tallies: dict[str, Tally] = field(default_factory=dict)
    _sets: list[Packages] = field(default_factory=list)
    _now: int = 0
    """The set that the workspace holds."""
    _usual: dict[tuple[str, bool], float] = field(default_factory=dict)
    held: Packages = field(default_factory=dict)
    """What the environment held after the last run that was not disturbed."""

    def prepare(self) -> None:
        """Install both sets undisturbed, which tells what they hold and how long it takes."""
        for number in (0, 1):
            self._now = number
            self._undisturbed("install", without_uv=False)
            packages = proofs.installed(self.world.root / ".venv", self.world.stock.modules)
            assert packages, "nothing was installed"
            self._sets.append(packages)
            self.held = packages
        self._undisturbed("rebuild", without_uv=False)

    def choose(self, number: int) -> Choice:
        """Make the choices of one run, which depend on nothing but the seed and its number."""
        chance = random.Random(f"{self.seed}:{number}")
        kinds = [kind for kind in KINDS if self.world.namespace or not kind.needs_namespace]
        kind = chance.choices(kinds, [kind.weight for kind in kinds])[0]
        action = chance.choices(list(ACTIONS), list(ACTIONS.values()))[0]
        without_uv = chance.random() < WITHOUT_UV and action not in {"wild build", "repair"}
        return Choice(
            kind,
            action,
            without_uv,
            Moment.choose(chance, STEPS[2:] if action == "rebuild" else STEPS),
            chance.random() < 0.3,
        )

    def strike(self, number: int) -> bool:
        """Do one run; False where something that must hold does not."""
        choice = self.choose(number)
        if choice.action == "rebuild" and "wild" in self.held:  # nothing but uv builds a source archive
            choice = replace(choice, without_uv=False)
        tally = self.tallies.setdefault(choice.kind.name, Tally())
        tally.runs += 1
        began = time.monotonic()
        way = "without uv" if choice.without_uv else "uv"
        title = f"{self.seed}:{number} {choice.kind.name}, {choice.action} ({way}), {choice.moment}"
        trial = _Trial(self, choice, random.Random(f"{self.seed}:{number}:blow"))
        try:
            outcome = trial.run()
        except BreachError as breach:
            tally.breaches += 1
            self.say(f"BREACH {title}: {breach}\n{trial.report()}")
            self._start_afresh()
            return False
        tally.late += outcome == "late"
        tally.kept_old += outcome == "old"
        tally.has_new += outcome == "new"
        self.say(f"ok {title}: {outcome} ({time.monotonic() - began:.1f} s)")
        return True

    def arguments(self, action: str, *, without_uv: bool) -> list[str]:
        """Return the command for an action that leads to the present set."""
        if action == "repair":
            return ["repair"]
        given = [] if action == "rebuild" else ["--requirements", str(self.world.requirements(self._now))]
        if without_uv:
            given += ["--uv-method", "none"]
        return ["rebuild" if action == "rebuild" else "install", *given]

    def usual(self, action: str, *, without_uv: bool) -> float:
        """Return how long an action takes undisturbed, as far as that is known."""
        known = self._usual.get((action, without_uv))
        if known is not None:
            return known
        return self._usual.get(("install", without_uv), 8.0 if without_uv else 2.0)

    def note_time(self, action: str, seconds: float, *, without_uv: bool) -> None:
        """Learn how long an undisturbed run took."""
        before = self._usual.get((action, without_uv), seconds)
        self._usual[action, without_uv] = 0.7 * before + 0.3 * seconds

    def toggle(self) -> None:
        """Want the other set, without what a wild build added to its requirements."""
        self._now = 1 - self._now
        self.write_requirements()

    def write_requirements(self, more: str = "") -> None:
        """Write the requirements of the set that is wanted now."""
        path = self.world.requirements(self._now)
        path.write_text(self.world.stock.sets[self._now] + more, encoding="utf-8")

    @property
    def wanted(self) -> Packages:
        """The packages of the set that is wanted now."""
        return self._sets[self._now]

    def _undisturbed(self, action: str, *, without_uv: bool) -> None:
        run = self.world.start(*self.arguments(action, without_uv=without_uv))
        code = run.wait(HANGS_AFTER)
        run.close()
        if code != 0:
            raise RuntimeError(f"the {action} that nobody disturbed ended with {code}\n{run.tail()}")
        self.note_time(action, time.monotonic() - run.began, without_uv=without_uv)

    def _start_afresh(self) -> None:
        for found in proofs.survivors(self.helpers):
            with suppress(ProcessLookupError):
                os.kill(found.pid, signal.SIGKILL)
        self.world.clear()
        self.write_requirements()
        self._undisturbed("install", without_uv=False)
        self.held = self.wanted


class _Trial:
    """One run, its interruption, the proofs, and the run that follows."""

    def __init__(self, campaign: Campaign, choice: Choice, chance: random.Random) -> None:
        self._campaign = campaign
        self._world = campaign.world
        self._choice = choice
        self._chance = chance
        self._runs: list[Run] = []

    def run(self) -> str:
        """Return what the interruption left: the ``old`` environment, the ``new`` one, or that it came too ``late``.

        Raises:
            BreachError: something that must hold does not.
        """
        campaign, world, choice = self._campaign, self._world, self._choice
        allowed = self._set_out()
        loose = (world.tmp, world.place, world.work)
        before = proofs.listing(world.fence, world.root, loose)
        run = self._start(*campaign.arguments(choice.action, without_uv=choice.without_uv))
        usual = campaign.usual(choice.action, without_uv=choice.without_uv)
        struck = choice.moment.wait(run, usual)
        take_back = choice.kind.strike(world, run, self._chance, campaign.helpers) if struck else None
        try:
            code = run.wait(HANGS_AFTER)
        finally:
            if take_back is not None:
                take_back()
        run.close()
        self._judge_end(run, code, struck=struck)
        proofs.check_lock_is_free(world.root)
        if not struck or not choice.kind.dies:
            self._no_survivor("after the run")
        # without uv, who could not undo what it had begun leaves that to the next start
        outcome = "" if choice.without_uv and choice.kind.leaves_undoing else self._environment(allowed)
        if choice.failing_start or not outcome:
            self._failing_start()
            outcome = self._environment(allowed)
        self._next_run(allowed[-1])
        proofs.check_unchanged(before, proofs.listing(world.fence, world.root, loose))
        return outcome if struck else "late"

    def report(self) -> str:
        """Return the last lines of the commands, for a breach."""
        return "\n".join(f"--- {run.process.args!r}: {run.process.returncode}\n{run.tail()}" for run in self._runs)

    def _set_out(self) -> list[Packages | None]:
        """Prepare what is to be interrupted; return what may be in place afterwards."""
        campaign, world = self._campaign, self._world
        action = self._choice.action
        if action == "first install":
            world.clear()
            campaign.toggle()
            return [None, campaign.wanted]
        if action == "repair":
            proofs.damage(world.root / ".venv", self._chance)
        if action in {"rebuild", "repair"}:
            return [campaign.held]
        campaign.toggle()
        if action == "wild build":
            campaign.write_requirements(add_wild_source(world.base / "stock", world.base / "traces"))
            return [campaign.held, {**campaign.wanted, "wild": "1.0"}]
        return [campaign.held, campaign.wanted]

    def _start(self, *arguments: str) -> Run:
        run = self._world.start(*arguments)
        self._runs.append(run)
        return run

    def _judge_end(self, run: Run, code: int | None, *, struck: bool) -> None:
        kind = self._choice.kind
        if code is None:
            run.process.kill()
            raise BreachError("the run did not end")
        if re.search("^Traceback", run.stderr, re.MULTILINE):  # those of tools are quoted, behind a margin
            raise BreachError("a traceback was shown")
        finished = run.finished
        if finished.get("code") == "AML_INTERNAL":
            raise BreachError(f"the failure was not understood: {finished}")
        if not struck:
            expected = {0}
        elif kind.dies:
            expected = {-signal.SIGKILL, 0}
        elif kind.cancels:
            # before the interpreter is up, and before anything was done, the signal itself is the end
            early = {-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP} if not run.events else set()
            expected = {130, 0, *early}
        else:
            expected = {0, 1, 2}
        if code not in expected:
            raise BreachError(f"the run ended with {code} instead of {sorted(expected)}")
        said = finished.get("state", "cancelled")
        if code == 130 and said not in {"cancelled", "ready", "done"}:  # the last two where the signal came after the end
            raise BreachError(f"the cancelled run says {finished}")

    def _no_survivor(self, when: str) -> None:
        found = proofs.survivors(self._campaign.helpers)
        if found:
            raise BreachError(f"alive {when}: {found}")
        proofs.reap_orphans(self._campaign.helpers)

    def _environment(self, allowed: list[Packages | None]) -> str:
        venv = self._world.root / ".venv"
        try:
            found = proofs.installed(venv, self._world.stock.modules)
        except BreachError:
            if self._choice.action == "repair" and venv.is_dir():
                return "old"  # as damaged as it was
            raise
        if found not in allowed:
            raise BreachError(f"the environment holds neither the old nor the new: {found}")
        return "new" if found == allowed[-1] and len(allowed) > 1 else "old"

    def _failing_start(self) -> None:
        """Start something that mends what was interrupted, and then cannot do its own work."""
        impossible = self._world.base / "impossible.txt"
        impossible.write_text("there-is-no-such-thing\n", encoding="utf-8")
        run = self._start("install", "--requirements", str(impossible), "--offline")
        code = run.wait(HANGS_AFTER)
        run.close()
        if code != 1:
            raise BreachError(f"the start that was to fail ended with {code}")
        self._no_survivor("after the next start")

    def _next_run(self, wanted: Packages | None) -> None:
        choice = self._choice
        run = self._start(*self._campaign.arguments(choice.action, without_uv=choice.without_uv))
        code = run.wait(HANGS_AFTER)
        run.close()
        if code != 0:
            raise BreachError(f"the next run ended with {code}")
        self._no_survivor("after the next run")
        if self._choice.action != "first install" or len(self._runs) == 1:
            self._campaign.note_time(choice.action, time.monotonic() - run.began, without_uv=choice.without_uv)
        found = proofs.installed(self._world.root / ".venv", self._world.stock.modules)
        if found is None or found != wanted:
            raise BreachError(f"after the next run the environment holds {found}")
        self._campaign.held = found
        proofs.check_nothing_is_left(self._world.root, self._world.tmp)


def table(tallies: dict[str, Tally]) -> list[str]:
    """Return the counts as lines."""
    lines = [f"{'kind':22} {'runs':>5} {'late':>5} {'old':>5} {'new':>5} {'breaches':>9}"]
    total = Counter[str]()
    for name, tally in sorted(tallies.items()):
        counts = (tally.runs, tally.late, tally.kept_old, tally.has_new, tally.breaches)
        lines.append(f"{name:22} {counts[0]:5} {counts[1]:5} {counts[2]:5} {counts[3]:5} {counts[4]:9}")
        total.update(dict(zip(("runs", "late", "old", "new", "breaches"), counts, strict=True)))
    lines.append(f"{'all':22} {total['runs']:5} {total['late']:5} {total['old']:5} {total['new']:5} {total['breaches']:9}")
    return lines
