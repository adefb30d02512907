"""Profiles: ready-made package lists with a lock each (``resources/profiles/profiles.json`` and the files beside it)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from packaging.specifiers import SpecifierSet

from amlwizard.core.errors import RefusedError
from amlwizard.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_PROFILE: Final = "default"


@dataclass(frozen=True)
class Profile:
    """One profile.

    ``requirements`` is its hashed, universal lock in the requirements form, ``short_list`` what that was compiled from
    (None for a kit that brings none). ``python`` is the range of Pythons that it can be used with, None where it is not
    declared. ``main_packages`` are those that people come for. ``sizes`` holds the bytes to download by platform (DESIGN
    7) and Python; a pair that is not in it has packages without a ready build. ``builds`` says for which accelerator its
    PyTorch is, by platform; ``any_build`` asks for the same packages with PyTorch in any other build. Both are empty where
    it has no PyTorch.
    """

    name: str
    requirements: Path
    short_list: Path | None
    python: SpecifierSet | None
    main_packages: tuple[str, ...]
    sizes: dict[str, dict[str, int]]
    builds: dict[str, str] = field(default_factory=dict)
    any_build: Path | None = None

    def download_bytes(self, platform: str, python_minor: str) -> int | None:
        """Return the bytes of all its wheels on an empty store, None where they are not known."""
        return self.sizes.get(platform, {}).get(python_minor)


def profile_names() -> tuple[str, ...]:
    """Return the names of all profiles, the default one first."""
    return tuple(_descriptions())


def load_profile(name: str | None = None, kit: Path | None = None) -> Profile:
    """Return a profile by its name, None being the default one.

    Args:
        name: one of ``profile_names()``.
        kit: another job kit's folder (AML_PYHOME), whose requirements are the default profile then.

    Raises:
        RefusedError: ``AML_PROFILE_UNKNOWN``, or ``AML_KIT_INCOMPLETE`` where the kit has no requirements.
    """
    name = name or DEFAULT_PROFILE
    if name not in _descriptions():
        raise RefusedError("AML_PROFILE_UNKNOWN", name=name, names=", ".join(profile_names()))
    if name == DEFAULT_PROFILE and kit is not None:
        return _of_kit(kit)
    description = _descriptions()[name]
    folder = resource("python") if name == DEFAULT_PROFILE else resource("profiles", name)
    return Profile(
        name=name,
        requirements=folder / "requirements.txt",
        short_list=folder / "requirements.in",
        python=SpecifierSet(description["python"]),
        main_packages=tuple(description["main_packages"]),
        sizes=description["sizes"],
        builds=description.get("builds", {}),
        any_build=folder / "any_build.in" if "builds" in description else None,
    )


def _of_kit(kit: Path) -> Profile:
    requirements, short_list = kit / "requirements.txt", kit / "requirements.in"
    if not requirements.is_file():
        raise RefusedError("AML_KIT_INCOMPLETE", folder=str(kit), file=requirements.name)
    return Profile(
        name=DEFAULT_PROFILE,
        requirements=requirements,
        short_list=short_list if short_list.is_file() else None,
        python=None,
        main_packages=(),
        sizes={},
    )


@cache
def _descriptions() -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads(resource("profiles", "profiles.json").read_text(encoding="utf-8"))
    return content
