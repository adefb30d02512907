"""HTTP of one thread at a time: pools, proxies, credentials by origin, redirects; failures as ``AttemptError``."""

from __future__ import annotations

import http.client
import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from amlwizard import __version__
from amlwizard.core.urls import split_credentials
from amlwizard.net.failures import AttemptError, failure, of_exception, of_status
from amlwizard.net.policy import is_proxy, without_userinfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amlwizard.net.policy import NetworkPolicy

_REDIRECTS = 10
_here = threading.local()


class _Connection(HTTPConnection):
    def connect(self) -> None:
        super().connect()
        _here.note(self.sock)


class _SecureConnection(HTTPSConnection):
    def connect(self) -> None:
        try:
            super().connect()
        except (OSError, http.client.HTTPException, urllib3.exceptions.HTTPError) as error:
            if self.proxy_is_tunneling:  # it is the proxy that answers like this, and not the host behind it
                raise urllib3.exceptions.ProxyError("no tunnel", error) from error
            raise
        _here.note(self.sock)

    def _tunnel(self) -> None:
        """Ask the proxy for a tunnel. What it answers may come in bytes without an end, each of them in time."""
        with _at_most(self.timeout or 0.0, lambda: _end(self.sock)):
            super()._tunnel()


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


@contextmanager
def _at_most(seconds: float, end: Callable[[], None]) -> Iterator[None]:
    """Limit what waits for one socket again and again; ``end`` ends that.

    Raises:
        TimeoutError: it was ended.
    """
    late = threading.Event()

    def give_up() -> None:
        late.set()
        end()

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException, urllib3.exceptions.HTTPError) as error:
        if late.is_set():
            raise TimeoutError("timed out") from error
        raise
    else:
        if late.is_set():  # the end of a connection may be that of an answer as well
            raise TimeoutError("timed out")
    finally:
        timer.cancel()


def _end(connected: socket.socket | None) -> None:
    if connected is not None:
        with suppress(OSError, ValueError):
            socket.socket.shutdown(connected, socket.SHUT_RDWR)


@dataclass(frozen=True)
class Limits:
    """Time limits in seconds, and how often an attempt is repeated. ``pause`` doubles up to ``longest_pause``.

    ``idle`` is how long a connection may be silent. It doubles with each attempt that reaches it, up to ``longest_idle``: a
    dead connection is given up soon, and a proxy that sends nothing before it has scanned the whole file gets its time.
    ``drop_out`` is how long a network that has worked may be away without an attempt being counted.
    """

    connect: float = 15.0
    idle: float = 30.0
    longest_idle: float = 180.0
    attempts: int = 5
    pause: float = 0.5
    longest_pause: float = 10.0
    longest_retry_after: float = 60.0
    drop_out: float = 120.0


