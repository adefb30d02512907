"""Catches whoever even tries to reach a network: a command runs where there is none, and the kernel counts the attempts.

The command and all its children are in a network namespace of their own with nothing but loopback. There the kernel
counts in ``/proc/net/snmp`` and ``/proc/net/snmp6`` every address for which no way was found, and whatever goes over
loopback: each ``connect`` and ``sendto`` of the Internet families, by whatever process. Names are looked up by DNS alone,
so that a look-up is an attempt as well and cannot leave through a local service.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_COUNTED = {
    "Ip": ("OutNoRoutes", "OutRequests"),
    "Tcp": ("ActiveOpens",),
    "Udp": ("OutDatagrams",),
}
_COUNTED_V6 = ("Ip6OutNoRoutes", "Ip6OutRequests", "Udp6OutDatagrams")


class Attempts:
    """Wraps commands; ``folder`` is for the files that belong to it."""

    def __init__(self, folder: Path) -> None:
        self._report = folder / "attempts.txt"
        self._resolv = folder / "resolv.conf"
        self._nsswitch = folder / "nsswitch.conf"
        self._resolv.write_text("nameserver 192.0.2.1\noptions timeout:1 attempts:1\n")
        self._nsswitch.write_text("hosts: files dns\n")

    def prefix(self) -> Sequence[str]:
        """Return what stands before a command whose attempts are to be counted; its status is the command's."""
        self._report.unlink(missing_ok=True)
        lines = [
            "ip link set lo up",  # without it the kernel does not even look for a way to an address of IPv6
            f"mount --bind {shlex.quote(str(self._resolv))} /etc/resolv.conf",
            f"mount --bind {shlex.quote(str(self._nsswitch))} /etc/nsswitch.conf",
            'code=0; "$@" || code=$?',
            f"cat /proc/net/snmp /proc/net/snmp6 > {shlex.quote(str(self._report))}",
            "exit $code",
        ]
        unshare = ["unshare", "--net", "--mount", "--propagation", "private"]
        return [*unshare, "/bin/sh", "-ec", "\n".join(lines), "attempts"]

    def counted(self) -> dict[str, int]:
        """Return what the last command tried: the counters that are not zero."""
        lines = self._report.read_text().splitlines()
        counts: dict[str, int] = {}
        tables = [line.split() for line in lines if ":" in line.partition(" ")[0]]
        for names, values in zip(tables[::2], tables[1::2], strict=True):
            table = names[0].rstrip(":")
            found = dict(zip(names[1:], map(int, values[1:]), strict=True))
            counts |= {f"{table} {name}": found[name] for name in _COUNTED.get(table, ())}
        found = {name: int(value) for name, value in (line.split() for line in lines if ":" not in line)}
        counts |= {name: found[name] for name in _COUNTED_V6}
        return {name: count for name, count in counts.items() if count}
