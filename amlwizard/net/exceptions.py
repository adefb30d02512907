"""Which hosts are reached without the proxy: the entries of NO_PROXY."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

_PORT = re.compile(r"\d{1,5}", re.ASCII)
_STARRED_NUMBERS = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,2})(?:\.\*)+", re.ASCII)
LOCAL = "<local>"
"""The entry for all host names without a dot, as Windows and macOS know it."""
LOOPBACK = ("localhost", "127.0.0.0/8", "::1")
"""This computer itself, which Windows and macOS reach without their proxy although nothing says so."""


@dataclass(frozen=True)
class ProxyExceptions:
    """Parsed entries. A name covers its subdomains too; an entry may carry a port; networks are in CIDR form."""

    entries: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> ProxyExceptions:
        """Read a list that is separated by commas, semicolons or blanks."""
        return cls(tuple(text.replace(",", " ").replace(";", " ").lower().split()))

    def __str__(self) -> str:
        """Return the list in the form that uv, pip and git know; what only the system's settings know is left out."""
        return ",".join(dict.fromkeys(_plain(entry) for entry in self.entries if entry != LOCAL))

    def cover(self, host: str, port: int) -> bool:
        """Tell whether a host is to be reached without the proxy."""
        name = host.lower().strip("[]").rstrip(".")
        address = _address(name)
        return any(_fits(entry, name, address, port) for entry in self.entries)


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _address(name: str) -> _Address | None:
    try:
        return ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return None


def _fits(entry: str, name: str, address: _Address | None, port: int) -> bool:
    if entry == "*":
        return True
    if entry == LOCAL:
        return address is None and "." not in name
    if "/" in entry:
        return address is not None and _in_network(address, entry)
    pattern, wanted_port = _split_port(entry)
    if wanted_port not in (None, port):
        return False
    if "*" in pattern.removeprefix("*"):  # Windows knows more than a star in front
        return fnmatchcase(name, pattern)
    if address is not None:
        return _address(pattern) == address
    pattern = pattern.removeprefix("*").lstrip(".").rstrip(".")
    return bool(pattern) and (name == pattern or name.endswith(f".{pattern}"))


def _plain(entry: str) -> str:
    """Return an entry without a star where others know it without: ``*.name`` and ``10.1.*``."""
    if "/" in entry:
        network = _network(entry)
        return str(network) if network is not None else entry
    if match := _STARRED_NUMBERS.fullmatch(entry):
        return f"{match[1]}{'.0' * (3 - match[1].count('.'))}/{8 * (match[1].count('.') + 1)}"
    return entry.removeprefix("*") if entry.startswith("*.") else entry


def _split_port(entry: str) -> tuple[str, int | None]:
    if entry.startswith("["):
        inside, _, rest = entry[1:].partition("]")
        return inside, int(rest[1:]) if _PORT.fullmatch(rest[1:]) else None
    host, colon, port = entry.rpartition(":")
    if colon and ":" not in host and _PORT.fullmatch(port):
        return host, int(port)
    return entry, None


def _in_network(address: _Address, entry: str) -> bool:
    network = _network(entry)
    return network is not None and address in network


def _network(entry: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    base, _, length = entry.partition("/")
    if ":" not in base:
        base += ".0" * (3 - base.count("."))  # macOS writes 169.254/16
    try:
        return ipaddress.ip_network(f"{base}/{length}", strict=False)
    except ValueError:
        return None
