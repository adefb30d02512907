"""Folders that a cloud service keeps in step with its servers.

There hard links are refused, files turn into placeholders while nobody looks, and every rebuild uploads gigabytes.
"""

from __future__ import annotations

import re
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLES: Final = {"ONEDRIVE": "OneDrive", "ONEDRIVECONSUMER": "OneDrive", "ONEDRIVECOMMERCIAL": "OneDrive"}
_PARTS: Final = (
    (re.compile(r"onedrive( - .+|-.+)?"), "OneDrive"),
    (re.compile(r"dropbox( \(.+\)|-.+)?"), "Dropbox"),
    (re.compile(r"icloud ?drive|com~apple~clouddocs"), "iCloud"),
    (re.compile(r"google ?drive(-.+)?"), "Google Drive"),
)
_MACOS_PARENTS: Final = {("Library", "Mobile Documents"): "iCloud", ("Library", "CloudStorage"): ""}


def cloud_service(root: PurePath, environ: Mapping[str, str], system: str) -> str | None:
    """Return the name of the service that keeps a folder in step, or None; by its name and place, nothing is asked.

    Args:
        root: the folder, absolute; also the one that links lead to, where it is another.
        environ: the variables of this process.
        system: ``linux``, ``windows`` or ``macos``.
    """
    path = PureWindowsPath(root) if system == "windows" else PurePosixPath(root)
    if system == "windows":
        for name, value in environ.items():
            service = _VARIABLES.get(name.upper())
            if service is not None and value and path.is_relative_to(PureWindowsPath(value)):
                return service
    for part in path.parts:
        for pattern, service in _PARTS:
            if pattern.fullmatch(part.lower()):
                return service
    if system == "macos":
        for first, second, third in zip(path.parts, path.parts[1:], (*path.parts[2:], ""), strict=False):
            if (first, second) in _MACOS_PARENTS:
                return _MACOS_PARENTS[first, second] or third.partition("-")[0] or second
    return None
