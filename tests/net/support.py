"""What the tests of fetching share."""

from __future__ import annotations

import atexit
import hashlib
import socket
import socketserver
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.errors import AmlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amlwizard.core.fetching import Download, FetchProgress
    from amlwizard.net.fetcher import HttpFetcher


NO_HTTP = bytes(range(128, 256)) * 9 + b"\r\n\r\n"
"""What no web server answers."""


def ignore(progress: FetchProgress) -> None:
    """Nobody looks at the progress."""


def right(download: Download) -> bool:
    """Tell whether a file is what was wanted, with nothing partial beside it."""
    found = hashlib.sha256(download.target.read_bytes()).hexdigest() == download.sha256
    return found and not list(download.target.parent.glob(f"{download.target.name}*.part"))


async def failing(fetcher: HttpFetcher, *downloads: Download) -> AmlError:
    """Fetch what cannot be had; return the error, which has words in each language."""
    with pytest.raises(AmlError) as raised:
        await fetcher.fetch(downloads, ignore)
    for language in LANGUAGES:
        message, hint = error_texts(raised.value, language)
        assert message
        assert hint
        assert "{" not in message + hint
    return raised.value


def closed_port() -> int:
    """Return a port at which nobody listens, nor will: it is taken as long as this process lives."""
    taken = socket.socket()
    atexit.register(taken.close)
    taken.bind(("127.0.0.1", 0))
    port: int = taken.getsockname()[1]
    return port


def partial_size(download: Download) -> int:
    """Return how much of a download is there that is not complete."""
    part = download.target.with_name(f"{download.target.name}.part")
    return part.stat().st_size if part.exists() else 0


def wait_until(come: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something has come about that nothing tells of.

    Raises:
        TimeoutError: it did not.
    """
    end = time.monotonic() + seconds
    while not come():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.002)


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """Serve a port at which everyone who asks gets these bytes, and give its number."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()
