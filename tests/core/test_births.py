from __future__ import annotations

import os
import subprocess
import sys

from amlwizard.core.births import Birth, birth_of, is_alive
from tests.support.waiting import wait_for


def child(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-S", "-c", code], stdin=subprocess.DEVNULL)


def test_a_process_is_born_once() -> None:
    own = birth_of(os.getpid())
    assert own is not None
    assert birth_of(os.getpid()) == own
    assert is_alive(os.getpid(), own)
    with child("import time; time.sleep(60)") as process:
        try:
            born = birth_of(process.pid)
            assert born is not None
            assert born.boot == own.boot
            assert born.at > own.at
        finally:
            process.kill()


def test_b97_another_process_under_the_same_id_is_not_it() -> None:
    own = birth_of(os.getpid())
    assert own is not None
    assert not is_alive(os.getpid(), Birth(own.boot, own.at - 1))
    assert not is_alive(os.getpid(), Birth("another start of the system", own.at))


def test_what_only_waits_to_be_reaped_is_dead() -> None:
    process = child("")
    born = birth_of(process.pid)
    wait_for(lambda: birth_of(process.pid) is None)
    try:
        assert born is None or not is_alive(process.pid, born)
    finally:
        process.wait()
