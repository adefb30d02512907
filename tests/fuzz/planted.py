"""``python -m tests.fuzz.planted FOLDER``: a campaign over readers that break the rules, each in its own way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import hypothesis.configuration
from hypothesis import strategies as st

from amlwizard.core.errors import RefusedError
from tests.fuzz.campaign import Campaign
from tests.fuzz.kind import Kind
from tests.fuzz.place import Place
from tests.fuzz.rules import Guard, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _deep(level: int = 0) -> int:
    return _deep(level + 1)


def _busy() -> None:
    while True:
        pass


def _refuse(code: str) -> None:
    raise RefusedError(code, file="x", line=1)


FAULTS: Final[dict[str, Callable[[Place, int], object]]] = {
    "sound": lambda place, number: (place.root / "x").write_text(str(number), encoding="utf-8"),
    "refusing": lambda _place, number: _refuse("AML_REQUIREMENTS_ENCODING") if number % 2 else None,
    "failing": lambda _place, number: {}[number],
    "deep": lambda _place, _number: _deep(),
    "greedy": lambda _place, number: bytearray(1 << 62) if number else None,
    "busy": lambda _place, _number: _busy(),
    "waiting": lambda _place, _number: os.read(os.pipe()[0], 1),
    "wordless": lambda _place, _number: _refuse("AML_NO_SUCH_CODE"),
    "writing": lambda place, number: (place.home / "x").write_text(str(number), encoding="utf-8"),
    "through a link": lambda place, _number: _write_through_link(place),
    "removing": lambda place, _number: (place.files / "keep.txt").unlink(),
    "starting": lambda _place, _number: subprocess.run([sys.executable, "-c", ""], check=False),
}
"""``sound`` and ``refusing`` break none."""


def _write_through_link(place: Place) -> None:
    link = place.root / "link"
    link.symlink_to(place.home / "keep.txt")
    link.write_text("x", encoding="utf-8")


def _kind(name: str) -> Kind:
    def probes(place: Place, number: int) -> Iterator[Callable[[], object]]:
        yield lambda: FAULTS[name](place, number)

    return Kind(name, st.integers(0, 9), lambda _place, _number: None, probes)


def main(folder: Path) -> int:
    """Run one round; print each finding and the counts."""
    hypothesis.configuration.set_hypothesis_home_dir(folder / "hypothesis")
    campaign = Campaign(Place(folder / "fence"), Guard(), 0, print, Limits(busy=0.5, waiting=1.0))
    began = time.monotonic()
    campaign.run([_kind(name) for name in FAULTS], 0, rounds=1, until=None)
    for name, tally in campaign.tallies.items():
        print(f"{name}: {tally.findings} of {tally.examples}, {tally.accepted} accepted")
    print(f"{time.monotonic() - began:.0f} s in process {os.getpid()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
