"""What answers in the place of a proxy and is none: another service, a broken one, one that never comes to an end."""

from __future__ import annotations

import socketserver
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_YES: Final = b"HTTP/1.1 200 OK\r\n"
_PAGE: Final = b"<html><body>Sign in to continue</body></html>"
_EACH: Final = 0.01
"""Seconds between two pieces of what does not end."""


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        with suppress(OSError):
            self.request.recv(65536)
            getattr(self, f"_{self.server.how}")()

    def _garbage(self) -> None:
        self.request.sendall(b"SSH-2.0-Example\r\n" + b"\x00\xff" * 200)

    def _bytes(self) -> None:
        self.request.sendall(bytes(range(128, 256)) * 9 + b"\r\n\r\n")

    def _closes(self) -> None:
        """Say nothing."""

    def _refuses(self) -> None:
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    def _page(self) -> None:
        length = b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(_PAGE)
        self.request.sendall(_YES + length + _PAGE)
        self.request.recv(65536)

    def _nonsense(self) -> None:
        self.request.sendall(_YES + b"\r\n")
        self.request.recv(65536)
        self.request.sendall(_PAGE * 4)

    def _silence(self) -> None:
        self._wait()

    def _late_silence(self) -> None:
        self.request.sendall(_YES + b"\r\n")
        self._wait()

    def _headers(self) -> None:
        self.request.sendall(_YES)
        self._endless(b"X-Header: x\r\n")

    def _line(self) -> None:
        self.request.sendall(_YES.rstrip())
        self._endless(b"x" * 100)

    def _drops(self) -> None:
        self._endless(b"H")

    def _endless(self, piece: bytes) -> None:
        while not self.server.stopping.wait(_EACH):
            self.request.sendall(piece)

    def _wait(self) -> None:
        self.server.stopping.wait()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, how: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.how = how
        self.stopping = threading.Event()


QUICK: Final = ("garbage", "bytes", "closes", "refuses", "page", "nonsense")
"""What is known for no proxy at its first answer."""
ENDLESS: Final = ("silence", "late_silence", "headers", "line", "drops")
"""What only a limit ends."""


@contextmanager
def strange_proxy(how: str) -> Iterator[str]:
    """Serve what is no proxy, and give its host and port."""
    with _Server(how) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join()
