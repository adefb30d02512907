"""The frame of the benchmarks judges rightly."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from tests.benchmarks.__main__ import discovered, main
from tests.benchmarks.frame import Judged, Limit, Row, median_of, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable


@pytest.mark.parametrize(
    ("judged", "kept", "breached"),
    [(Judged.MEASURED, 2.0, 1.9), (Judged.RATIO, 0.5, 0.4), (Judged.EXCESS, -2.0, -2.1), (Judged.SPEED_UP, 2.0, 2.1)],
)
def test_each_kind_of_limit_is_kept_up_to_its_value(judged: Judged, kept: float, breached: float) -> None:
    assert Row("a", 2.0, 4.0, "s", Limit(judged, kept)).kept
    assert not Row("a", 2.0, 4.0, "s", Limit(judged, breached)).kept


def test_a_limit_that_compares_needs_something_to_compare_with() -> None:
    with pytest.raises(ValueError, match="baseline"):
        _ = Row("a", 1.0, None, "s", Limit(Judged.RATIO, 1.0)).kept


def test_pairs_are_measured_in_turn_and_medians_reported() -> None:
    order: list[str] = []

    def way(name: str, figures: list[float]) -> float:
        order.append(name)
        return figures.pop()

    mine, theirs = [9.0, 1.0, 2.0], [5.0, 4.0, 60.0]
    row = pairs(lambda: way("mine", mine), lambda: way("theirs", theirs), 3).row("a", "s", Limit(Judged.RATIO, 1.0))
    assert order == ["mine", "theirs", "theirs", "mine", "mine", "theirs"]
    assert (row.measured, row.baseline) == (2.0, 5.0)
    assert median_of(iter([3.0, 1.0, 2.0]).__next__, 3) == 2.0


def test_the_table_shows_every_benchmark_and_the_status_tells_of_breaches_and_failures(tmp_path: Path) -> None:
    def good(_scratch: Path) -> Iterable[Row]:
        yield Row("fine", 1.0, None, "s", Limit(Judged.MEASURED, 2.0))

    def slow(_scratch: Path) -> Iterable[Row]:
        yield Row("late", 3.0, None, "s", Limit(Judged.MEASURED, 2.0))

    def broken(scratch: Path) -> Iterable[Row]:
        raise OSError(f"no disk for {scratch.name}")

    known = {"broken": broken, "good": good, "slow": slow}
    out = io.StringIO()

    def status(*names: str) -> int:
        return main(names, known, Path(tempfile.mkdtemp(dir=tmp_path)), Console(file=out, width=140))

    assert status("good") == 0
    assert status() == 1
    assert status("slow") == 1
    assert status("broken") == 1
    assert status("other") == 2
    for words in ("kept", "BREACHED", "FAILED", "no disk for broken", "no benchmark is called other"):
        assert words in out.getvalue()


def test_every_module_of_the_package_is_a_benchmark_with_a_name_of_its_own() -> None:
    assert all(callable(run) and name for name, run in discovered().items())
