"""Every way of trying to reach a network is caught, whichever process takes it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.attempts import Attempts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.linux

_WAYS = {
    "tcp": "s.socket().connect(('192.0.2.7', 443))",
    "tcp6": "s.socket(s.AF_INET6).connect(('2001:db8::7', 443))",
    "loopback": "s.socket().connect(('127.0.0.1', 80))",
    "udp": "s.socket(type=s.SOCK_DGRAM).sendto(b'x', ('192.0.2.7', 53))",
    "udp6": "s.socket(s.AF_INET6, s.SOCK_DGRAM).sendto(b'x', ('2001:db8::7', 53))",
    "name": "s.getaddrinfo('files.example.org', 443)",
}


@pytest.mark.parametrize("way", _WAYS)
def test_an_attempt_is_counted_also_of_a_child_that_left(
    tmp_path: Path, circumstances: type[Circumstances], way: str
) -> None:
    assert circumstances
    attempts = Attempts(tmp_path)
    trying = f"import socket as s\ntry:\n    {_WAYS[way]}\nexcept OSError:\n    pass\n"
    child = [sys.executable, "-c", trying]
    parent = f"import subprocess; subprocess.run({child!r}, start_new_session=True, env={{}}, check=True)"
    done = subprocess.run([*attempts.prefix(), sys.executable, "-c", parent], check=False)
    assert done.returncode == 0
    assert attempts.counted()


def test_what_is_no_attempt_is_not_counted(tmp_path: Path, circumstances: type[Circumstances]) -> None:
    assert circumstances
    attempts = Attempts(tmp_path)
    code = "import socket, sys; socket.socketpair(); socket.socket(); sys.exit(7)"
    assert subprocess.run([*attempts.prefix(), sys.executable, "-c", code], check=False).returncode == 7
    assert attempts.counted() == {}
