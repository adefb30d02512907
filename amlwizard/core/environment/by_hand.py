"""What the user has put into the environment by hand, such as with pip in a notebook."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from packaging.version import InvalidVersion, Version

from amlwizard.core.data_text import parse_json
from amlwizard.core.environment.layout import read_pyvenv_cfg
from amlwizard.core.environment.marker import read_marker
from amlwizard.core.environment.record_check import SEEDS, Distribution, distributions_in
from amlwizard.core.environment.required import required_names
from amlwizard.core.errors import AmlError
from amlwizard.core.facts import AddedPackage
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.lock import readable_lock
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.urls import local_path, without_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amlwizard.core.paths import Workspace

STORE_PREFIX: Final = "../downloads/"
"""How a requirement names a wheel of the store: from the folder of the lock, so that a workspace can be moved."""
HASH_MARK: Final = "#sha256="
"""What stands between the name of a wheel in a requirement and its hash."""


@dataclass(frozen=True)
class ByHand:
    """One distribution that is not in the lock, or is there in another version (``locked``)."""

    name: str
    version: str
    locked: str | None
    asked: bool
    """Whether pip noted that it was asked for by name; uv notes that of everything, which tells nothing."""
    requires: frozenset[str]
    origin: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """``direct_url.json``, where it came from an address or a folder and not from an index."""

    @property
    def shown(self) -> AddedPackage:
        """What a front end shows of it."""
        return AddedPackage(self.name, self.version, self.locked)

    @property
    def local_wheel(self) -> Path | None:
        """The wheel on this computer that it was installed from, None where it came from elsewhere."""
        path = self._local_path
        return path if path is not None and "dir_info" not in self.origin and path.suffix == ".whl" else None

    @property
    def requirement(self) -> str:
        """The line of a requirements file that keeps it. Blocks: it reads a wheel of this computer.

        A new package is kept by its name alone, so that it is updated like all others; a version that was changed by hand
        is kept as it is. Of a wheel of this computer the content counts, as others may have its name.
        """
        url = without_credentials(str(self.origin.get("url", "")))
        path = self._local_path
        if not url:
            return self.name if self.locked is None else f"{self.name}=={self.version}"
        if path is not None and self._entry("dir_info").get("editable"):
            return f"-e {url}"
        if self.local_wheel is not None:
            sha256 = self.local_sha256
            return f"{self.name} @ {STORE_PREFIX}{self.local_wheel.name}" + (f"{HASH_MARK}{sha256}" if sha256 else "")
        vcs = self._entry("vcs_info")
        if vcs:
            url = f"{vcs.get('vcs')}+{url}@{vcs.get('commit_id')}"
        subdirectory = self.origin.get("subdirectory")
        return f"{self.name} @ {url}" + (f"#subdirectory={subdirectory}" if subdirectory else "")

    @property
    def local_sha256(self) -> str | None:
        """The SHA-256 of the wheel on this computer: as the installer noted it, else as the file is now."""
        wheel = self.local_wheel
        if self.sha256 is not None or wheel is None:
            return self.sha256
        try:
            return file_sha256(wheel)
        except OSError:
            return None

    @property
    def _local_path(self) -> Path | None:
        url = str(self.origin.get("url", ""))
        return local_path(url) if url.startswith("file:") and not self._entry("vcs_info") else None

    def _entry(self, name: str) -> Mapping[str, Any]:
        entry = self.origin.get(name)
        return entry if isinstance(entry, Mapping) else {}

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of the archive that it was installed from, where the installer noted it."""
        info = self._entry("archive_info")
        hashes = info.get("hashes")
        noted = hashes.get("sha256") if isinstance(hashes, Mapping) else None
        return str(noted) if noted else str(info.get("hash", "")).removeprefix("sha256=") or None


