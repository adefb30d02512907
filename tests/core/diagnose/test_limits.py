"""A part that fails or hangs costs nothing but itself."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from amlwizard.core.catalogue import Phrase
from amlwizard.core.diagnose.limits import limited, limited_in_thread, use_loose_threads
from amlwizard.core.errors import AmlError

PROJECT = Path(__file__).resolve().parents[3]


async def test_tells_the_value() -> None:
    part = await limited_in_thread("host", 60, lambda: 7)
    assert (part.value, part.failed, part.to_json()["state"]) == (7, False, "done")


async def test_tells_why_it_failed() -> None:
    def refuse() -> NoReturn:
        raise AmlError("AML_NO_WORKSPACE", root="/w")

    def break_down() -> NoReturn:
        raise PermissionError(13, "Permission denied", "/w")

    assert "(AML_NO_WORKSPACE)" in str((await limited_in_thread("host", 60, refuse)).reason)
    part = await limited_in_thread("host", 60, break_down)
    assert part.failed
    assert "Permission denied" in part.to_json()["reason"]


async def test_what_does_not_answer_is_given_up_and_told() -> None:
    stopped = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    part = await limited("detection", 0.05, hang())
    assert stopped.is_set()
    assert part.reason == Phrase("diagnose.no_answer", {"seconds": "0.05"})
    assert part.to_json()["state"] == "failed"


async def test_a_cancel_ends_the_part_and_goes_on() -> None:
    began, stopped = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            stopped.set()

    task = asyncio.ensure_future(limited("detection", 60, hang()))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stopped.is_set()


HANGING = """
import asyncio, threading
from amlwizard.core.diagnose.limits import limited_in_thread, use_loose_threads

async def main():
    use_loose_threads()
    hanging = await limited_in_thread("disks", 0.05, threading.Event().wait)
    other = await limited_in_thread("host", 60, lambda: 7)
    print(hanging.failed, other.value)

asyncio.run(main())
"""


def test_a_thread_that_hangs_keeps_neither_the_rest_nor_the_end_of_the_program() -> None:
    command = [sys.executable, "-W", "error", "-c", HANGING]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("True 7\n", "", 0)


def test_loose_threads_give_results_and_errors() -> None:
    async def main() -> bool:
        use_loose_threads()
        daemon = await asyncio.to_thread(lambda: threading.current_thread().daemon)
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 // 0)
        return daemon

    assert asyncio.run(main())


CANCELLED = """
import asyncio, threading
from amlwizard.core.diagnose.limits import in_loose_thread

async def main():
    print(await in_loose_thread(divmod, 7, 2))
    began = threading.Event()

    def ask():
        began.set()
        threading.Event().wait()

    asking = asyncio.ensure_future(in_loose_thread(ask))
    await asyncio.to_thread(began.wait)
    asking.cancel()
    await asyncio.wait([asking])

asyncio.run(main())
"""


def test_one_that_hangs_does_not_keep_a_program_with_other_threads_either() -> None:
    command = [sys.executable, "-W", "error", "-c", CANCELLED]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("(3, 1)\n", "", 0)
