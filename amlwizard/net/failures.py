"""What went wrong on the network, told from the exceptions of urllib3 and the system."""

from __future__ import annotations

import errno
import http.client as http_client
import re
import socket
import ssl
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from urllib3 import exceptions as http

from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import AmlError
from amlwizard.core.system_errors import is_full
from amlwizard.core.urls import host_of, split_credentials
from amlwizard.net.certificates import issuer_seen_by, names_seen_by

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amlwizard.net.policy import NetworkPolicy

_OTHER_NAME = {62, 64, 0x800B010F}
"""What OpenSSL says of a certificate that is for another host or address, and Windows of one for another host."""
_CUT_OFF = (http_client.RemoteDisconnected, http_client.IncompleteRead)
"""What is raised where a web server said too little."""
_MOST_NAMES = 5
_NO_TLS = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"}
"""How OpenSSL calls an answer that is none of TLS."""
_OF_OPENSSL = re.compile(r"^\[[A-Z]+: \w+\] (.*) \(_ssl\.c:\d+\)$")
_LONGEST_REASON = 200
_TUNNEL_SECONDS = 5.0
_UNREACHABLE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, 10051, 10065}


class AttemptError(Exception):
    """One attempt failed. ``retry_after`` is the pause in seconds that the server asked for."""

    def __init__(self, error: AmlError, *, transient: bool, retry_after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.transient = transient
        self.retry_after = retry_after


def failure(
    code: str, url: str, *, transient: bool = False, retry_after: float | None = None, **more: object
) -> AttemptError:
    """Make a failure of one address; the arguments name its host."""
    error = AmlError(code, host=host_of(url))
    error.arguments.update(more)
    return AttemptError(error, transient=transient, retry_after=retry_after)


def of_status(status: int, url: str, headers: Mapping[str, str], policy: NetworkPolicy, *, signed_in: bool) -> AttemptError:
    """Return the failure that a status other than success means; ``signed_in`` tells whether a login was sent."""
    if status == 401 and signed_in:
        return failure("AML_NET_LOGIN_REFUSED", url, source=policy.login_place(url))
    if status == 401:
        return failure("AML_NET_UNAUTHORIZED", url)
    if status == 403:
        return failure("AML_NET_FORBIDDEN", url)
    if status in (404, 410):
        return failure("AML_NET_NOT_FOUND", url)
    if status == 407:
        return _of_proxy_sign_in(url, policy, _kinds(headers.get("Proxy-Authenticate", "")))
    if status == 511:
        return failure("AML_NET_SIGN_IN", url)
    if status in (429, 503):
        return failure("AML_NET_BUSY", url, transient=True, retry_after=_seconds(headers.get("Retry-After")), status=status)
    return failure("AML_NET_SERVER", url, transient=status >= 500 or status == 408, status=status)


def _of_proxy_sign_in(url: str, policy: NetworkPolicy, kinds: str, reason: str = "") -> AttemptError:
    """Return the failure of a proxy that wants a sign-in: one that uv and we cannot do, a missing one, or a wrong one."""
    place, sent = split_credentials(policy.proxy_for(url) or "")
    if kinds != "?" and "Basic" not in kinds:
        failed = failure("AML_NET_PROXY_NO_BASIC", url, kinds=kinds)
    elif sent is None:
        failed = failure("AML_NET_PROXY_AUTH", url, kinds=kinds)
    else:
        source = policy.login_place(place)
        failed = failure("AML_NET_PROXY_LOGIN_REFUSED", url, proxy=host_of(place), kinds=kinds, source=source)
    if reason:
        failed.error.arguments["reason"] = reason
    return failed


def of_exception(error: BaseException, url: str, policy: NetworkPolicy) -> AttemptError:
    """Return the failure that an exception of urllib3 or of a socket means."""
    chain = list(_chain(error))
    words = " ".join(map(str, chain))
    tunnel = re.search(r"Tunnel connection failed: (\d+)", words)
    if tunnel:
        if tunnel[1] == "407":
            return _of_proxy_sign_in(url, policy, _kinds_for_tunnel(url, policy), reason=tunnel[0])
        return _of_proxy(url, policy, tunnel[0], transient=tunnel[1].startswith("5"))
    for each in chain:
        if isinstance(each, ssl.SSLCertVerificationError):
            if each.verify_code in _OTHER_NAME and (names := names_seen_by(url, policy)):
                return failure("AML_NET_CERTIFICATE_NAME", url, names=", ".join(names[:_MOST_NAMES]))
            issuer = issuer_seen_by(url, policy)
            return failure("AML_NET_CERTIFICATE", url, issuer=issuer or "?", reason=each.verify_message)
    if any(isinstance(each, http.ProxyError) for each in chain):
        late = any(isinstance(each, TimeoutError | http.TimeoutError) for each in chain)
        reason = Phrase("net.silent") if late else _reason(chain)
        answers = not any(isinstance(each, http.NewConnectionError | http.ConnectTimeoutError) for each in chain)
        return _of_proxy(url, policy, reason, transient=late or not isinstance(reason, Phrase), answers=answers)
    failed = _of_connection(chain, url)
    failed.error.arguments.setdefault("reason", _reason(chain))
    return failed


def _of_proxy(
    url: str, policy: NetworkPolicy, reason: str | Phrase, *, transient: bool, answers: bool = True
) -> AttemptError:
    """Return the failure of a proxy that is not there, or that ``answers`` and does not lead to the host."""
    return failure("AML_NET_PROXY", url, transient=transient, proxy=_proxy(url, policy), reason=reason, answers=answers)


def _of_connection(chain: list[BaseException], url: str) -> AttemptError:
    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(each, kinds) for each in chain)

    numbers = {each.errno for each in chain if isinstance(each, OSError)}
    if has(http.NameResolutionError, socket.gaierror):
        return failure("AML_NET_NAME", url, transient=True)
    if has(ConnectionRefusedError):
        return failure("AML_NET_REFUSED", url, transient=True)
    if numbers & _UNREACHABLE:
        return failure("AML_NET_UNREACHABLE", url, transient=True)
    if has(http.ConnectTimeoutError):
        return failure("AML_NET_TIMEOUT", url, transient=True)
    if has(http.ReadTimeoutError, TimeoutError):
        return failure("AML_NET_STALLED", url, transient=True)
    if has(ssl.SSLError, http.SSLError) and not has(ssl.SSLEOFError, ConnectionResetError):
        return failure("AML_NET_TLS", url, reason=_reason(chain))
    if has(http.LocationParseError, http.LocationValueError):
        return failure("AML_NET_URL", url)
    return failure("AML_NET_RESET", url, transient=True)


