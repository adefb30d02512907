"""The heap of a window."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.real_wheels import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

THREADS = """
import ctypes, sys, threading
from amlwizard.heap import share_one_heap

if sys.argv[1] == "shared":
    share_one_heap()
together = threading.Barrier(4)
def allocate():
    together.wait()
    kept.append([bytearray(5000) for _ in range(100)])
    together.wait()
kept = []
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(library.fopen(sys.argv[2].encode(), b"w"))
library.malloc_info(0, file)
library.fclose(file)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_info"), reason="only glibc has a heap for each thread"
)
def test_threads_share_one_heap(tmp_path: Path) -> None:
    heaps = {}
    for how in ("shared", "own"):
        told = tmp_path / how
        env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
        subprocess.run([sys.executable, "-c", THREADS, how, str(told)], cwd=PROJECT, env=env, check=True)
        heaps[how] = told.read_text().count("<heap nr=")
    assert heaps["shared"] == 1
    assert heaps["own"] > 1
