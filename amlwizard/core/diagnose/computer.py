"""The computer around the workspace: its name, its file systems, and the way to the network as it is set."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.data_text import parse_toml
from amlwizard.core.diagnose.redaction import host_of
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.system_errors import reason_of
from amlwizard.core.temporary import system_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.paths import Workspace

_PROXIES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
_HOSTS: Final = 20


@dataclass(frozen=True)
class Disk:
    """One file system; ``places`` are those of ours that lie on it. ``free`` is None where it does not tell, and why."""

    places: tuple[str, ...]
    free: int | None
    total: int | None
    read_only: bool = False
    no_programs: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Network:
    """How the network is reached, by hosts alone. ``proxies`` are by variable; ``routes`` by host: the proxy, or None."""

    proxies: dict[str, str]
    exceptions: str
    certificates: str
    """The file or folder that takes the place of the system's own, else empty."""
    own_index: bool
    routes: dict[str, str | None]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "proxies": self.proxies,
            "exceptions": self.exceptions,
            "certificates": self.certificates or "system",
            "own_index": self.own_index,
            "routes": self.routes,
        }


def system_label() -> str:
    """Return the system's name as its maker writes it."""
    if sys.platform.startswith("linux"):
        with suppress(OSError):
            return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    return " ".join(part for part in (platform.system(), platform.release()) if part)


def disks(workspace: Workspace, folder: Path | None) -> list[Disk]:
    """Return the file systems on which the workspace, the temporary folder and, if there is one, a report's lie."""
    own = (workspace.root, workspace.venv, workspace.downloads, workspace.cache, workspace.interpreters)
    places = (*own, system_folder(), *([folder] if folder is not None else []))
    found: dict[Any, list[str]] = {}
    standing: dict[Any, Path] = {}
    for place in places:
        existing = _existing(place)
        try:
            device: Any = existing.stat().st_dev
        except OSError:
            device = str(existing)
        standing.setdefault(device, existing)
        if str(place) not in (listed := found.setdefault(device, [])):
            listed.append(str(place))
    return [_disk(standing[device], tuple(listed)) for device, listed in found.items()]


def network(choices: Choices, fetcher: Fetcher, workspace: Workspace) -> Network:
    """Return how the network would be reached; nobody is asked anything."""
    told = fetcher.child_environment({})
    hosts: dict[str, str | None] = {}
    for address in _addresses(choices, workspace):
        if len(hosts) < _HOSTS:
            hosts.setdefault(host_of(address), fetcher.proxy_for(address))
    return Network(
        proxies={name: host_of(told[name]) for name in _PROXIES if told.get(name)},
        exceptions=told.get("NO_PROXY", ""),
        certificates=certificates(fetcher),
        own_index=choices.index_url is not None,
        routes=hosts,
    )


def certificates(fetcher: Fetcher) -> str:
    """Return the file or folder of certificates that takes the place of the system's own, else empty."""
    told = fetcher.child_environment({})
    return told.get("SSL_CERT_FILE") or told.get("SSL_CERT_DIR", "")


def _addresses(choices: Choices, workspace: Workspace) -> Iterator[str]:
    """Yield what a run would ask: the indexes, and whatever the lock names."""
    chosen = (choices.index_url, *choices.extra_index_urls, *choices.find_links, choices.python_downloads_json)
    yield from (address for address in chosen if address and address.startswith(("http://", "https://")))
    yield from locked_addresses(workspace.lock)


def locked_addresses(lock: Path) -> Iterator[str]:
    """Give the addresses of all files that a lock names; none where it cannot be read."""
    try:
        packages = parse_toml(read_plain_text(lock)).get("packages", [])
    except (OSError, ValueError):
        return
    for package in packages if isinstance(packages, list) else []:
        if isinstance(package, dict):
            wheels = package.get("wheels")
            for source in [*(wheels if isinstance(wheels, list) else []), package.get("sdist"), package.get("archive")]:
                url = source.get("url") if isinstance(source, dict) else None
                if isinstance(url, str) and url.startswith(("http://", "https://")):
                    yield url


def _existing(place: Path) -> Path:
    """Return the folder that is there, or that would hold what is not."""
    return next((folder for folder in (place, *place.parents) if os.path.lexists(folder)), place)


def _disk(folder: Path, places: tuple[str, ...]) -> Disk:
    try:
        usage = shutil.disk_usage(folder)
    except OSError as error:
        return Disk(places, None, None, reason=reason_of(error))
    flags = os.statvfs(folder).f_flag if hasattr(os, "statvfs") else 0
    return Disk(
        places,
        usage.free,
        usage.total,
        read_only=bool(flags & getattr(os, "ST_RDONLY", 0)),
        no_programs=bool(flags & getattr(os, "ST_NOEXEC", 0)),
    )
