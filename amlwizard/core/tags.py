"""Which wheels an interpreter can install: its compatibility tags, best first, without starting it again."""

from __future__ import annotations

import platform
import re
import struct
import sysconfig
from typing import TYPE_CHECKING, Final

from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms, platform_tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from amlwizard.core.facts import PythonFacts

GLIBC_FLOOR: Final = (2, 34)
"""The glibc that is assumed for a Linux computer that is not this one."""
MACOS_FLOOR: Final = (14, 0)
"""The macOS that is assumed for a Mac that is not this one."""

_LIBC_VERSION: Final = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.|$)", re.ASCII)
_LEGACY_MANYLINUX: Final = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


def wheel_tags(python: PythonFacts) -> list[Tag]:
    """Return the tags of an interpreter of this computer, as ``packaging.tags.sys_tags`` would give them there.

    For an implementation other than CPython only the wheels without compiled parts count.
    """
    platforms = list(_platforms(python))
    return _tags(
        python.version[:2],
        platforms,
        free_threaded=python.free_threaded,
        debug="d" in python.abi_flags,
        cpython=python.implementation.lower() == "cpython",
    )


def own_wheel_tags(version: tuple[int, int]) -> list[Tag]:
    """Return the tags of a CPython of this computer that nobody has started."""
    return _tags(version, list(platform_tags()))


def platform_wheel_tags(
    name: str, version: tuple[int, int], *, glibc: tuple[int, int] = GLIBC_FLOOR, macos: tuple[int, int] = MACOS_FLOOR
) -> list[Tag]:
    """Return the tags of a CPython on another computer.

    Args:
        name: one of the platforms of DESIGN 7, such as ``linux-x86_64``.
        version: major and minor version of Python.
        glibc: the oldest glibc of that computer, where it is a Linux one.
        macos: the oldest macOS of that computer, where it is a Mac.
    """
    system, _, machine = name.partition("-")
    if system == "linux":
        platforms = list(_linux_platforms(machine, "glibc", ".".join(map(str, glibc))))
    elif system == "macos":
        platforms = list(mac_platforms(macos, machine))
    else:
        platforms = [{"x86_64": "win_amd64", "arm64": "win_arm64"}[machine]]
    return _tags(version, platforms)


def _tags(
    version: tuple[int, int],
    platforms: list[str],
    *,
    free_threaded: bool = False,
    debug: bool = False,
    cpython: bool = True,
) -> list[Tag]:
    if not cpython:
        return list(compatible_tags(version, None, platforms))
    interpreter = f"cp{version[0]}{version[1]}"
    abi = f"{interpreter}{'t' if free_threaded else ''}"
    abis = [f"{abi}d", abi] if debug else [abi]
    return [*cpython_tags(version, abis, platforms), *compatible_tags(version, interpreter, platforms)]


def _platforms(python: PythonFacts) -> Iterable[str]:
    tag = python.platform_tag
    if tag.startswith("macosx"):
        return mac_platforms(None, python.machine)
    if not tag.startswith("linux"):
        return [tag.replace("-", "_").replace(".", "_")]
    same_kind = (
        tag == sysconfig.get_platform()
        and python.bits == struct.calcsize("P") * 8
        and python.libc[0] == platform.libc_ver()[0]
    )
    if same_kind:
        return platform_tags()
    machine = tag.partition("-")[2]
    if python.bits == 32 and machine == "x86_64":
        machine = "i686"
    return _linux_platforms(machine, *python.libc)


def _linux_platforms(machine: str, libc: str, version: str) -> Iterator[str]:
    yield f"linux_{machine}"
    match = _LIBC_VERSION.match(version)
    if match is None:
        return
    major, minor = match.groups()
    if libc == "glibc":
        oldest = 5 if machine in {"x86_64", "i686"} else 17
        for number in range(int(minor), oldest - 1, -1):
            yield f"manylinux_{major}_{number}_{machine}"
            if number in _LEGACY_MANYLINUX:
                yield f"{_LEGACY_MANYLINUX[number]}_{machine}"
    elif libc == "musl":
        for number in range(int(minor), -1, -1):
            yield f"musllinux_{major}_{number}_{machine}"
