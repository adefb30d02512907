"""What is shown of a fetch: exact where it is known, unknown where it is not, and never backwards."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.fetching import Download
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.meter import Meter
from amlwizard.net.policy import NetworkPolicy
from tests.net.conftest import limits_for
from tests.net.support import ignore, right

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.core.fetching import FetchProgress
    from tests.support.index_server import IndexServer


def forwards(seen: list[FetchProgress]) -> bool:
    """Tell whether nothing that was shown went backwards, and no more was done than there is."""
    done = [each.done_bytes for each in seen]
    return done == sorted(done) and all(each.total_bytes is None or each.done_bytes <= each.total_bytes for each in seen)


async def test_a_total_that_nobody_tells_is_unknown_to_the_end(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    known, untold = make("a.whl", 1000), make("b.whl", 300_000, known=False)
    server.fault("/files/b.whl", "no-length", rate=1_000_000)
    seen: list[FetchProgress] = []
    await fetcher.fetch([known, untold], seen.append)
    assert right(untold)
    assert {each.total_bytes for each in seen if each.files_done < 2} == {None}
    assert (seen[-1].done_bytes, seen[-1].total_bytes) == (301_000, 301_000)
    assert forwards(seen)


@pytest.mark.parametrize("fault", ["truncate", "corrupt", "stall", "reset"])
@pytest.mark.parametrize("ranges", [True, False])
async def test_what_has_to_be_fetched_again_is_not_taken_back(
    make: Callable[..., Download], server: IndexServer, fault: str, *, ranges: bool
) -> None:
    download = make(size=600_000)
    server.fault("/files/*", "slow", rate=3_000_000, ranges=ranges)
    server.fault("/files/*", fault, after=500_000, rate=3_000_000, ranges=ranges, times=1)
    seen: list[FetchProgress] = []
    await HttpFetcher(NetworkPolicy(), limits_for(fault)).fetch([download], seen.append)
    assert right(download)
    assert forwards(seen)
    assert (seen[-1].done_bytes, seen[-1].total_bytes) == (600_000, 600_000)


async def test_what_an_earlier_run_brought_counts_from_the_start(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, files: Path
) -> None:
    there, half = make("there.whl", 100_000), make("half.whl", 200_000)
    await fetcher.fetch([there], ignore)
    part = half.target.with_name("half.whl.part")
    part.write_bytes((files / "half.whl").read_bytes()[:150_000])
    server.fault("/files/half.whl", "slow", rate=200_000)
    seen: list[FetchProgress] = []
    await fetcher.fetch([there, half], seen.append)
    assert any(250_000 <= each.done_bytes < 300_000 for each in seen)
    assert (seen[-1].done_bytes, seen[-1].total_bytes) == (300_000, 300_000)
    assert forwards(seen)


def test_a_size_that_a_server_changes_its_mind_about_takes_nothing_back() -> None:
    meter = Meter([Download(("https://files.example.org/a",), Path("a"), None)])
    meter.begin(0)
    meter.at(0, 0, 1000)
    meter.moved(0, 800)
    before = meter.progress()
    meter.at(0, 0, 500)
    after = meter.progress()
    assert (before.done_bytes, after.done_bytes) == (800, 800)
    assert after.total_bytes is not None
    assert after.done_bytes <= after.total_bytes


@pytest.mark.parametrize("seed", range(20))
def test_nothing_that_can_happen_to_downloads_turns_the_progress_back(seed: int) -> None:
    chance = random.Random(seed)
    sizes = [chance.choice([None, chance.randrange(1, 5000)]) for _ in range(5)]
    actual = [chance.randrange(1, 5000) if size is None else size for size in sizes]
    plain = Download(("https://files.example.org/a",), Path("a"), None)
    meter = Meter([replace(plain, size=size) for size in sizes])
    done = [0] * 5
    seen = [meter.progress()]
    for _ in range(300):
        number = chance.randrange(5)
        if chance.random() < 0.2:  # an attempt begins, from what is there or from nothing
            done[number] = chance.choice([0, done[number]])
            meter.at(number, done[number], chance.choice([None, actual[number]]))
        count = chance.randrange(actual[number] - done[number] + 1)
        done[number] += count
        meter.moved(number, count)
        seen.append(meter.progress())
    for number in range(5):
        meter.finish(number, actual[number])
        seen.append(meter.progress())
    assert forwards(seen)
    assert (seen[-1].done_bytes, seen[-1].total_bytes, seen[-1].files_done) == (sum(actual), sum(actual), 5)


def test_the_speed_is_smoothed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One moment without a byte, or with very many, does not make the time that is left jump."""
    now = [0.0]
    monkeypatch.setattr("amlwizard.net.meter.time.monotonic", lambda: now[0])
    meter = Meter([Download(("https://files.example.org/a",), Path("a"), None, 10_000_000)])
    rates = []
    for step in range(1, 101):
        now[0] = step / 10
        meter.moved(0, 0 if step == 60 else 500_000 if step == 80 else 10_000)
        rates.append(meter.progress().bytes_per_second)
    assert rates[50] == pytest.approx(100_000)
    assert rates[59] == pytest.approx(100_000, rel=0.1)
    assert rates[79] < 400_000  # where the last tenth of a second alone would be 5 MB/s
    assert rates[99] == pytest.approx(100_000 + (rates[79] - 100_000) * 2.718**-1, rel=0.05)
