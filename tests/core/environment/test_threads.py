from __future__ import annotations

import asyncio
import threading

import pytest

from amlwizard.core.environment.threads import run_past_return, run_stoppable, run_whole


async def cancelled_midway(run: object) -> tuple[asyncio.Task[str], list[str]]:
    """Cancel the waiting task twice while its thread is at work; return it when it is over, and what the thread did."""
    entered, go_on, done = threading.Event(), threading.Event(), list[str]()

    def work() -> str:
        entered.set()
        go_on.wait(30)
        done.append("whole")
        return "result"

    assert callable(run)
    task = asyncio.ensure_future(run(work))
    await asyncio.to_thread(entered.wait, 30)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
    go_on.set()
    await asyncio.wait([task])
    return task, done


async def test_whole_work_is_ended_before_the_cancel_takes_effect() -> None:
    task, done = await cancelled_midway(run_whole)
    assert done == ["whole"]
    with pytest.raises(asyncio.CancelledError):
        task.result()


async def test_past_the_point_of_no_return_a_cancel_is_forgotten() -> None:
    task, done = await cancelled_midway(run_past_return)
    assert done == ["whole"]
    assert task.result() == "result"
    assert task.cancelling() == 0


async def test_a_cancel_is_not_lost_where_the_work_itself_fails() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def work() -> None:
        entered.set()
        go_on.wait(30)
        raise OSError

    task = asyncio.ensure_future(run_whole(work))
    await asyncio.to_thread(entered.wait, 30)
    task.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_stoppable_work_hears_of_a_cancel_and_is_over_before_that_takes_effect() -> None:
    entered, heard, go_on = threading.Event(), threading.Event(), threading.Event()

    def work(stopped: threading.Event) -> None:
        entered.set()
        if stopped.wait(30):
            heard.set()
        go_on.wait(30)

    task = asyncio.ensure_future(run_stoppable(work))
    await asyncio.to_thread(entered.wait, 30)
    task.cancel()
    assert await asyncio.to_thread(heard.wait, 30)
    task.cancel()  # a second one must not leave the thread behind either
    await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
