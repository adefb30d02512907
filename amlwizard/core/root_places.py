"""What speaks for or against a folder because of where it lies and whose it is; told by its path and the system's lists.

Nothing is written, started or asked over the network.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.catalogue import Phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_PROGRAMS: Final = {
    "linux": ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/boot", "/dev", "/proc", "/sys", "/snap"),
    "macos": ("/System", "/Applications", "/Library", "/usr", "/bin", "/sbin", "/etc", "/private/etc", "/dev"),
}
_REMADE: Final = ("/dev", "/proc", "/sys")
"""Of those, what the system makes anew at every start: there is no disk behind it."""
_OF_SYSTEM: Final = ("/etc", "/private/etc", "/boot")
"""Of those, where it keeps its settings and what it starts with."""
_NOT_PROGRAMS: Final = ("/usr/local", "/usr/home")
_WINDOWS_PROGRAMS: Final = ("SYSTEMROOT", "WINDIR", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432")
_EVERYBODYS: Final = {
    "linux": ("/home", "/opt", "/var", "/srv", "/mnt", "/media", "/tmp", "/var/tmp", "/run", "/usr/local"),  # noqa: S108
    "macos": ("/Users", "/Volumes", "/opt", "/private", "/private/tmp", "/private/var", "/tmp", "/var", "/usr/local"),  # noqa: S108
}
_NETWORK: Final = frozenset(
    {"afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)
_NETWORK_PREFIXES: Final = ("fuse.sshfs", "fuse.rclone", "fuse.gcsfuse", "fuse.s3fs", "fuse.davfs")
_REMOTE: Final = "remote"
"""What a drive letter of Windows that leads to a server has among its options."""
_DRIVE_REMOTE: Final = 4
"""The same as a number (learn.microsoft.com, ``GetDriveTypeW``)."""


@dataclass(frozen=True)
class Mount:
    """A file system that is mounted; on Windows a drive."""

    point: str
    kind: str
    options: str = ""


def _drive_type(drive: str) -> int:
    """Ask Windows what kind of drive a letter is; that asks no server, and starts no motor."""
    import ctypes

    library: Any = ctypes
    return int(library.WinDLL("kernel32").GetDriveTypeW(drive))


def mounts(root: PurePath, system: str, drive_type: Callable[[str], int] = _drive_type) -> tuple[Mount, ...]:
    """Return the mounted file systems that a folder may lie on; on Windows its own drive alone.

    There the list of all would ask each drive for its volume, and a server that is gone answers late.

    Args:
        root: the folder, absolute, without links.
        system: ``linux``, ``windows`` or ``macos``.
        drive_type: what Windows says of a drive.
    """
    if system == "windows":
        drive = PureWindowsPath(root).anchor
        options = _REMOTE if not drive.startswith("\\\\") and drive_type(drive) == _DRIVE_REMOTE else ""
        return (Mount(drive, "", options),)
    import psutil

    return tuple(Mount(part.mountpoint, part.fstype, part.opts) for part in psutil.disk_partitions(all=True))


def is_everybodys(root: PurePath, environ: Mapping[str, str], system: str) -> bool:
    """Tell whether a folder holds the folders of many: one workspace cannot have it alone.

    Args:
        root: the folder, absolute, without links.
        environ: the variables of this process.
        system: ``linux``, ``windows`` or ``macos``.
    """
    if system == "windows":
        profiles = _upper(environ).get("USERPROFILE", "")
        return bool(profiles) and PureWindowsPath(root) == PureWindowsPath(profiles).parent
    return str(PurePosixPath(root)) in _EVERYBODYS.get(system, ())


def folder_of_programs(
    root: PurePath, environ: Mapping[str, str], system: str, own: Iterable[PurePath] = ()
) -> PurePath | None:
    """Return the folder of programs or of the system itself that a folder is or lies in, None where it lies in none.

    Updates and uninstallers of the system work there, and so does the protection of most systems. See ``what_lies_in``.

    Args:
        root: the folder, absolute, without links.
        environ: the variables of this process.
        system: ``linux``, ``windows`` or ``macos``.
        own: where this program itself is installed.
    """
    places: list[PurePath] = list(own)
    path: PurePath
    if system == "windows":
        path, upper = PureWindowsPath(root), _upper(environ)
        places += [PureWindowsPath(upper[name]) for name in _WINDOWS_PROGRAMS if upper.get(name)]
    else:
        path = PurePosixPath(root)
        if not any(path.is_relative_to(place) for place in _NOT_PROGRAMS):
            places += [PurePosixPath(place) for place in _PROGRAMS.get(system, ())]
    return next((place for place in places if path.is_relative_to(place)), None)


def what_lies_in(folder: PurePath) -> Phrase:
    """Return what a folder is for that ``folder_of_programs`` returned."""
    place = str(folder)
    if place in _REMADE:
        return Phrase("places.remade")
    return Phrase("places.of_system" if place in _OF_SYSTEM else "places.programs")


def server_of(root: PurePath, mounted: Iterable[Mount], system: str) -> str | None:
    """Return the kind of network file system that a folder lies on, None where it lies on a disk of this computer.

    Args:
        root: the folder, absolute, without links.
        mounted: as ``mounts`` returns them.
        system: ``linux``, ``windows`` or ``macos``.
    """
    make = PureWindowsPath if system == "windows" else PurePosixPath
    path = make(root)
    if system == "windows" and path.drive.startswith("\\\\") and not path.drive.startswith(("\\\\?\\", "\\\\.\\")):
        return path.drive
    around = [mount for mount in mounted if path.is_relative_to(make(mount.point))]
    if not around:
        return None
    # of two at one place, the later one hides the other
    mount = max(reversed(around), key=lambda each: len(make(each.point).parts))
    kind = mount.kind.lower()
    remote = kind in _NETWORK or kind.startswith(_NETWORK_PREFIXES) or _REMOTE in mount.options.split(",")
    return (mount.kind or mount.point) if remote else None


def is_roaming(root: PurePath, environ: Mapping[str, str], system: str) -> bool:
    """Tell whether a folder belongs to the part of a Windows profile that is copied from computer to computer."""
    roaming = _upper(environ).get("APPDATA", "") if system == "windows" else ""
    return bool(roaming) and PureWindowsPath(root).is_relative_to(PureWindowsPath(roaming))


def foreign_owner(root: Path) -> str | None:
    """Return whose folder it is where it is another account's, or None; on Windows always None.

    Of a folder that is not there yet, the one counts that it would come into, if this is the system's administrator: as
    ``sudo`` keeps the home folder of the user, everything made there would be the administrator's.
    """
    if os.name == "nt":
        return None
    me = os.geteuid()
    if not os.path.exists(root) and me != 0:  # noqa: PTH110 - it does not raise where a folder may not be entered
        return None
    place = next(folder for folder in (root, *root.parents) if folder.exists())
    owner = place.stat().st_uid
    if owner == me:
        return None
    import pwd

    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return str(owner)


def _upper(environ: Mapping[str, str]) -> dict[str, str]:
    return {name.upper(): value for name, value in environ.items()}
