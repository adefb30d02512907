"""The computer that a bundle is for: how uv names it, and an interpreter of it that nobody can start here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.bundle.names import PLATFORMS
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.facts import Host, PythonFacts, minor_of
from amlwizard.core.lock import FileKind, LockedFile, select
from amlwizard.core.tags import platform_wheel_tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.pylock import Package, Pylock
    from packaging.tags import Tag

GLIBC: Final = ((2, 17), (2, 28), (2, 34))
"""The glibc that is tried, the oldest first: a bundle is to work on as many computers as its packages allow."""
MACOS: Final = ((11, 0), (12, 0), (13, 0), (14, 0))
"""The same for macOS."""

_UV_NAMES: Final = {
    "linux-x86_64": "x86_64-manylinux_2_34",
    "linux-aarch64": "aarch64-manylinux_2_34",
    "windows-x86_64": "x86_64-pc-windows-msvc",
    "windows-arm64": "aarch64-pc-windows-msvc",
    "macos-arm64": "aarch64-apple-darwin",
    "macos-x86_64": "x86_64-apple-darwin",
}
_SYSTEMS: Final = {
    "linux": ("posix", "linux", "Linux"),
    "windows": ("nt", "win32", "Windows"),
    "macos": ("posix", "darwin", "Darwin"),
}
_WINDOWS_MACHINES: Final = {"x86_64": "AMD64", "arm64": "ARM64"}


@dataclass(frozen=True)
class Target:
    """A platform of DESIGN 7 and the full version of a Python on it."""

    platform: str
    python: str

    @property
    def minor(self) -> str:
        """The version as ``3.11``."""
        return minor_of(self.python)

    @property
    def uv_platform(self) -> str:
        """How uv names the platform."""
        return _UV_NAMES[self.platform]

    @property
    def host(self) -> Host:
        """The computer as detection would describe it there, as far as that matters."""
        system, _, machine = self.platform.partition("-")
        return Host(system, machine, "", "glibc 2.34" if system == "linux" else "", 1, 0)

    @property
    def facts(self) -> PythonFacts:
        """The interpreter as it would describe itself there."""
        system, _, machine = self.platform.partition("-")
        os_name, sys_platform, system_name = _SYSTEMS[system]
        if system == "windows":
            machine = _WINDOWS_MACHINES[machine]
        major, minor, patch = (int(part) for part in self.python.split("."))
        return PythonFacts(
            executable=Path(),
            base_prefix=Path(),
            version=(major, minor, patch),
            release="final",
            bits=64,
            machine=machine,
            implementation="CPython",
            has_venv=True,
            has_ensurepip=True,
            in_venv=False,
            platform_tag=self.platform,
            abi_flags="",
            free_threaded=False,
            libc=("glibc", "2.34") if system == "linux" else ("", ""),
            marker_environment={
                "implementation_name": "cpython",
                "implementation_version": self.python,
                "os_name": os_name,
                "platform_machine": machine,
                "platform_python_implementation": "CPython",
                "platform_release": "",
                "platform_system": system_name,
                "platform_version": "",
                "python_full_version": self.python,
                "python_version": self.minor,
                "sys_platform": sys_platform,
            },
        )

    def tag_sets(self) -> Iterator[list[Tag]]:
        """Yield what the interpreter can install, for an old system of the platform first and then for newer ones."""
        version = self.facts.version[:2]
        system = self.platform.partition("-")[0]
        if system == "linux":
            yield from (platform_wheel_tags(self.platform, version, glibc=glibc) for glibc in GLIBC)
        elif system == "macos":
            yield from (platform_wheel_tags(self.platform, version, macos=macos) for macos in MACOS)
        else:
            yield platform_wheel_tags(self.platform, version)


def check_platform(name: str) -> str:
    """Return the name of a platform.

    Raises:
        RefusedError: ``AML_BUNDLE_PLATFORM_UNKNOWN``.
    """
    if name not in PLATFORMS:
        raise RefusedError("AML_BUNDLE_PLATFORM_UNKNOWN", name=name, known=", ".join(PLATFORMS))
    return name


def wheels_for(lock: Pylock, target: Target, *, path: Path) -> list[LockedFile]:
    """Choose a wheel of every package for a target: those that work on the oldest system for which there is a whole set.

    Args:
        lock: what was resolved.
        target: the computer.
        path: where the lock lies, to which its own paths are relative.

    Raises:
        AmlError: ``AML_BUNDLE_NO_WHEELS`` with every package that has none; ``AML_LOCK_*`` for a lock made for others.
    """
    tags: list[Tag] = []
    for tags in target.tag_sets():
        try:
            files = select(lock, target.facts, lock=path, tags=tags)
        except AmlError as error:
            if not error.code.startswith(("AML_NO_WHEEL", "AML_LOCK_INVALID")):
                raise
            continue
        if all(file.kind is FileKind.WHEEL and not file.editable for file in files):
            return files
    missing = [_described(package) for package in lock.packages if not _has_wheel(package, target, set(tags))]
    raise AmlError(
        "AML_BUNDLE_NO_WHEELS",
        packages=", ".join(missing),
        platform=target.platform,
        python=target.minor,
        count=len(missing),
    )


def _has_wheel(package: Package, target: Target, tags: set[Tag]) -> bool:
    from packaging.utils import parse_wheel_filename

    if package.marker is not None and not package.marker.evaluate(target.facts.marker_environment, context="lock_file"):
        return True  # it is not needed there
    names = [wheel.filename for wheel in package.wheels or ()]
    if package.archive is not None:
        names.append((package.archive.url or package.archive.path or "").rpartition("/")[2])
    return any(name.endswith(".whl") and parse_wheel_filename(name)[3] & tags for name in names)


def _described(package: Package) -> str:
    return f"{package.name} {package.version}" if package.version is not None else package.name