class Session:
    """Connections that one thread uses at a time; ``interrupt`` may be called by any other thread."""

    def __init__(self, policy: NetworkPolicy, limits: Limits) -> None:
        self._policy = policy
        self._limits = limits
        self._managers: dict[tuple[str | None, bool], urllib3.PoolManager] = {}
        self._sockets: list[socket.socket] = []

    def open(
        self, method: str, url: str, headers: dict[str, str], *, secure_only: bool = False, idle: float | None = None
    ) -> tuple[urllib3.BaseHTTPResponse, str]:
        """Return the response with its body unread, and the address it came from after redirects.

        With ``secure_only`` an https address may not lead to an http one. ``idle`` replaces that limit.

        Raises:
            AttemptError: there is no response, or one of another status than 200, 206 and 416.
        """
        _here.note = self._note
        place, downgraded = url, False
        for _ in range(_REDIRECTS):
            response = self._ask(method, place, headers, with_login=not downgraded, idle=idle)
            location = response.get_redirect_location()
            if not location:
                if response.status not in (200, 206, 416):
                    self.drop(response)
                    signed_in = not downgraded and self._policy.credentials_for(place) is not None
                    raise of_status(response.status, place, response.headers, self._policy, signed_in=signed_in)
                return response, place
            self.drop(response)
            target = _target(place, location)
            if target is None:
                raise failure("AML_NET_REDIRECTS", url)
            if place.startswith("https:") and target.startswith("http:"):
                if secure_only:
                    raise failure("AML_NET_REDIRECTS", url)
                downgraded = True  # a password that was meant for https must not be read on the way
            place = split_credentials(target)[0]
        raise failure("AML_NET_REDIRECTS", url)

    def _ask(
        self, method: str, url: str, headers: dict[str, str], *, with_login: bool, idle: float | None
    ) -> urllib3.BaseHTTPResponse:
        """Send a request; again where the system's keyring has the login that the host or the proxy wants."""
        policy = self._policy
        while True:
            login, proxy = policy.credentials_for(url) if with_login else None, policy.proxy_for(url)
            try:
                response = self._send(method, url, headers, login, idle)
            except AttemptError as failed:  # a tunnel's 407
                if failed.error.code != "AML_NET_PROXY_AUTH" or not self._signs_in(url, proxy):
                    raise
                continue
            if response.status == 401 and with_login and login is None:
                policy.ask_kept(url)
                known = policy.credentials_for(url) is not None
            else:
                known = response.status == 407 and self._signs_in(url, proxy)
            if not known:
                return response
            self.drop(response)

    def _signs_in(self, url: str, proxy: str | None) -> bool:
        """Tell whether the keyring has the login of a proxy that was used without one."""
        if proxy is None or split_credentials(proxy)[1] is not None:
            return False
        self._policy.ask_kept(proxy)
        return self._policy.proxy_for(url) != proxy

    def _send(
        self, method: str, url: str, headers: dict[str, str], login: tuple[str, str] | None, idle: float | None
    ) -> urllib3.BaseHTTPResponse:
        limits, silence = self._limits, idle or self._limits.idle
        timeout = urllib3.Timeout(connect=limits.connect, read=silence)
        sent = {"User-Agent": f"amlwizard/{__version__}", "Accept-Encoding": "identity", **headers}
        if login is not None:
            sent |= urllib3.make_headers(basic_auth=":".join(login))
        try:
            with _at_most(limits.connect + silence, self.interrupt):
                return self._manager(url).request(
                    method,
                    url,
                    headers=sent,
                    timeout=timeout,
                    preload_content=False,
                    decode_content=False,
                    redirect=False,
                    retries=False,
                )
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            if (
                isinstance(error, urllib3.exceptions.ProtocolError)
                and url.startswith("http:")
                and self._policy.proxy_for(url)
            ):
                error = urllib3.exceptions.ProxyError("no answer", error)  # a proxy would say that the host gave none
            raise of_exception(error, url, self._policy) from error

    def read(self, response: urllib3.BaseHTTPResponse, amount: int, url: str, *, decode: bool = False) -> bytes:
        """Return what has arrived of the body, at most ``amount`` bytes; empty at its proper end.

        Raises:
            AttemptError: the connection broke, or was silent too long.
        """
        try:
            return response.read1(amount, decode_content=decode)
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise of_exception(error, url, self._policy) from error

    def drop(self, response: urllib3.BaseHTTPResponse) -> None:
        """Let go of a response: its connection is kept where nothing is left to read, and closed otherwise."""
        if response.length_remaining == 0:
            response.drain_conn()  # what answers a HEAD counts as being read until then, and blocks its connection
            response.release_conn()
        else:
            response.close()

    def interrupt(self) -> None:
        """End every connection, so that a thread that waits for one wakes up."""
        for each in list(self._sockets):
            _end(each)

    def close(self) -> None:
        """Close the connections that are kept."""
        for manager in self._managers.values():
            manager.clear()

    def _note(self, connected: socket.socket) -> None:
        self._sockets = [each for each in self._sockets if each.fileno() != -1]
        self._sockets.append(connected)

    def _manager(self, url: str) -> urllib3.PoolManager:
        proxy = self._policy.proxy_for(url)
        secure = url.startswith("https:") or (proxy or "").startswith("https:")
        if (proxy, secure) not in self._managers:
            self._managers[proxy, secure] = self._make_manager(url, proxy, secure=secure)
        return self._managers[proxy, secure]

    def _make_manager(self, url: str, proxy: str | None, *, secure: bool) -> urllib3.PoolManager:
        options: dict[str, Any] = {}
        if secure:
            options["ssl_context"] = self._policy.ssl_context()
        if proxy is None:
            manager = urllib3.PoolManager(**options)
        else:
            if not is_proxy(proxy):
                of_a_kind = proxy.startswith(("http://", "https://"))
                code = "AML_NET_PROXY_URL" if of_a_kind else "AML_NET_PROXY_KIND"
                raise failure(code, url, proxy=without_userinfo(proxy))
            place, found = split_credentials(proxy)
            headers = urllib3.make_headers(proxy_basic_auth=":".join(found)) if found else {}
            options["proxy_ssl_context"] = options.get("ssl_context")
            manager = urllib3.ProxyManager(place, proxy_headers=headers, **options)
        manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        return manager


def _target(place: str, location: str) -> str | None:
    """Return where a redirect leads, None where that is no address of the web."""
    try:
        target = urljoin(place, location)
        parts = urlsplit(target)
        _ = parts.port
    except ValueError:
        return None
    return target if parts.scheme in ("http", "https") else None
