"""What can be asked of the engine from the window, and how a filled form becomes choices. No Qt here."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.bundle.names import SUFFIX
from amlwizard.core.choices import BundleOrder, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amlwizard.core.choices import Choices

_INNER_SPACE: Final = re.compile(r"\s+(?=[^\[\]]*\])|\s+(?=[=~!<>@])|(?<=[=~!<>@])\s+")
"""Space within the name of a package, its extras and its version."""
_BETWEEN: Final = re.compile(r"[\s，、]+|,(?=\s*[A-Za-z])(?![^\[]*\])|,\s*$")
"""What stands between packages; a comma may also stand between two limits of a version, or between extras."""


class Job(StrEnum):
    """Jobs of the engine that show in the run view."""

    INSTALL = "install"
    REBUILD = "rebuild"
    VERIFY = "verify"
    BUNDLE = "bundle"
    REPAIR = "repair"
    SHARE = "share"
    CHANGE = "change"
    UPDATE = "update"
    UPDATE_PYTHON = "update_python"
    UPDATE_UV = "update_uv"
    UNDO = "undo"
    STORE = "store"
    UNINSTALL = "uninstall"


UPDATES: Final = {Job.UPDATE_PYTHON: Part.PYTHON, Job.UPDATE_UV: Part.UV}
"""The updates of what is no package."""


@dataclass(frozen=True)
class Wish:
    """One job with its choices."""

    job: Job
    choices: Choices

    @property
    def subject(self) -> str:
        """Return the part of the window's message keys that belongs to this wish."""
        return self.choices.until or self.job.value


class Packages(StrEnum):
    """The choices of packages on the start page."""

    DEFAULT = "default"
    MINIMAL = "minimal"
    PYTORCH = "pytorch"
    FILE = "file"
    BUNDLE = "bundle"


@dataclass(frozen=True)
class Form:
    """The start page as it is filled in."""

    root: str
    packages: Packages
    requirements: str
    bundle: str = ""
    offline: bool = False

    @property
    def gap(self) -> str | None:
        """Return the key of what is still missing, or None. What cannot be used is the engine's to say."""
        if self.lacks_root:
            return _gap(self.root, "root")
        if self.packages is Packages.FILE:
            return _gap(self.requirements, "requirements")
        return _gap(self.bundle, "bundle") if self.packages is Packages.BUNDLE else None

    @property
    def folder(self) -> Path:
        """The workspace."""
        return _path(self.root)

    @property
    def lacks_root(self) -> bool:
        """Tell whether it is the folder that ``gap`` is about."""
        return _gap(self.root, "root") is not None

    def choices(self, defaults: Choices) -> Choices:
        """Return the choices; ``gap`` must be None."""
        only_bundles = defaults.organisation is not None and defaults.organisation.bundle_only
        offline = self.offline or only_bundles
        chosen = replace(defaults, root=self.folder, requirements=None, profile=None, bundle=None, offline=offline)
        if self.packages is Packages.FILE:
            return replace(chosen, requirements=_path(self.requirements))
        if self.packages is Packages.BUNDLE:
            return replace(chosen, bundle=_path(self.bundle))
        profile = None if self.packages is Packages.DEFAULT else self.packages.value
        return replace(chosen, profile=profile)


def form_of(choices: Choices) -> Form:
    """Return the form that gives these choices."""
    if choices.requirements is not None:
        return Form(str(choices.root), Packages.FILE, str(choices.requirements), offline=choices.offline)
    if choices.bundle is not None:
        return Form(str(choices.root), Packages.BUNDLE, "", str(choices.bundle), choices.offline)
    known = {member.value for member in Packages} - {Packages.FILE.value, Packages.BUNDLE.value}
    packages = Packages(choices.profile) if choices.profile in known else Packages.DEFAULT
    return Form(str(choices.root), packages, "", offline=choices.offline)


def lock_choices(choices: Choices) -> Choices:
    """Return the choices for work on what a workspace holds, as its lock tells it."""
    return replace(choices, requirements=None, profile=None, bundle=None)


def bundle_choices(choices: Choices, out: Path) -> Choices:
    """Return the choices for a bundle of what a workspace holds."""
    return replace(lock_choices(choices), order=BundleOrder(out))


def share_choices(choices: Choices, out: Path) -> Choices:
    """Return the choices for saving the lock of a workspace."""
    return replace(lock_choices(choices), share=out)


def packages_named(line: str) -> tuple[str, ...]:
    """Return the packages that somebody names in one line, as ``polars, numpy == 2.1``."""
    parts = (part.strip("\"'") for part in _BETWEEN.split(_INNER_SPACE.sub("", line)))  # quoted as for a terminal
    return tuple(part for part in parts if part)


def network_choices(choices: Choices, source: Choices) -> Choices:
    """Return the same choices with the network of others."""
    return replace(
        choices,
        index_url=source.index_url,
        extra_index_urls=source.extra_index_urls,
        find_links=source.find_links,
        python_mirror=source.python_mirror,
        proxy=source.proxy,
        ca_file=source.ca_file,
        ambient=source.ambient,
        unused_ambient=source.unused_ambient,
        broken_ambient=source.broken_ambient,
        trusted_hosts=source.trusted_hosts,
        credentials=source.credentials,
        login_places=source.login_places,
    )


def dropped(paths: Sequence[str]) -> tuple[Packages | None, str] | None:
    """Return what was dropped on the window: a bundle, requirements or a lock, or a folder (None), with its path.

    None where it is nothing that can be opened, or more than one thing.
    """
    if len(paths) != 1:
        return None
    path = Path(paths[0])
    name = path.name.lower()
    if name.endswith(SUFFIX):
        return Packages.BUNDLE, paths[0]
    if path.is_dir():
        return None, str(path)
    if name.endswith((".txt", ".in")) or (name.startswith("pylock") and name.endswith(".toml")):
        return Packages.FILE, paths[0]
    return None


def _gap(text: str, field: str) -> str | None:
    if not text.strip():
        return f"page.start.gap.{field}"
    return None if _path(text).is_absolute() else "page.start.gap.relative"


def _path(text: str) -> Path:
    try:
        return Path(text.strip()).expanduser()
    except RuntimeError:  # "~name" of a user who does not exist
        return Path(text.strip())
