"""Who issued a certificate that was not trusted, and for which names: what a company's IT needs to know."""

from __future__ import annotations

import base64
import http.client
import ipaddress
import ssl
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from amlwizard.core.urls import split_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.net.policy import NetworkPolicy

_SECONDS = 5.0
_COMMON_NAME, _ORGANISATION = bytes.fromhex("550403"), bytes.fromhex("55040a")
_ALTERNATIVE_NAMES = bytes.fromhex("551d11")
_EXTENSIONS, _DNS_NAME, _IP_ADDRESS = 0xA3, 0x82, 0x87


def issuer_seen_by(url: str, policy: NetworkPolicy) -> str:
    """Return the issuer's name of the certificate that a host (or a proxy in its place) shows; empty where unknown."""
    try:
        return issuer_of(_seen_by(url, policy))
    except (ValueError, IndexError, StopIteration):
        return ""


def names_seen_by(url: str, policy: NetworkPolicy) -> list[str]:
    """Return the names for which the certificate is that a host shows; none where they cannot be told."""
    try:
        return names_of(_seen_by(url, policy))
    except (ValueError, IndexError, StopIteration):
        return []


def _seen_by(url: str, policy: NetworkPolicy) -> bytes:
    """Return the certificate that a host shows, in DER form; empty where there is none to be seen.

    The connection is made to look at the certificate alone: nothing is asked of it, and nothing from it is used.
    """
    look = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    look.check_hostname = False
    look.verify_mode = ssl.CERT_NONE
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 443
    try:
        proxy = policy.proxy_for(url)
        connection = http.client.HTTPSConnection(host, port, timeout=_SECONDS, context=look)
        if proxy:
            clean, found = split_credentials(proxy)
            place = urlsplit(clean)
            headers = {}
            if found:
                headers["Proxy-Authorization"] = "Basic " + base64.b64encode(":".join(found).encode()).decode()
            connection = http.client.HTTPSConnection(place.hostname or "", place.port or 80, timeout=_SECONDS, context=look)
            connection.set_tunnel(host, port, headers)
        with closing(connection):
            connection.connect()
            return connection.sock.getpeercert(binary_form=True) or b""
    except (OSError, ValueError, http.client.HTTPException):
        return b""


def issuer_of(certificate: bytes) -> str:
    """Return the issuer's common name, or its organisation, from a certificate in DER form.

    Raises:
        ValueError, IndexError: the bytes are no certificate.
    """
    body = next(_values(next(_values(certificate))[1]))[1]
    fields = [(tag, value) for tag, value in _values(body) if tag != 0xA0]  # the version is optional
    names: dict[bytes, str] = {}
    for _, group in _values(fields[2][1]):
        for _, pair in _values(group):
            (_, kind), (_, text) = list(_values(pair))[:2]
            names[kind] = text.decode("utf-8", "replace")
    return names.get(_COMMON_NAME) or names.get(_ORGANISATION, "")


def names_of(certificate: bytes) -> list[str]:
    """Return the host names and addresses for which a certificate in DER form is.

    Raises:
        ValueError, IndexError: the bytes are no certificate.
    """
    body = next(_values(next(_values(certificate))[1]))[1]
    extensions = [value for tag, value in _values(body) if tag == _EXTENSIONS]
    for _, extension in _values(next(_values(extensions[0]))[1]) if extensions else ():
        (_, kind), *_, (_, content) = _values(extension)
        if kind == _ALTERNATIVE_NAMES:
            names = list(_values(next(_values(content))[1]))
            hosts = [text.decode("ascii", "replace") for tag, text in names if tag == _DNS_NAME]
            return hosts + [str(ipaddress.ip_address(text)) for tag, text in names if tag == _IP_ADDRESS]
    return []


def _values(data: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position < len(data):
        tag, length = data[position], data[position + 1]
        position += 2
        if length & 0x80:
            size = length & 0x7F
            length = int.from_bytes(data[position : position + size], "big")
            position += size
        yield tag, data[position : position + length]
        position += length
