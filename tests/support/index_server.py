"""A package index and file server on loopback that can misbehave on demand, fast enough for benchmarks.

``/simple/`` is the index of a folder of wheels and source archives (JSON or HTML by ``Accept``), ``/packages/`` holds
their files and the ``.metadata`` beside them, ``/files/`` any other folder. Asked in absolute form it plays a forward
proxy that answers for every host itself; ``CONNECT`` ends in a TLS session of its own, as an inspecting proxy's does.

By hand: ``python -m tests.support.index_server WHEELS [--files DIR] [--port N] [--fault PATTERN NAME]...``
"""

from __future__ import annotations

import argparse
import base64
import fnmatch
import hashlib
import html
import json
import select
import socket
import socketserver
import struct
import threading
import time
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.parser import HeaderParser
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

if TYPE_CHECKING:
    import ssl
    from types import TracebackType

CHUNK = 1024 * 1024
JSON_TYPE = "application/vnd.pypi.simple.v1+json"
TLS_HANDSHAKE = 0x16
INVERTED = bytes(byte ^ 0xFF for byte in range(256))
SIGN_IN = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><form>Sign in to continue</form></body></html>"


@dataclass(frozen=True)
class Fault:
    """How the answers to some paths differ from good ones; every field may be combined with every other.

    ``times`` limits it to so many requests, after which the paths behave again. ``stop`` is ``truncate`` (a clean end too
    soon), ``reset`` or ``stall`` after ``after`` bytes of the body (None: half of it). ``rate`` is in bytes a second.
    ``length`` set to False sends a body in chunks of unknown number; ``most`` is the largest part that is sent for a range.
    ``bare`` leaves sizes, hashes and metadata out of the index, ``sizes`` set to False the sizes alone. ``delay`` is in
    seconds before the answer; ``silent`` ends the connection without one.
    """

    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    sign_in: bool = False
    auth: tuple[str, str] | None = None
    proxy_auth: tuple[str, str] | None = None
    stop: str | None = None
    after: int | None = None
    corrupt: bool = False
    length: bool = True
    most: int | None = None
    ranges: bool = True
    etag: str | None = None
    redirect: str | None = None
    rate: float | None = None
    bare: bool = False
    sizes: bool = True
    delay: float = 0.0
    silent: bool = False
    times: int | None = None


FAULTS = {
    "ok": Fault(),
    "auth": Fault(auth=("user", "secret")),
    "403": Fault(status=403),
    "404": Fault(status=404),
    "407": Fault(status=407, headers=(("Proxy-Authenticate", 'Basic realm="proxy"'),)),
    "sign-in": Fault(sign_in=True),
    "truncate": Fault(stop="truncate"),
    "corrupt": Fault(corrupt=True),
    "stall": Fault(stop="stall", after=100),
    "reset": Fault(stop="reset", after=100),
    "429": Fault(status=429, headers=(("Retry-After", "1"),), times=1),
    "503": Fault(status=503, headers=(("Retry-After", "1"),), times=1),
    "no-ranges": Fault(ranges=False),
    "no-length": Fault(length=False),
    "changed": Fault(etag='"changed"'),
    "slow": Fault(rate=100_000),
    "bare": Fault(bare=True),
    "no-sizes": Fault(sizes=False),
}
"""The usual faults by name, for ``IndexServer.fault`` and the command line."""


