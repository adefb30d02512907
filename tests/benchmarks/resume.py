"""Fetches of several files that are killed at a random byte, and what the next run transfers beyond what was missing."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import statistics
import subprocess
from typing import TYPE_CHECKING

from amlwizard.core.fetching import Download
from tests.benchmarks.frame import Judged, Limit, Row
from tests.support.fetch_files import write_order
from tests.support.index_server import IndexServer
from tests.support.real_wheels import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "resume"
KILLS = 50
SIZES = (200_000, 900_000, 2_000_000, 3_000_000, 4_000_000, 6_000_000)
TOTAL = sum(SIZES)
BYTES_PER_SECOND = 8_000_000
"""The speed of each file: hardly anything is on its way when the process dies, so what the server counts was received."""
MEBIBYTE = 1024 * 1024


def run(scratch: Path) -> Iterator[Row]:
    """Yield the median and the most of what was transferred twice, per file that was open, as the server counted it."""
    served = scratch / "served"
    served.mkdir()
    chance = random.Random(20261130)
    for number, size in enumerate(SIZES):
        (served / f"f{number}.whl").write_bytes(chance.randbytes(size))
    with IndexServer(files=served) as server:
        taken = [_kill_and_resume(server, scratch / f"run-{number}", chance.randrange(TOTAL)) for number in range(KILLS)]
    per_file = [twice / max(1, opened) / MEBIBYTE for twice, opened in taken]
    name = f"transferred twice per open file, {KILLS} kills"
    yield Row(f"{name}, median", statistics.median(per_file), None, "MiB", Limit(Judged.MEASURED, 1.0))
    yield Row(f"{name}, most", max(per_file), None, "MiB", Limit(Judged.MEASURED, 1.0))


def _kill_and_resume(server: IndexServer, folder: Path, at: int) -> tuple[int, int]:
    """Kill a fetch when the server has sent so many bytes, and finish it.

    Returns:
        How many bytes the server sent in both runs beyond the size of the files, and how many files were under way then.
    """
    assert server.files is not None
    folder.mkdir()
    downloads = [_download(server, file, folder) for file in sorted(server.files.iterdir())]
    command = write_order(folder.with_suffix(".json"), downloads)
    server.forget()
    server.fault("/files/*", "slow", rate=BYTES_PER_SECOND)
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL) as child:
        while server.sent() < at and child.poll() is None:
            server.stopping.wait(0.0005)
        child.kill()
    while server.open_connections:
        server.stopping.wait(0.001)  # the last pieces are counted
    server.heal()
    opened = len(server.requests()) - sum(each.target.exists() for each in downloads)
    done = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, check=True)
    if json.loads(done.stdout)["code"] is not None or sorted(map(_state, downloads)) != sorted(map(_wanted, downloads)):
        raise RuntimeError(f"the second run of {folder.name} did not end with the right files: {done.stdout.decode()}")
    twice = server.sent() - TOTAL
    shutil.rmtree(folder)
    return twice, opened


def _download(server: IndexServer, file: Path, folder: Path) -> Download:
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    return Download((f"{server.url}/files/{file.name}",), folder / file.name, sha256, file.stat().st_size)


def _state(download: Download) -> tuple[str, str | None]:
    return download.target.name, hashlib.sha256(download.target.read_bytes()).hexdigest()


def _wanted(download: Download) -> tuple[str, str | None]:
    return download.target.name, download.sha256
