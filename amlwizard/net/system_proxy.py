"""The proxy settings of Windows and macOS; elsewhere only the environment speaks of proxies.

Reading the settings and making sense of them are kept apart, so that the sense can be tested on any system.
"""

from __future__ import annotations

import sys
import urllib.request
from dataclasses import dataclass, field

from amlwizard.net.exceptions import LOCAL, LOOPBACK, ProxyExceptions

_THROUGH_PROXY = "<-loopback>"
"""With this entry, Windows uses the proxy for this computer itself as well."""


@dataclass(frozen=True)
class SystemProxy:
    """Proxies by the scheme of the address, and the hosts that are reached without."""

    proxies: dict[str, str] = field(default_factory=dict)
    exceptions: ProxyExceptions = field(default_factory=ProxyExceptions)


def system_proxy() -> SystemProxy:
    """Read what the user set in the system's own settings."""
    if sys.platform == "win32":
        return _windows()
    if sys.platform == "darwin":
        return _macos()
    return SystemProxy()


def from_windows(proxies: dict[str, str], override: str) -> SystemProxy:
    """Make sense of the registry: ``override`` is ``ProxyOverride``, such as ``10.*;*.example.org;<local>``."""
    entries = [entry.strip() for entry in override.lower().split(";") if entry.strip()]
    if _THROUGH_PROXY not in entries:
        entries += LOOPBACK
    return SystemProxy(_usable(proxies), ProxyExceptions(tuple(entry for entry in entries if entry != _THROUGH_PROXY)))


def from_macos(proxies: dict[str, str], exceptions: list[str], *, exclude_simple: bool) -> SystemProxy:
    """Make sense of the system configuration: exceptions such as ``*.local`` and ``169.254/16``."""
    entries = [*(entry.lower() for entry in exceptions if entry), *LOOPBACK]
    return SystemProxy(_usable(proxies), ProxyExceptions((*entries, LOCAL) if exclude_simple else tuple(entries)))


def _usable(proxies: dict[str, str]) -> dict[str, str]:
    return {scheme: proxies[scheme] for scheme in ("http", "https") if proxies.get(scheme)}


if sys.platform == "win32":

    def _windows() -> SystemProxy:
        import winreg

        place = r"Software\Microsoft\Windows\CurrentVersion\Internet Settings"
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, place) as settings:
                override = str(winreg.QueryValueEx(settings, "ProxyOverride")[0])
        except OSError:
            override = ""
        return from_windows(urllib.request.getproxies_registry(), override)


if sys.platform == "darwin":

    def _macos() -> SystemProxy:
        import _scproxy

        settings = _scproxy._get_proxy_settings()  # noqa: SLF001 - the one way that the standard library has
        proxies = urllib.request.getproxies_macosx_sysconf()
        return from_macos(
            proxies, list(settings.get("exceptions", ())), exclude_simple=bool(settings.get("exclude_simple"))
        )
