"""Rounds over all kinds of input, what is found in them, and how each finding is met again."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Flaky

from tests.fuzz.rules import HANGS, BreachError, Guard, Limits, attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.fuzz.kind import Kind
    from tests.fuzz.place import Place

EXAMPLES: Final = 50
"""How many inputs of a kind make a round."""
SHRINKS_FOR: Final = 20.0
"""For how many seconds a smaller input is looked for that fails alike."""
_SHOWN: Final = 3000


@dataclass
class Tally:
    """The counts of one kind; ``accepted`` are the inputs that every reader took."""

    examples: int = 0
    accepted: int = 0
    findings: int = 0
    seconds: float = 0.0


@dataclass
class Campaign:
    """Rounds in one place. ``say`` prints a line."""

    place: Place
    guard: Guard
    base: int
    say: Callable[[str], None]
    limits: Limits = field(default_factory=Limits)
    tallies: dict[str, Tally] = field(default_factory=dict)
    _known: set[tuple[str, str]] = field(default_factory=set)
    """What was found already, by kind and words: it is said once, and does not stop the search for others."""

    def run(self, kinds: Sequence[Kind], first: int, *, rounds: int | None, until: float | None) -> int:
        """Go round the kinds; return how many findings there were.

        Args:
            kinds: the kinds.
            first: the number of the first round.
            rounds: how many to make.
            until: when to end instead (``time.monotonic``).
        """
        number = first
        while (rounds is None or number < first + rounds) and (until is None or time.monotonic() < until):
            for kind in kinds:
                if until is not None and time.monotonic() >= until:
                    break
                began = time.monotonic()
                self._round(kind, number)
                self.tallies[kind.name].seconds += time.monotonic() - began
            number += 1
        return sum(tally.findings for tally in self.tallies.values())

    def _round(self, kind: Kind, number: int) -> None:
        tally = self.tallies.setdefault(kind.name, Tally())
        failed: list[tuple[Any, str]] = []
        shrinks_until = 0.0

        @seed(int.from_bytes(hashlib.sha256(f"{self.base}:{kind.name}:{number}".encode()).digest()[:8]))
        @settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,  # the clocks of the rules are kept instead
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
        )
        @given(kind.inputs)
        def search(value: Any) -> None:
            nonlocal shrinks_until
            said = ""
            if failed and time.monotonic() > shrinks_until:
                said = failed[0][1] if value == failed[0][0] else ""
            else:
                try:
                    accepted = self.trial(kind, value)
                    tally.examples += not failed
                    tally.accepted += accepted and not failed
                except BreachError as breach:
                    said = str(breach)
            if not said or (kind.name, _mark(said)) in self._known:
                return
            if not failed:
                tally.examples += 1
                shrinks_until = time.monotonic() + (0 if HANGS in said else SHRINKS_FOR)
            failed[:] = [(value, said)]
            raise BreachError(said)  # here and not above: by its place and context one failure is told from another

        try:
            search()
        except (BreachError, Flaky):  # what a full memory or a clock ended may end elsewhere the next time
            value, said = failed[0]
            tally.findings += 1
            self._known.add((kind.name, _mark(said)))
            again = f"--seed {self.base} --kinds {kind.name} --first {number} --rounds 1"
            self.say(f"FINDING in {kind.name}: {said}\n  repeat it with {again}\n  input: {repr(value)[:_SHOWN]}")

    def trial(self, kind: Kind, value: Any) -> bool:
        """Try one input; return whether every reader took it.

        Raises:
            BreachError: a rule was broken.
        """
        self.place.clear()
        kind.lay(self.place, value)
        self.guard.allowed = (str(self.place.root), str(self.place.private))
        before = self.place.surroundings()
        accepted = [attempt(probe, self.guard, self.limits) for probe in kind.probes(self.place, value)]
        after = self.place.surroundings()
        if after != before:
            changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
            raise BreachError(f"changed outside the workspace: {', '.join(changed)}")
        return all(accepted)


def _mark(text: str) -> str:
    """Return what makes a finding the same as another one: its kind and place, without what the input said."""
    return f"{text.partition(':')[0]} {text.rpartition(' in ')[2]}" if " in " in text else text.partition(" of ")[0]


def table(tallies: dict[str, Tally]) -> list[str]:
    """Return the counts as lines."""
    lines = [f"{'kind':20} {'examples':>9} {'accepted':>9} {'findings':>9} {'seconds':>8}"]
    counted = {**tallies, "all": Tally()}
    for tally in tallies.values():
        total = counted["all"]
        total.examples += tally.examples
        total.accepted += tally.accepted
        total.findings += tally.findings
        total.seconds += tally.seconds
    for name, tally in counted.items():
        lines.append(f"{name:20} {tally.examples:9} {tally.accepted:9} {tally.findings:9} {tally.seconds:8.1f}")
    return lines
