"""What the environment shall contain: a profile, a requirements file, a lock, or what was resolved last time."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amlwizard.core.digest import requirements_digest
from amlwizard.core.errors import RefusedError
from amlwizard.core.profiles import Profile, load_profile
from amlwizard.core.requirements import RequirementsClosure, is_pylock, parse_closure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.pylock import Pylock
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
    """What is wanted. ``kind`` is ``profile`` or ``file``; ``name`` the profile's name or the file's path."""

    kind: str
    name: str
    content: RequirementsClosure | Pylock
    folder: Path
    profile: Profile | None = None

    @property
    def python_range(self) -> SpecifierSet | None:
        """The Pythons that this can be used with, None where nothing is declared."""
        if self.profile is not None:
            return self.profile.python
        return None if isinstance(self.content, RequirementsClosure) else self.content.requires_python

    @property
    def main_imports(self) -> tuple[str, ...]:
        """The modules whose start matters."""
        if self.profile is None:
            return ()
        return tuple(module for package in self.profile.main_packages for module in MAIN_IMPORTS.get(package, ()))

    def digest(self, python_version: str) -> str:
        """Return the digest of DESIGN section 2 for a Python version."""
        return requirements_digest(self.content, python_version, folder=self.folder)


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
        if file.is_file():
            return _from_file(file, environ)
    if recorded.get("kind") == "profile":
        return _from_profile(str(recorded.get("name")), choices.kit)
    return _from_profile(None, choices.kit)


def recorded_source(workspace: Workspace) -> dict[str, Any]:
    """Return what the workspace's lock says about its making: kind, name, digest, python; empty where there is none."""
    try:
        content = tomllib.loads(workspace.lock.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    tool = content.get("tool")
    recorded = tool.get("amlwizard") if isinstance(tool, dict) else None
    return recorded if isinstance(recorded, dict) else {}


def _from_profile(name: str | None, kit: Path | None) -> Wish:
    profile = load_profile(name, kit)
    closure = parse_closure(profile.requirements, {})
    return Wish("profile", profile.name, closure, closure.folder, profile)


def _from_file(path: Path, environ: Mapping[str, str]) -> Wish:
    if not path.exists():
        raise RefusedError("AML_REQUIREMENTS_MISSING", file=str(path))
    if path.is_file() and is_pylock(path):
        from amlwizard.core.lock import read_lock  # rare, and takes time to load

        return Wish("file", str(path), read_lock(path), path.parent)
    return Wish("file", str(path), parse_closure(path, environ), path.parent)
