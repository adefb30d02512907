"""Interpreters that Windows knows of: the registry (PEP 514), the py launcher, and the Store's placeholders."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LAUNCHER_ARGUMENTS: Final = ("-0p",)
_LAUNCHER_LINE: Final = re.compile(r"\s*-(?:V:)?\S+\s+(?:\*\s+)?(?P<path>[A-Za-z]:\\.+?|/.+?)\s*")


class Registry(Protocol):
    """The part of the registry that is read; a view is a hive with a word size, such as ``HKCU`` or ``HKLM32``."""

    def views(self) -> Iterable[str]:
        """Return the views in the order of preference."""
        ...

    def subkeys(self, view: str, key: str) -> list[str]:
        """Return the names below a key; none where it is absent."""
        ...

    def value(self, view: str, key: str, name: str) -> str | None:
        """Return a text value; the empty name is the key's own."""
        ...


def registered_pythons(registry: Registry) -> Iterator[Path]:
    """Yield the interpreters that the registry names, each once."""
    seen: set[str] = set()
    base = "Software\\Python"
    for view in registry.views():
        for company in registry.subkeys(view, base):
            if company == "PyLauncher":  # PEP 514 reserves it for the launcher's own settings
                continue
            for tag in registry.subkeys(view, f"{base}\\{company}"):
                path = _registered_path(registry, view, f"{base}\\{company}\\{tag}\\InstallPath")
                if path is not None and str(path).lower() not in seen:
                    seen.add(str(path).lower())
                    yield path


def _registered_path(registry: Registry, view: str, key: str) -> Path | None:
    executable = registry.value(view, key, "ExecutablePath")
    if executable:
        return Path(executable)
    folder = registry.value(view, key, "")
    return Path(folder) / "python.exe" if folder else None


def launcher_pythons(lines: Iterable[str]) -> list[Path]:
    """Return the paths in the answer of ``py -0p``."""
    found = (_LAUNCHER_LINE.fullmatch(line) for line in lines)
    return [Path(match["path"]) for match in found if match is not None]


def is_store_placeholder(path: Path, size: int) -> bool:
    """Tell whether a file is an alias that the Store put on PATH.

    An alias is an empty file; starting it may open the Store. A Python that is really installed from there is found by the
    registry.
    """
    parts = [part.lower() for part in path.parts]
    return size == 0 and "windowsapps" in parts and "microsoft" in parts


if sys.platform == "win32":
    import winreg

    class SystemRegistry:
        """The registry of this computer."""

        _VIEWS: Final = {
            "HKCU": (winreg.HKEY_CURRENT_USER, 0),
            "HKLM64": (winreg.HKEY_LOCAL_MACHINE, winreg.KEY_WOW64_64KEY),
            "HKLM32": (winreg.HKEY_LOCAL_MACHINE, winreg.KEY_WOW64_32KEY),
        }

        def views(self) -> Iterable[str]:
            """Return the views in the order of preference."""
            return self._VIEWS

        def subkeys(self, view: str, key: str) -> list[str]:
            """Return the names below a key; none where it is absent."""
            hive, access = self._VIEWS[view]
            try:
                with winreg.OpenKey(hive, key, access=winreg.KEY_READ | access) as handle:
                    return [winreg.EnumKey(handle, index) for index in range(winreg.QueryInfoKey(handle)[0])]
            except OSError:
                return []

        def value(self, view: str, key: str, name: str) -> str | None:
            """Return a text value; the empty name is the key's own."""
            hive, access = self._VIEWS[view]
            try:
                with winreg.OpenKey(hive, key, access=winreg.KEY_READ | access) as handle:
                    value = winreg.QueryValueEx(handle, name)[0]
            except OSError:
                return None
            return value if isinstance(value, str) else None


def system_registry() -> Registry | None:
    """Return the registry of this computer, or None where there is none."""
    if sys.platform == "win32":
        return SystemRegistry()
    return None