def of_disk(error: OSError, path: Path) -> AmlError:
    """Return the error for a file that could not be written."""
    if is_full(error):
        return AmlError("AML_DISK_FULL", file=path.name, path=str(path.parent))
    return AmlError("AML_NET_WRITE", file=path.name, path=str(path.parent), reason=error.strerror or str(error))


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, BaseException) and each not in found:
            found.append(each)
            waiting += [each.__cause__, each.__context__, *each.args, getattr(each, "original_error", None)]
    return found


def _reason(chain: list[BaseException]) -> str | Phrase:
    """Return what the system, the TLS library or the network library says, in one short sentence of its own or of ours."""
    for each in chain:
        if isinstance(each, ssl.SSLError) and each.reason in _NO_TLS:
            return Phrase("net.no_tls")
        if isinstance(each, http_client.HTTPException) and not isinstance(each, _CUT_OFF):
            return Phrase("net.no_http")
    said = next((each.strerror for each in reversed(chain) if isinstance(each, OSError) and each.strerror), str(chain[-1]))
    return _OF_OPENSSL.sub(r"\1", said)[:_LONGEST_REASON]


def _proxy(url: str, policy: NetworkPolicy) -> str:
    return host_of(policy.proxy_for(url) or "")


def _kinds(header: str) -> str:
    """Return the names of the ways to sign in that a proxy offers."""
    known = ("Basic", "Digest", "NTLM", "Negotiate", "Kerberos")
    return ", ".join(kind for kind in known if re.search(rf"\b{kind}\b", header, re.IGNORECASE)) or "?"


def _kinds_for_tunnel(url: str, policy: NetworkPolicy) -> str:
    """Return the same for a tunnel, whose refusal urllib3 tells without its headers: the proxy is asked once more."""
    clean, _ = split_credentials(policy.proxy_for(url) or "")
    place, parts = urlsplit(clean), urlsplit(url)
    target = f"{parts.hostname}:{parts.port or 443}"
    try:
        if place.scheme == "https":
            connection: http_client.HTTPConnection = http_client.HTTPSConnection(
                place.hostname or "", place.port, timeout=_TUNNEL_SECONDS, context=policy.ssl_context()
            )
        else:
            connection = http_client.HTTPConnection(place.hostname or "", place.port, timeout=_TUNNEL_SECONDS)
        with closing(connection):
            connection.request("CONNECT", target, headers={"Host": target})
            offered = connection.getresponse().headers.get_all("Proxy-Authenticate", [])
        return _kinds(", ".join(offered))
    except (OSError, ValueError, http_client.HTTPException):
        return "?"


def _seconds(value: str | None) -> float | None:
    """Return the seconds of a Retry-After, which is a number or a date."""
    if value is None:
        return None
    try:
        return max(0.0, float(int(value)))
    except (ValueError, OverflowError):
        pass
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
