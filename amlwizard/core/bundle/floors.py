"""The oldest system on which a set of wheels can work, told by their tags."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_GLIBC: Final = re.compile(r"manylinux_(\d+)_(\d+)_\w+", re.ASCII)
_LEGACY_GLIBC: Final = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
_MACOS: Final = re.compile(r"macosx_(\d+)_(\d+)_\w+", re.ASCII)
_VERSION: Final = re.compile(r"(\d{1,3})\.(\d{1,3})", re.ASCII)

Version = tuple[int, int]


@dataclass(frozen=True)
class Floor:
    """The oldest glibc (Linux) or macOS that will do; None where the wheels ask for nothing."""

    glibc: Version | None = None
    macos: Version | None = None

    def to_json(self) -> dict[str, str]:
        """Return plain JSON values, such as ``{"glibc": "2.28"}``."""
        return {
            name: ".".join(map(str, version))
            for name, version in (("glibc", self.glibc), ("macos", self.macos))
            if version is not None
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Floor | None:
        """Read what ``to_json`` wrote; None where it is something else."""
        versions: dict[str, Version] = {}
        for name, value in content.items():
            version = parse_version(value) if isinstance(value, str) else None
            if name not in {"glibc", "macos"} or version is None:
                return None
            versions[name] = version
        return cls(**versions)

    def __str__(self) -> str:
        names = {"glibc": "glibc", "macos": "macOS"}
        return ", ".join(f"{names[name]} {version}" for name, version in self.to_json().items())


def parse_version(text: str) -> Version | None:
    """Return a version such as ``2.36`` as numbers, or None."""
    match = _VERSION.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def floor_of(wheels: Iterable[str], built_here: Version | None = None) -> Floor:
    """Return the floor of wheels, by their file names.

    Args:
        wheels: file names; a wheel with several tags needs only the least of them.
        built_here: this computer's glibc, which wheels without a promise (``linux_x86_64``) need.
    """
    from packaging.utils import parse_wheel_filename  # takes long to load, and the window starts without it

    glibc: list[Version] = []
    macos: list[Version] = []
    for name in wheels:
        platforms = {tag.platform for tag in parse_wheel_filename(name)[3]}
        if "any" in platforms:
            continue
        known = [version for version in map(_glibc, platforms) if version is not None]
        if known:
            glibc.append(min(known))
        elif built_here is not None and any(platform.startswith("linux_") for platform in platforms):
            glibc.append(built_here)
        of_mac = [(int(match[1]), int(match[2])) for match in map(_MACOS.fullmatch, platforms) if match]
        if of_mac:
            macos.append(min(of_mac))
    return Floor(max(glibc, default=None), max(macos, default=None))


def _glibc(platform: str) -> Version | None:
    match = _GLIBC.fullmatch(platform)
    if match:
        return int(match[1]), int(match[2])
    return next((version for name, version in _LEGACY_GLIBC.items() if platform.startswith(f"{name}_")), None)
