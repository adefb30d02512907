"""What kind of computer this is: read from the system in a few milliseconds, without starting a program."""

from __future__ import annotations

import os
import sys

from amlwizard.core.facts import Host

_SYSTEMS = {"linux": "linux", "win32": "windows", "cygwin": "windows", "darwin": "macos"}
_MACHINES = {
    "amd64": "x86_64",
    "x64": "x86_64",
    "x86-64": "x86_64",
    "i386": "i686",
    "i486": "i686",
    "i586": "i686",
    "x86": "i686",
}
_WINDOWS_MACHINES = {0x8664: "x86_64", 0xAA64: "arm64", 0x014C: "i686"}


def host_facts() -> Host:
    """Return the facts of this computer; the machine is the native one, also under Rosetta and WOW64."""
    system = system_name(sys.platform)
    return Host(
        system=system,
        machine=machine_name(system, _native_machine()),
        release=_release(),
        libc=_libc(),
        cpu_count=_cpu_count(),
        memory_bytes=_memory_bytes(),
    )


def system_name(sys_platform: str) -> str:
    """Return ``linux``, ``windows`` or ``macos`` for a value of ``sys.platform``, and any other value as it is."""
    return _SYSTEMS.get(sys_platform, sys_platform)


def machine_name(system: str, machine: str) -> str:
    """Return a machine's name as the platforms are spelt: 64-bit ARM is ``aarch64`` on Linux, ``arm64`` elsewhere."""
    lower = machine.lower()
    if lower in {"arm64", "aarch64"}:
        return "aarch64" if system == "linux" else "arm64"
    return _MACHINES.get(lower, lower)


if sys.platform == "win32":

    def _native_machine() -> str:
        """Ask the kernel, because the environment of an emulated process names the emulated processor."""
        import ctypes
        import platform
        from ctypes import wintypes

        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        process_machine, native_machine = wintypes.USHORT(0), wintypes.USHORT(0)
        kernel32.GetCurrentProcess.restype = wintypes.HANDLE
        try:
            is_wow64_process2 = kernel32.IsWow64Process2
        except AttributeError:  # before Windows 10 1709
            return os.environ.get("PROCESSOR_ARCHITEW6432") or os.environ.get("PROCESSOR_ARCHITECTURE", "")
        is_wow64_process2.argtypes = (wintypes.HANDLE, ctypes.POINTER(wintypes.USHORT), ctypes.POINTER(wintypes.USHORT))
        process = kernel32.GetCurrentProcess()
        if not is_wow64_process2(process, ctypes.byref(process_machine), ctypes.byref(native_machine)):
            return platform.machine()
        return _WINDOWS_MACHINES.get(native_machine.value, platform.machine())

else:

    def _native_machine() -> str:
        machine = os.uname().machine
        return "arm64" if sys.platform == "darwin" and machine == "x86_64" and _is_apple_silicon() else machine


def _is_apple_silicon() -> bool:
    """Ask the kernel, because under Rosetta uname answers for the emulated processor."""
    import ctypes

    value = ctypes.c_int(0)
    size = ctypes.c_size_t(ctypes.sizeof(value))
    answer = ctypes.CDLL(None).sysctlbyname(b"hw.optional.arm64", ctypes.byref(value), ctypes.byref(size), None, 0)
    return bool(answer == 0 and value.value == 1)


def _release() -> str:
    if sys.platform == "darwin":
        import platform

        return platform.mac_ver()[0]
    if sys.platform == "win32":
        import platform

        return platform.version()
    return os.uname().release


def _libc() -> str:
    if not sys.platform.startswith("linux"):
        return ""
    try:
        glibc = os.confstr("CS_GNU_LIBC_VERSION")
    except (OSError, ValueError):
        glibc = None
    if glibc:
        return glibc
    from packaging.tags import platform_tags

    for tag in platform_tags():
        if tag.startswith("musllinux_"):
            _, major, minor, *_ = tag.split("_")
            return f"musl {major}.{minor}"
    return ""


def _cpu_count() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))  # a container may be given fewer than there are
    return os.cpu_count() or 1


def _memory_bytes() -> int:
    if sys.platform == "win32":
        import psutil

        return psutil.virtual_memory().total
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