def locked_versions(workspace: Workspace) -> dict[str, str] | None:
    """Return what the environment in use was built to hold: names and versions, the latter empty for editable folders.

    The lock with addresses serves where that of the installed files cannot be read. None where neither can.
    """
    lock = readable_lock(workspace.local_lock) or readable_lock(workspace.lock)
    if lock is None:
        return None
    versions: dict[str, str] = {}
    for package in lock.packages:  # one of several versions, for other platforms, cannot be told from another
        versions[package.name] = str(package.version or "") if package.name not in versions else ""
    return versions


def find_by_hand(workspace: Workspace) -> tuple[ByHand, ...]:
    """Return what the environment in use holds besides its lock, in the order of the names. Blocks for a moment."""
    locked = locked_versions(workspace)
    return () if locked is None else tuple(_found(workspace.venv, locked, _python_version(workspace.venv)))


def _python_version(environment: Path) -> str:
    """Return the version of an environment's Python; where nothing tells it, this program's is as good as any."""
    with suppress(AmlError):
        marker = read_marker(environment)
        if marker is not None:
            return marker.python
    noted = (read_pyvenv_cfg(environment) or {}).get("version_info", "")
    return noted if re.fullmatch(r"\d+\.\d+(\.\d+)?", noted) else platform.python_version()


def added_packages(workspace: Workspace) -> tuple[AddedPackage, ...]:
    """Return the same as a front end shows it."""
    return tuple(found.shown for found in find_by_hand(workspace))


def _found(environment: Path, locked: Mapping[str, str], python: str) -> Iterator[ByHand]:
    for name, distributions in sorted(installed_distributions(environment).items()):
        wanted = locked.get(name)
        if name in SEEDS and (wanted is None or name == "pip"):
            continue
        if wanted is not None and any(not wanted or same_version(wanted, found.version) for found in distributions):
            continue
        yield _described(distributions[-1], wanted, python)


def installed_distributions(environment: Path) -> dict[str, list[Distribution]]:
    """Return what is installed, by its normalised name; more than one of a name is damage, what cannot be read absent."""
    installed: dict[str, list[Distribution]] = {}
    with suppress(OSError):
        for found in distributions_in(environment):
            installed.setdefault(found.name, []).append(found)
    return installed


def _described(found: Distribution, locked: str | None, python: str) -> ByHand:
    folder = Path(found.site, found.metadata)
    asked = _text(folder / "INSTALLER").strip() == "pip" and (folder / "REQUESTED").is_file()
    return ByHand(found.name, found.version, locked, asked, frozenset(required_names(found, python)), _origin(folder))


def _origin(folder: Path) -> Mapping[str, Any]:
    try:
        content = parse_json(_text(folder / "direct_url.json") or "{}")
        urlsplit(content["url"])
    except (ValueError, TypeError, KeyError, AttributeError):  # it does not name an address
        return {}
    return content if isinstance(content["url"], str) else {}


def _text(path: Path) -> str:
    try:
        return read_plain_text(path)
    except (OSError, UnicodeDecodeError):
        return ""


def same_version(first: str, second: str) -> bool:
    """Tell whether two spellings are of one version."""
    try:
        return Version(first) == Version(second)
    except InvalidVersion:
        return first == second


def wanted_by_user(found: Sequence[ByHand]) -> list[ByHand]:
    """Return those that are kept as requirements: what was asked for, and what none of the others needs.

    The rest follows as their dependencies.
    """
    needed = {name for package in found for name in package.requires if name != package.name}
    chosen = [package for package in found if package.asked or package.name not in needed]
    by_name = {package.name: package for package in found}
    reached: set[str] = set()
    _reach([package.name for package in chosen], by_name, reached)
    for package in found:  # what only needs each other, in a circle
        if package.name not in reached:
            chosen.append(package)
            _reach([package.name], by_name, reached)
    return sorted(chosen, key=lambda package: package.name)


def _reach(names: list[str], by_name: Mapping[str, ByHand], reached: set[str]) -> None:
    while names:
        package = by_name.get(names.pop())
        if package is not None and package.name not in reached:
            reached.add(package.name)
            names.extend(package.requires)
