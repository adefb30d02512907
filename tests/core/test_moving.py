"""Work on the disk in a thread: counted, stopped by a cancel, and never left behind."""

from __future__ import annotations

import asyncio
import threading

import pytest

from amlwizard.core.errors import RefusedError
from amlwizard.core.moving import Moving, in_thread


async def test_work_in_a_thread_tells_how_far_it_is() -> None:
    ticks: list[int] = []

    def work(moving: Moving) -> str:
        for _ in range(3):
            moving.advance(10)
        return "done"

    assert await in_thread(work, Moving(30), lambda moving: ticks.append(moving.done)) == "done"
    assert ticks[-1:] == [30]


async def test_a_cancel_stops_work_in_a_thread_before_it_is_told() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(moving: Moving) -> None:
        begun.set()
        try:
            while True:
                moving.advance(1)
        finally:
            ended.set()

    task = asyncio.create_task(in_thread(work, Moving(), lambda _moving: None))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


@pytest.mark.parametrize("final", [True, False])
async def test_a_cancel_that_comes_too_late_is_forgotten_only_at_the_end(final: bool) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(_moving: Moving) -> str:
        begun.set()
        go_on.wait()
        return "done"

    task = asyncio.create_task(in_thread(work, Moving(), lambda _moving: None, final=final))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    await asyncio.sleep(0)
    go_on.set()
    if final:
        assert await task == "done"
    else:
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_failure_in_a_thread_is_the_failure_of_the_work() -> None:
    def work(_moving: Moving) -> None:
        raise RefusedError("AML_BUNDLE_NOT_ONE", path="a")

    with pytest.raises(RefusedError):
        await in_thread(work, Moving(), lambda _moving: None)
