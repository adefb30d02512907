"""What the environment shall contain: a profile, a requirements file, a lock, or what was resolved last time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.pylock import Pylock

from amlwizard.core.bundle.reading import open_bundle
from amlwizard.core.digest import requirements_digest
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.lock import read_lock
from amlwizard.core.profiles import Profile, load_profile
from amlwizard.core.requirements import RequirementsClosure, is_pylock, parse_closure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.specifiers import SpecifierSet

    from amlwizard.core.bundle.reading import Bundle
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
    """What is wanted.

    ``kind`` is ``profile``, ``file`` or ``bundle``; ``name`` the profile's name, the file's path, or the bare name that a
    bundle gives. For a bundle ``content`` is its lock, ``origin`` says what the bundle was made for (kind, name, digest),
    and ``bundle`` is there where it lies at hand. Paths in a lock are relative to ``folder``.
    """

    kind: str
    name: str
    content: RequirementsClosure | Pylock
    folder: Path
    profile: Profile | None = None
    origin: dict[str, str] | None = None
    bundle: Bundle | None = None

    @property
    def python_range(self) -> SpecifierSet | None:
        """The Pythons that this can be used with, None where nothing is declared."""
        if self.profile is not None:
            return self.profile.python
        return self.content.requires_python if isinstance(self.content, Pylock) else None

    @property
    def main_imports(self) -> tuple[str, ...]:
        """The modules whose start matters."""
        if self.kind == "bundle" and isinstance(self.content, Pylock):
            packages: tuple[str, ...] = tuple(package.name for package in self.content.packages)
        else:
            packages = self.profile.main_packages if self.profile is not None else ()
        return tuple(module for package in packages for module in MAIN_IMPORTS.get(package, ()))

    def digest(self, python_version: str) -> str:
        """Return the digest of DESIGN section 2 for a Python version."""
        return requirements_digest(self.content, python_version, folder=self.folder)


def make_wish(choices: Choices, workspace: Workspace, environ: Mapping[str, str]) -> Wish:
    """Return what is wanted: as chosen, else as recorded in the workspace, else the default profile.

    Raises:
        RefusedError: the profile or the file cannot be used.
    """
    if choices.bundle is not None:
        return _from_bundle(choices.bundle, workspace)
    recorded = recorded_source(workspace)
    if choices.requirements is not None or choices.profile is not None:
        chosen = (
            _from_file(choices.requirements, environ)
            if choices.requirements
            else _from_profile(choices.profile, choices.kit)
        )
        if _is_met_by_bundle(chosen, recorded) and not choices.refresh:
            return _from_recorded_bundle(recorded, workspace)
        return chosen
    if recorded.get("kind") == "bundle":
        if not choices.refresh:
            return _from_recorded_bundle(recorded, workspace)
        recorded = recorded["origin"]
        if recorded.get("kind") != "profile":
            raise RefusedError("AML_BUNDLE_REFRESH", name=str(recorded.get("name", "")))
    if recorded.get("kind") == "file":
        file = Path(str(recorded.get("name")))
        if file.is_file():
            return _from_file(file, environ)
    if recorded.get("kind") == "profile":
        return _from_profile(str(recorded.get("name")), choices.kit)
    return _from_profile(None, choices.kit)


def recorded_source(workspace: Workspace) -> dict[str, Any]:
    """Return what the workspace's lock says about its making: kind, name, digest, python; empty where there is none."""
    try:
        lock = read_lock(workspace.lock)
    except (AmlError, OSError):
        return {}
    recorded = dict((lock.tool or {}).get("amlwizard", {}))
    if recorded.get("kind") == "bundle" and not isinstance(recorded.get("origin"), dict):
        return {}
    return recorded


def _from_bundle(path: Path, workspace: Workspace) -> Wish:
    """Return the wish for what a bundle holds; its wheels will lie in the workspace's store."""
    bundle = open_bundle(path)
    manifest = bundle.manifest
    packages = [
        replace(
            package, wheels=[replace(wheel, path=f"../{workspace.downloads.name}/{wheel.filename}") for wheel in wheels]
        )
        for package in bundle.lock.packages
        for wheels in [package.wheels or ()]
    ]
    lock = replace(bundle.lock, packages=packages, tool=None)
    origin = {"kind": manifest.kind, "name": manifest.name, "digest": manifest.digest}
    return Wish("bundle", manifest.name, lock, workspace.runtime, origin=origin, bundle=bundle)


def _from_recorded_bundle(recorded: dict[str, Any], workspace: Workspace) -> Wish:
    """Return the wish for what a bundle has brought into the workspace: its lock, as it is."""
    lock = replace(read_lock(workspace.lock), tool=None)
    return Wish("bundle", str(recorded.get("name")), lock, workspace.runtime, origin=recorded["origin"])


def _is_met_by_bundle(chosen: Wish, recorded: dict[str, Any]) -> bool:
    """Tell whether the workspace was set up from a bundle that was made for just this wish."""
    if recorded.get("kind") != "bundle":
        return False
    met: str | None = recorded["origin"].get("digest")
    return chosen.digest(str(recorded.get("python"))) == met


def _from_profile(name: str | None, kit: Path | None) -> Wish:
    profile = load_profile(name, kit)
    closure = parse_closure(profile.requirements, {})
    return Wish("profile", profile.name, closure, closure.folder, profile)


def _from_file(path: Path, environ: Mapping[str, str]) -> Wish:
    if not path.exists():
        raise RefusedError("AML_REQUIREMENTS_MISSING", file=str(path))
    if path.is_file() and is_pylock(path):
        return Wish("file", str(path), read_lock(path), path.parent)
    return Wish("file", str(path), parse_closure(path, environ), path.parent)
