"""What the environment shall contain: a profile, a requirements file, a lock, or what was resolved last time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.pylock import Pylock

from amlwizard.core.digest import requirements_digest
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.lock import read_lock
from amlwizard.core.profiles import Profile, load_profile
from amlwizard.core.requirements import RequirementsClosure, is_pylock, parse_closure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from packaging.specifiers import SpecifierSet

    from amlwizard.core.choices import Choices
    from amlwizard.core.paths import Workspace

MAIN_IMPORTS = {
    "numpy": ("numpy",),
    "pandas": ("pandas",),
    "scipy": ("scipy.stats",),
    "scikit-learn": ("sklearn.ensemble",),
    "matplotlib": ("matplotlib.pyplot",),
    "torch": ("torch",),
}
"""Modules that a job of a profile loads first; verification writes their bytecode."""


@dataclass(frozen=True)
class Wish:
    """What is wanted. ``kind`` is ``profile`` or ``file``; ``name`` the profile's name or the file's path.

    ``given_lock`` is a lock that the user gave: its relative paths count from its folder. ``recorded_digest`` is set where
    the wish is a lock of the workspace, which stands for what it was resolved from.
    """

    kind: str
    name: str
    content: RequirementsClosure | Pylock
    folder: Path
    profile: Profile | None = None
    given_lock: Path | None = None
    recorded_digest: str = ""

    @property
    def python_range(self) -> SpecifierSet | None:
        """The Pythons that this can be used with, None where nothing is declared."""
        if self.profile is not None:
            return self.profile.python
        return self.content.requires_python if isinstance(self.content, Pylock) else None

    @property
    def main_imports(self) -> tuple[str, ...]:
        """The modules whose start matters."""
        packages: Iterable[str] = self.profile.main_packages if self.profile is not None else ()
        if self.recorded_digest and isinstance(self.content, Pylock):
            packages = [package.name for package in self.content.packages]
        return tuple(module for package in packages for module in MAIN_IMPORTS.get(package, ()))

    def digest(self, python_version: str) -> str:
        """Return the digest of DESIGN section 2 for a Python version."""
        return self.recorded_digest or requirements_digest(self.content, python_version, folder=self.folder)


def make_wish(choices: Choices, workspace: Workspace, environ: Mapping[str, str]) -> Wish:
    """Return what is wanted: as chosen, else as recorded in the workspace, else the default profile.

    Raises:
        RefusedError: the profile or the file cannot be used.
    """
    if choices.requirements is not None:
        return _from_file(choices.requirements, environ)
    if choices.profile is not None:
        return _from_profile(choices.profile, choices.kit)
    recorded = recorded_source(workspace)
    if recorded.get("kind") == "file":
        file = Path(str(recorded.get("name")))
        wish = None if file.is_file() or choices.refresh else wish_of_lock(workspace.lock)
        return wish or _from_file(file, environ)  # where the file is gone, the lock still tells what is wanted
    if recorded.get("kind") == "profile":
        return _from_profile(str(recorded.get("name")), choices.kit)
    return _from_profile(None, choices.kit)


def recorded_source(workspace: Workspace) -> dict[str, Any]:
    """Return what the workspace's lock says about its making: kind, name, digest, python; empty where there is none."""
    try:
        lock = read_lock(workspace.lock)
    except (AmlError, OSError):
        return {}
    return dict((lock.tool or {}).get("amlwizard", {}))


def wish_of_lock(path: Path) -> Wish | None:
    """Return the wish that a lock of the workspace stands for, as it was then; None where it does not say.

    Raises:
        RefusedError: the lock cannot be read.
    """
    lock = read_lock(path)
    described = dict((lock.tool or {}).get("amlwizard", {}))
    kind, name, digest = (described.get(key) for key in ("kind", "name", "digest"))
    if not (isinstance(kind, str) and isinstance(name, str) and isinstance(digest, str) and digest):
        return None
    given = Path(name) if kind == "file" and is_pylock(Path(name)) else None
    return Wish(kind, name, lock, path.parent, given_lock=given, recorded_digest=digest)


def recorded_python(path: Path) -> str | None:
    """Return the minor version of the Python that a lock was resolved for, such as ``3.11``."""
    try:
        version = (read_lock(path).tool or {}).get("amlwizard", {}).get("python")
    except AmlError:
        return None
    numbers = version.split(".")[:2] if isinstance(version, str) else []
    return ".".join(numbers) if len(numbers) == 2 and all(number.isdigit() for number in numbers) else None


def _from_profile(name: str | None, kit: Path | None) -> Wish:
    profile = load_profile(name, kit)
    closure = parse_closure(profile.requirements, {})
    return Wish("profile", profile.name, closure, closure.folder, profile)


def _from_file(path: Path, environ: Mapping[str, str]) -> Wish:
    if not path.exists():
        raise RefusedError("AML_REQUIREMENTS_MISSING", file=str(path))
    if path.is_file() and is_pylock(path):
        return Wish("file", str(path), read_lock(path), path.parent, given_lock=path)
    return Wish("file", str(path), parse_closure(path, environ), path.parent)