class Line:
    """A line of a bandwidth that all answers share."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._lock = threading.Lock()
        self._free = 0.0

    def wait(self, size: int, stopping: threading.Event) -> None:
        """Wait until so many bytes have gone over the line."""
        with self._lock:
            self._free = max(self._free, time.monotonic()) + size / self._rate
            free = self._free
        stopping.wait(max(0.0, free - time.monotonic()))


@dataclass
class Request:
    """One request that was answered, or is being answered.

    ``sent`` counts the bytes of the body, each piece before it is written and less what could not be written: what a client
    has received is always counted.
    """

    method: str
    path: str
    host: str
    headers: dict[str, str]
    proxied: bool = False
    status: int = 0
    sent: int = 0
    finished: bool = False

    @property
    def range(self) -> str | None:
        """The range that was asked for, as it was written."""
        return self.headers.get("range")


@dataclass(frozen=True)
class _Entity:
    """A body that can be sent: a file on the disk or bytes made here."""

    content_type: str
    size: int
    etag: str
    modified: float = 0.0
    path: Path | None = None
    body: bytes = b""
    cache: str = "no-cache"


@dataclass(frozen=True)
class _Known:
    """What was computed of one version of a file."""

    stamp: tuple[int, int]
    sha256: str
    metadata: bytes | None


@dataclass
class _Rule:
    pattern: str
    fault: Fault
    left: int | None = field(default=None)


class IndexServer:
    """The server; a context manager, serving between ``__enter__`` and ``__exit__``.

    ``tls`` serves HTTPS; ``tunnel_tls`` is what ``CONNECT`` tunnels end in.
    """

    def __init__(
        self,
        wheels: Path | None = None,
        files: Path | None = None,
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        tunnel_tls: ssl.SSLContext | None = None,
    ) -> None:
        self.wheels = wheels
        self.files = files
        self.tls = tls
        self.tunnel_tls = tunnel_tls
        self.line: Line | None = None
        self.files_at = ""
        """The address of another server, which the pages name for the files."""
        self.yanked: dict[str, str] = {}
        """Reasons by file name."""
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._rules: list[_Rule] = []
        self._requests: list[Request] = []
        self._known: dict[Path, _Known] = {}
        self._index: tuple[int, dict[str, list[Path]]] = (-1, {})
        self._connections: set[socket.socket] = set()
        self.connections = 0
        """How many were made so far."""
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving and end every connection."""
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self.drop_connections()
        self._thread.join()

    @property
    def port(self) -> int:
        """The port that was given by the system, or chosen."""
        port: int = self._server.server_address[1]
        return port

    @property
    def url(self) -> str:
        """The address without a slash at its end."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def index_url(self) -> str:
        """The address of the index."""
        return f"{self.url}/simple/"

    def fault(self, pattern: str, fault: Fault | str, **changes: object) -> None:
        """Let the paths that fit a pattern (as in ``fnmatch``) misbehave from now on; the newest rule that fits wins."""
        chosen = replace(FAULTS[fault] if isinstance(fault, str) else fault, **changes)  # type: ignore[arg-type]
        with self._lock:
            self._rules.append(_Rule(pattern, chosen, chosen.times))

    def heal(self) -> None:
        """Forget every fault."""
        with self._lock:
            self._rules.clear()

    def requests(self, pattern: str = "*", method: str | None = None) -> list[Request]:
        """Return the requests so far whose path fits, in the order of their arrival."""
        with self._lock:
            found = list(self._requests)
        return [each for each in found if fnmatch.fnmatchcase(each.path, pattern) and method in (None, each.method)]

    def sent(self, pattern: str = "*") -> int:
        """Return how many bytes of bodies were sent for the paths that fit."""
        return sum(each.sent for each in self.requests(pattern))

    def forget(self) -> None:
        """Forget the requests so far."""
        with self._lock:
            self._requests.clear()

    def wait_for(self, pattern: str, *, sent: int = 0, seconds: float = 60.0) -> Request:
        """Wait until a request that fits has been sent so many bytes of its body.

        Raises:
            TimeoutError: it did not come in time.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for request in self.requests(pattern):
                if request.status and request.sent >= sent:
                    return request
            self.stopping.wait(0.002)
        raise TimeoutError(f"no request for {pattern} was sent {sent} bytes")

    def drop_connections(self) -> None:
        """Reset every connection that is open."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def open_connections(self) -> int:
        """How many connections are open now."""
        with self._lock:
            return len(self._connections)

    def warm(self) -> None:
        """Compute every hash and all metadata now, so that no request waits for them."""
        for archives in self._projects().values():
            for archive in archives:
                self._facts(archive)

    # The rest serves the handler of a connection.

    def connected(self, connection: socket.socket, *, alive: bool) -> None:
        """Note that a connection was made, or has ended."""
        with self._lock:
            (self._connections.add if alive else self._connections.discard)(connection)

    def record(self, request: Request) -> Fault:
        """Note a request and return how it is to be answered."""
        with self._lock:
            self._requests.append(request)
            for rule in reversed(self._rules):
                if rule.left != 0 and fnmatch.fnmatchcase(request.path, rule.pattern):
                    if rule.left is not None:
                        rule.left -= 1
                    return rule.fault
        return FAULTS["ok"]

    def find(self, path: str, accept: str, fault: Fault) -> _Entity | None:
        """Return what stands at a path."""
        kind, _, rest = path.lstrip("/").partition("/")
        if kind == "simple":
            return self._page(rest.strip("/"), accept, fault)
        if kind == "packages" and self.wheels is not None and "/" not in rest:
            if rest.endswith(".metadata"):
                return self._metadata(self.wheels / rest.removesuffix(".metadata"))
            return self._file(self.wheels / rest)
        if kind == "files" and self.files is not None and ".." not in rest.split("/"):
            return self._file(self.files / rest)
        return None

    def _page(self, project: str, accept: str, fault: Fault) -> _Entity | None:
        projects = self._projects()
        as_json = JSON_TYPE in accept
        if project and canonicalize_name(project) not in projects:
            return None
        if not project:
            names = sorted(projects)
            if as_json:
                return _made(
                    JSON_TYPE, json.dumps({"meta": {"api-version": "1.1"}, "projects": [{"name": n} for n in names]})
                )
            return _made("text/html", _html([f'<a href="/simple/{name}/">{name}</a>' for name in names]))
        entries = [self._entry(archive, fault) for archive in projects[canonicalize_name(project)]]
        if as_json:
            page = {"meta": {"api-version": "1.1"}, "name": canonicalize_name(project), "files": entries}
            return _made(JSON_TYPE, json.dumps(page))
        return _made("text/html", _html([_anchor(entry) for entry in entries]))

    def _entry(self, archive: Path, fault: Fault) -> dict[str, object]:
        entry: dict[str, object] = {
            "filename": archive.name,
            "url": f"{self.files_at}/packages/{archive.name}",
            "hashes": {},
        }
        facts = self._facts(archive)
        if archive.name in self.yanked:
            entry["yanked"] = self.yanked[archive.name] or True
        if facts.metadata is not None:
            requires = HeaderParser().parsestr(facts.metadata.decode(), headersonly=True)["Requires-Python"]
            if requires:
                entry["requires-python"] = requires
        if fault.bare:
            return entry
        entry["hashes"] = {"sha256": facts.sha256}
        if fault.sizes:
            entry["size"] = facts.stamp[1]
        if facts.metadata is not None:
            entry["core-metadata"] = {"sha256": hashlib.sha256(facts.metadata).hexdigest()}
        return entry

    def _projects(self) -> dict[str, list[Path]]:
        if self.wheels is None:
            return {}
        stamp = self.wheels.stat().st_mtime_ns
        if self._index[0] != stamp:
            projects: dict[str, list[Path]] = {}
            for archive in sorted(self.wheels.iterdir()):
                if archive.suffix == ".whl":
                    projects.setdefault(parse_wheel_filename(archive.name)[0], []).append(archive)
                elif archive.name.endswith((".tar.gz", ".zip")):
                    projects.setdefault(parse_sdist_filename(archive.name)[0], []).append(archive)
            self._index = (stamp if _is_settled(stamp) else -1, projects)
        return self._index[1]

    def _facts(self, path: Path) -> _Known:
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._known.get(path)
        if known is None or known.stamp != stamp:
            with path.open("rb") as stream:
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            known = _Known(stamp, sha256, _metadata_of(path))
            if _is_settled(stamp[0]):
                self._known[path] = known
        return known

    def _file(self, path: Path) -> _Entity | None:
        if not path.is_file():
            return None
        facts = self._facts(path)
        content_type = "application/json" if path.suffix == ".json" else "application/octet-stream"
        modified = facts.stamp[0] / 1e9
        cache = "public, max-age=31536000, immutable"
        return _Entity(content_type, facts.stamp[1], f'"{facts.sha256[:32]}"', modified, path, cache=cache)

    def _metadata(self, wheel: Path) -> _Entity | None:
        metadata = self._facts(wheel).metadata if wheel.is_file() else None
        return None if metadata is None else _made("application/octet-stream", metadata.decode())


def _is_settled(changed: int) -> bool:
    """Tell whether a further change would show in the time of the last one, which file systems note in steps of some ms."""
    return time.time_ns() - changed > 50_000_000


def _made(content_type: str, text: str) -> _Entity:
    body = text.encode()
    return _Entity(content_type, len(body), f'"{hashlib.sha256(body).hexdigest()[:32]}"', body=body)


def _html(anchors: list[str]) -> str:
    return "<!DOCTYPE html><html><body>\n" + "<br>\n".join(anchors) + "\n</body></html>\n"


def _anchor(entry: dict[str, object]) -> str:
    hashes, metadata = entry["hashes"], entry.get("core-metadata")
    fragment = f"#sha256={hashes['sha256']}" if isinstance(hashes, dict) and hashes else ""
    attributes = ""
    if "requires-python" in entry:
        attributes += f' data-requires-python="{html.escape(str(entry["requires-python"]))}"'
    if isinstance(metadata, dict):
        attributes += f' data-core-metadata="sha256={metadata["sha256"]}"'
    if "yanked" in entry:
        attributes += f' data-yanked="{html.escape("" if entry["yanked"] is True else str(entry["yanked"]))}"'
    return f'<a href="{entry["url"]}{fragment}"{attributes}>{entry["filename"]}</a>'


def _metadata_of(path: Path) -> bytes | None:
    if path.suffix != ".whl":
        return None
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".dist-info/METADATA") and name.count("/") == 1:
                return archive.read(name)
    return None


def _wanted_range(text: str, size: int) -> tuple[int, int] | None:
    """Return first and last byte of a single range, or None where it lies outside of the body."""
    first, _, last = text.removeprefix("bytes=").partition("-")
    if first:
        start, end = int(first), min(int(last), size - 1) if last else size - 1
    else:
        start, end = max(0, size - int(last)), size - 1
    return (start, end) if start <= end else None


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], index: IndexServer) -> None:
        self.index = index
        super().__init__(address, _Connection)

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        self.index.connections += 1
        super().process_request(request, client_address)


class _Connection(socketserver.BaseRequestHandler):
    """One connection: requests are answered one after the other until either side ends it."""

    server: _Server
    request: socket.socket

    def handle(self) -> None:
        self.index = self.server.index
        self.index.connected(self.request, alive=True)
        try:
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.index.tls is not None:
                self._secure(self.index.tls)
            while not self.index.stopping.is_set() and self._serve_one():
                pass
        except OSError:
            pass  # the client went away, or refused the certificate
        finally:
            self.index.connected(self.request, alive=False)
            self.request.close()

    def _secure(self, context: ssl.SSLContext) -> None:
        plain = self.request
        self.request = context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        self.index.connected(plain, alive=False)
        self.index.connected(self.request, alive=True)
        self.request.do_handshake()

    def _read_head(self) -> tuple[str, str, dict[str, str]] | None:
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.request.recv(65536)
            if not more:
                return None
            data += more
            if data[0] == TLS_HANDSHAKE:
                self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
                return None
        first, *lines = data.split(b"\r\n\r\n", 1)[0].decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return method, target, headers

    def _serve_one(self) -> bool:
        head = self._read_head()
        if head is None:
            return False
        method, target, headers = head
        parts = urlsplit(target) if "://" in target else None
        path = target if method == "CONNECT" else unquote(parts.path if parts else target.partition("?")[0])
        request = Request(method, path, headers.get("host", ""), headers, proxied=parts is not None or method == "CONNECT")
        fault = self.index.record(request)
        try:
            if fault.delay:
                self.index.stopping.wait(fault.delay)
            if fault.silent:
                return False
            if method == "CONNECT":
                return self._tunnel(request, fault)
            return self._answer(request, fault) and headers.get("connection", "").lower() != "close"
        finally:
            request.finished = True

    def _tunnel(self, request: Request, fault: Fault) -> bool:
        refusal = self._refusal(request, fault)
        if refusal is not None:
            return self._send(request, fault, refusal[0], _made("text/plain", ""), refusal[1])
        if self.index.tunnel_tls is None:
            return self._send(request, fault, 502, _made("text/plain", ""))
        request.status = 200
        self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self._secure(self.index.tunnel_tls)
        return True

    def _refusal(self, request: Request, fault: Fault) -> tuple[int, dict[str, str]] | None:
        """Return status and headers of an answer that is not the file."""
        if fault.status is not None:
            return fault.status, dict(fault.headers)
        if fault.proxy_auth and request.headers.get("proxy-authorization") != _basic(fault.proxy_auth):
            return 407, {"Proxy-Authenticate": 'Basic realm="proxy"'}
        if fault.auth and request.headers.get("authorization") != _basic(fault.auth):
            return 401, {"WWW-Authenticate": 'Basic realm="index"'}
        if fault.redirect is not None:
            return 302, {"Location": fault.redirect}
        return None

    def _answer(self, request: Request, fault: Fault) -> bool:
        refusal = self._refusal(request, fault)
        if refusal is not None:
            return self._send(request, fault, refusal[0], _made("text/html", "<html>refused</html>"), refusal[1])
        if fault.sign_in:
            return self._send(request, fault, 200, _made("text/html; charset=utf-8", SIGN_IN.decode()))
        entity = self.index.find(request.path, request.headers.get("accept", ""), fault)
        if entity is None:
            return self._send(request, fault, 404, _made("text/plain", "not found"))
        if fault.etag:
            entity = replace(entity, etag=fault.etag)
        if request.headers.get("if-none-match") == entity.etag:
            return self._send(request, fault, 304, replace(entity, size=0, path=None, body=b""))
        asked = request.range
        if asked and fault.ranges and request.headers.get("if-range", entity.etag) in (entity.etag, _date(entity)):
            found = _wanted_range(asked, entity.size)
            if found is None:
                extra = {"Content-Range": f"bytes */{entity.size}"}
                return self._send(request, fault, 416, _made("text/plain", ""), extra)
            if fault.most is not None:
                found = (found[0], min(found[1], found[0] + fault.most - 1))
            extra = {"Content-Range": f"bytes {found[0]}-{found[1]}/{entity.size}"}
            return self._send(request, fault, 206, entity, extra, found)
        return self._send(request, fault, 200, entity)

    def _send(
        self,
        request: Request,
        fault: Fault,
        status: int,
        entity: _Entity,
        extra: dict[str, str] | None = None,
        part: tuple[int, int] | None = None,
    ) -> bool:
        """Send one answer; tell whether the connection can carry another."""
        start, end = (part[0], part[1] + 1) if part else (0, entity.size)
        headers = {
            "Content-Type": entity.content_type,
            "Content-Length": str(end - start),
            "ETag": entity.etag,
            "Cache-Control": entity.cache,
            **(extra or {}),
        }
        if _is_chunked(entity, fault):
            del headers["Content-Length"]
            headers["Transfer-Encoding"] = "chunked"
        if entity.path is not None:
            headers["Last-Modified"] = _date(entity)
            if fault.ranges:
                headers["Accept-Ranges"] = "bytes"
        request.status = status
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if request.method == "HEAD" or start == end:
            self.request.sendall(head)
            return True
        stop = fault.stop if status in (200, 206) else None
        if stop:
            end = min(end, start + (fault.after if fault.after is not None else (end - start) // 2))
        self._send_body(request, fault, entity, head, start, end)
        return stop is None or self._stop(stop)

    def _send_body(self, request: Request, fault: Fault, entity: _Entity, head: bytes, start: int, end: int) -> None:
        plain = fault.rate is None and not fault.corrupt and self.index.line is None and not _is_chunked(entity, fault)
        if entity.path is None:
            request.sent += end - start
            self.request.sendall(head + entity.body[start:end])
        elif plain and not self.index.tls and not self.index.tunnel_tls and end - start > 65536:
            with entity.path.open("rb", buffering=0) as stream:
                self.request.sendall(head)
                for at in range(start, end, CHUNK):
                    size = min(CHUNK, end - at)
                    request.sent += size
                    try:
                        self.request.sendfile(stream, at, size)
                    except OSError:
                        request.sent -= at + size - max(at, stream.tell())
                        raise
        else:
            self._send_in_pieces(request, fault, entity.path, head, start, end)

    def _send_in_pieces(self, request: Request, fault: Fault, path: Path, head: bytes, start: int, end: int) -> None:
        whole = CHUNK if self.index.line is None else CHUNK // 4
        size = whole if fault.rate is None else max(1, min(whole, int(fault.rate / 50)))
        with path.open("rb", buffering=0) as stream:
            stream.seek(start)
            position = start
            began = time.monotonic()
            while position < end:
                piece = stream.read(min(size, end - position))
                if fault.corrupt:
                    piece = piece.translate(INVERTED)
                if self.index.line is not None:
                    self.index.line.wait(len(piece), self.index.stopping)
                request.sent += len(piece)
                self.request.sendall(head + (b"%x\r\n%b\r\n" % (len(piece), piece) if not fault.length else piece))
                head = b""
                position += len(piece)
                if fault.rate is not None:
                    due = began + (position - start) / fault.rate
                    if self.index.stopping.wait(max(0.0, due - time.monotonic())):
                        return
            if head:
                self.request.sendall(head)
            if not fault.length and fault.stop is None:
                self.request.sendall(b"0\r\n\r\n")

    def _stop(self, how: str) -> bool:
        if how == "reset":
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif how == "stall":
            while not self.index.stopping.is_set():
                if select.select([self.request], [], [], 0.02)[0] and not self.request.recv(1):
                    break  # the client has had enough
        else:
            self.request.shutdown(socket.SHUT_WR)
        return False


def _is_chunked(entity: _Entity, fault: Fault) -> bool:
    return not fault.length and entity.path is not None


def _basic(credentials: tuple[str, str]) -> str:
    return "Basic " + base64.b64encode(":".join(credentials).encode()).decode()


def _date(entity: _Entity) -> str:
    return formatdate(entity.modified, usegmt=True)


def main() -> None:
    """Serve by hand until interrupted; the first line of output is the address."""
    parser = argparse.ArgumentParser(description="Serve a folder of wheels as a package index on loopback.")
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--files", type=Path, help="folder to serve at /files/")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument(
        "--fault", nargs=2, action="append", default=[], metavar=("PATTERN", "NAME"), help=", ".join(FAULTS)
    )
    parser.add_argument("--line-rate", type=float, help="bytes a second for all answers together")
    options = parser.parse_args()
    with IndexServer(options.wheels, options.files, port=options.port) as server:
        server.warm()
        server.line = Line(options.line_rate) if options.line_rate else None
        for pattern, name in options.fault:
            server.fault(pattern, name)
        print(server.url, flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
