"""Whether the files of an environment have names that the system allows: Windows ends paths at 259 characters."""

from __future__ import annotations

import sys
import zipfile
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Final

from amlwizard.core.errors import AmlError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path, PurePath

LIMIT: Final = 259
"""The longest path of a file on a Windows without long paths; MAX_PATH counts the final zero as well."""
ROOT_LIMIT: Final = 90
"""A root that is longer is worth a word before anything is known of the packages: the longest files of large ones, such as
torch, take some 165 characters below it."""
_IN_CACHE: Final = f"cache\\archive-v0\\{'x' * 21}\\"
"""Where uv unpacks a wheel; longer than the way into the staged environment."""
_STAGED: Final = ".venv.staged\\Lib\\site-packages\\"


def has_short_paths(system: str) -> bool:
    """Tell whether paths end at ``LIMIT`` here."""
    return system == "windows" and not _long_paths_enabled()


def refuse_long_paths(root: PurePath, wheels: Iterable[Path]) -> None:
    """Compute from the wheels how long the longest path will be, while nothing has been unpacked. Blocks: it reads them.

    Raises:
        AmlError: ``AML_PATH_TOO_LONG`` with the file, its length, and how long the root may be.
    """
    entry = max((longest_entry(wheel) for wheel in wheels), key=len, default="")
    path = PureWindowsPath(root, max(_IN_CACHE, _STAGED, key=len) + entry)
    length = len(str(path))
    if entry and length > LIMIT:
        allowed = len(str(root)) - (length - LIMIT)
        raise AmlError("AML_PATH_TOO_LONG", root=str(root), file=entry, length=length, limit=LIMIT, allowed=allowed)


def longest_entry(wheel: Path) -> str:
    """Return the longest path in a wheel, as it is below ``site-packages``; empty where the wheel cannot be read."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return ""  # whoever installs it says what is wrong
    return max(names, key=len, default="")


if sys.platform == "win32":

    def _long_paths_enabled() -> bool:
        import winreg

        key = "SYSTEM\\CurrentControlSet\\Control\\FileSystem"
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as handle:
                return bool(winreg.QueryValueEx(handle, "LongPathsEnabled")[0])
        except OSError:
            return False

else:

    def _long_paths_enabled() -> bool:
        return False
