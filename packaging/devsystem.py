"""What the system itself has to bring: libraries that Qt loads, and tools that tests use, by their Debian packages.

As root, missing packages are installed by apt-get; otherwise the exact command is named.
"""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devenv import SetUpError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Library:
    """A shared library, by the name that the loader looks for."""

    package: str
    soname: str

    def __str__(self) -> str:
        return self.soname

    def is_there(self) -> bool:
        """Tell whether the loader finds it."""
        try:
            ctypes.CDLL(self.soname)
        except OSError:
            return False
        return True


@dataclass(frozen=True)
class Program:
    """A program on PATH, or in the folders of the administrator's programs."""

    package: str
    name: str

    def __str__(self) -> str:
        return self.name

    def is_there(self) -> bool:
        """Tell whether it is found."""
        path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
        return shutil.which(self.name, path=path) is not None


@dataclass(frozen=True)
class Font:
    """Any font whose file name fits one of the patterns."""

    package: str
    purpose: str
    patterns: tuple[str, ...]

    def __str__(self) -> str:
        return self.purpose

    def is_there(self) -> bool:
        """Tell whether a file of such a name is installed."""
        homes = ("/usr/share/fonts", "/usr/local/share/fonts")
        return any(glob.glob(f"{home}/**/{pattern}", recursive=True) for home in homes for pattern in self.patterns)  # noqa: PTH207


@dataclass(frozen=True)
class Module:
    """A module of the standard library that a distribution keeps in a package of its own."""

    package: str
    name: str

    def __str__(self) -> str:
        return f"Python's module {self.name}"

    def is_there(self) -> bool:
        """Tell whether this interpreter has it."""
        return importlib.util.find_spec(self.name) is not None


Need = Library | Program | Font | Module

# Debian's python3-venv follows the default Python; another one has a package of its own version.
_MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"
_ENVIRONMENT: tuple[Need, ...] = (Module(f"python{_MINOR}-venv", "ensurepip"), Module(f"python{_MINOR}-venv", "venv"))
_QT: tuple[Need, ...] = (
    Library("libglib2.0-0", "libglib-2.0.so.0"),  # Debian 13 calls it libglib2.0-0t64, which answers to this name
    Library("libgl1", "libGL.so.1"),
    Library("libegl1", "libEGL.so.1"),
    Library("libfontconfig1", "libfontconfig.so.1"),
    Library("libdbus-1-3", "libdbus-1.so.3"),
    Library("libxkbcommon0", "libxkbcommon.so.0"),
    Font("fonts-dejavu-core", "a font", ("*.ttf", "*.otf", "*.ttc")),
)
_SCREEN: tuple[Need, ...] = (
    Library("libxcb-cursor0", "libxcb-cursor.so.0"),
    Library("libxcb-icccm4", "libxcb-icccm.so.4"),
    Library("libxcb-keysyms1", "libxcb-keysyms.so.1"),
    Library("libxcb-shape0", "libxcb-shape.so.0"),
    Library("libxcb-xkb1", "libxcb-xkb.so.1"),
    Library("libxkbcommon-x11-0", "libxkbcommon-x11.so.0"),
    Library("libxcb-render-util0", "libxcb-render-util.so.0"),
)
_CHINESE = ("wqy*", "*CJK*", "*SourceHan*", "uming*", "ukai*", "*Fallback*")
_TESTS: tuple[Need, ...] = (
    Font("fonts-wqy-microhei", "a font with Chinese letters", _CHINESE),
    Program("xvfb", "Xvfb"),
    Program("xauth", "xauth"),
    Program("xdotool", "xdotool"),
    Program("git", "git"),
    Program("iproute2", "ip"),
    Program("mount", "mount"),
    Program("util-linux", "unshare"),
)
NEEDS: dict[str, tuple[Need, ...]] = {
    "text": _ENVIRONMENT,
    "window": (*_ENVIRONMENT, *_QT, *_SCREEN),
    "test": (*_ENVIRONMENT, *_QT, *_SCREEN, *_TESTS),
}


def provide(purpose: str) -> None:
    """Make sure that the system has what the purpose needs.

    Raises:
        SetUpError: something is missing and cannot be installed by this user, or on this system.
    """
    missing = _missing(purpose)
    if not missing:
        return
    names = ", ".join(map(str, missing))
    packages = sorted({need.package for need in missing})
    if shutil.which("apt-get") is None:
        raise SetUpError(f"this system lacks {names}. Install what brings them (on Debian: {' '.join(packages)}).")
    if os.geteuid() != 0:
        command = f"apt-get update && apt-get install -y --no-install-recommends {' '.join(packages)}"
        raise SetUpError(
            f"this system lacks {names}. As an administrator, install them and start again:\n\n  sudo sh -c '{command}'\n"
        )
    print(f"dev.py: installing system packages: {' '.join(packages)}", file=sys.stderr, flush=True)
    _install(packages)
    importlib.invalidate_caches()
    still = _missing(purpose)
    if still:
        raise SetUpError(f"apt-get installed {' '.join(packages)}, and yet this system lacks {', '.join(map(str, still))}.")


def _missing(purpose: str) -> list[Need]:
    needs = NEEDS[purpose] if sys.platform == "linux" else _ENVIRONMENT
    return [need for need in needs if not need.is_there()]


def _install(packages: Sequence[str]) -> None:
    """Install packages; the lists of what exists are fetched where there are none, or where they turn out to be too old."""
    if glob.glob("/var/lib/apt/lists/*_Packages*") and _apt("install", *packages) == 0:  # noqa: PTH207
        return
    if _apt("update") or _apt("install", *packages):
        raise SetUpError(f"apt-get could not install {' '.join(packages)}; the reason stands above.")


def _apt(action: str, *packages: str) -> int:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    options = ["-q", "-o", "DPkg::Lock::Timeout=300"]  # another installation may be under way
    command = ["apt-get", *options, action, *(["-y", "--no-install-recommends", *packages] if packages else [])]
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=2, check=False).returncode
