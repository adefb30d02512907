"""Facts of the computer."""

from __future__ import annotations

import os
import platform
import sys

import pytest

from amlwizard.core.host import host_facts, machine_name, system_name


def test_this_computer() -> None:
    host = host_facts()
    assert host.system == system_name(sys.platform)
    assert host.machine == machine_name(host.system, platform.machine())
    assert host.platform == f"{host.system}-{host.machine}"
    assert 1 <= host.cpu_count <= (os.cpu_count() or 1)
    assert host.memory_bytes > 100_000_000
    assert host.release


@pytest.mark.linux
def test_libc_of_this_computer() -> None:
    name, version = platform.libc_ver()
    assert host_facts().libc == (f"{name} {version}" if name else host_facts().libc)
    assert host_facts().libc.startswith(("glibc ", "musl "))


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("linux", "arm64", "aarch64"),
        ("linux", "aarch64", "aarch64"),
        ("macos", "arm64", "arm64"),
        ("windows", "ARM64", "arm64"),
        ("windows", "AMD64", "x86_64"),
        ("linux", "x86_64", "x86_64"),
        ("windows", "x86", "i686"),
        ("linux", "riscv64", "riscv64"),
    ],
)
def test_machines_are_spelt_as_in_platforms(system: str, machine: str, expected: str) -> None:
    assert machine_name(system, machine) == expected


def test_systems() -> None:
    assert [system_name(name) for name in ("linux", "win32", "darwin", "freebsd14")] == [
        "linux",
        "windows",
        "macos",
        "freebsd14",
    ]
