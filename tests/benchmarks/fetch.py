"""The wheels of the default profile from loopback against curl and sha256sum, and the memory that a large file takes."""

from __future__ import annotations

import hashlib
import itertools
import json
import socketserver
import subprocess
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from amlwizard.core.fetching import Download
from tests.benchmarks.frame import Judged, Limit, Row, median_of, pairs, settle, timed
from tests.support.fetch_files import write_order
from tests.support.real_wheels import PROJECT, clean_environment, loopback_index, run_tool, wheels

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from pathlib import Path

NAME = "fetch"
SMALL, LARGE = 2 * 1024**2, 2 * 1024**3
PIECE = bytes(1024 * 1024)


def run(scratch: Path) -> Iterator[Row]:
    """Yield the ratio of both ways, each as a process from its start to its end, and the memory of a file of 2 GB."""
    folders = (scratch / str(number) for number in itertools.count())
    with loopback_index() as index:
        given = _given(index)
        _curl(next(folders), given)  # the index and the disk's cache are warm for both
        taken = pairs(lambda: _ours(next(folders), given), lambda: _curl(next(folders), given))
    yield taken.row(f"{len(given)} wheels of the default profile", "s", Limit(Judged.RATIO, 1.5))
    with zeros() as address:
        large = median_of(lambda: _peak(next(folders), address, LARGE), 1)
        small = median_of(lambda: _peak(next(folders), address, SMALL))
    yield Row("peak memory, 2 GB against 2 MB", large, small, "MiB", Limit(Judged.EXCESS, 8))


def _given(index: str) -> dict[str, Download]:
    """Return the wheels by their addresses, their targets being mere names."""
    found = {}
    for file in sorted(wheels().glob("*.whl")):
        address = index.replace("/simple/", f"/packages/{file.name}")
        with file.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        found[address] = Download((address,), file, sha256, file.stat().st_size)
    return found


def _placed(folder: Path, given: dict[str, Download]) -> list[Download]:
    return [Download(each.urls, folder / each.target.name, each.sha256, each.size) for each in given.values()]


def _ours(folder: Path, given: dict[str, Download]) -> float:
    folder.mkdir()
    command = write_order(folder.with_suffix(".json"), _placed(folder, given))
    settle()
    return timed(lambda: _told(command))


def _told(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, cwd=PROJECT, env=clean_environment(), stdout=subprocess.PIPE, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    if told["code"] is not None:
        raise RuntimeError(f"the fetch failed: {told}")
    return told


def _curl(folder: Path, given: dict[str, Download]) -> float:
    folder.mkdir()
    placed = _placed(folder, given)
    config = folder.with_suffix(".curl")
    config.write_text("".join(f'url = "{each.urls[0]}"\noutput = "{each.target}"\n' for each in placed))
    listed = "".join(f"{each.sha256}  {each.target}\n" for each in placed)

    def fetch() -> None:
        command = ["curl", "--silent", "--show-error", "--fail", "--parallel", "--config", str(config)]
        run_tool(*command, env=clean_environment())
        subprocess.run(["sha256sum", "--check", "--quiet"], input=listed, text=True, check=True)

    settle()
    return timed(fetch)


def _peak(folder: Path, address: str, size: int) -> float:
    """Return the most memory, in MiB, that a fresh process takes to fetch a file of so many zeros."""
    digest = hashlib.sha256()
    for _ in range(size // len(PIECE)):
        digest.update(PIECE)
    folder.mkdir()
    target = folder / "zeros.whl"
    wanted = Download((f"{address}/{size}",), target, digest.hexdigest(), size)
    told = _told(write_order(folder.with_suffix(".json"), [wanted]))
    target.unlink()
    return float(told["peak_kib"]) / 1024


@contextmanager
def zeros() -> Iterator[str]:
    """Serve as many zeros as an address names; yields the address before the number."""
    with _Zeros(("127.0.0.1", 0), _Connection) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class _Zeros(socketserver.ThreadingTCPServer):
    daemon_threads = True


class _Connection(socketserver.BaseRequestHandler):
    request: socket.socket

    def handle(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.request.recv(65536)
        size = int(head.split(b" ", 2)[1].strip(b"/"))
        self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % size)
        for _ in range(size // len(PIECE)):
            self.request.sendall(PIECE)
