"""What can be asked of the engine from the window, and how a filled form becomes choices. No Qt here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices


class Job(StrEnum):
    """Jobs of the engine that show in the run view."""

    INSTALL = "install"
    REBUILD = "rebuild"
    VERIFY = "verify"
    REPAIR = "repair"


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


@dataclass(frozen=True)
class Form:
    """The start page as it is filled in."""

    root: str
    packages: Packages
    requirements: str

    @property
    def gap(self) -> str | None:
        """Return the key of what is still missing, or None. What cannot be used is the engine's to say."""
        if not self.root.strip() or not _path(self.root).is_absolute():
            return "page.start.gap.root"
        if self.packages is Packages.FILE and not _path(self.requirements).is_absolute():
            return "page.start.gap.requirements"
        return None

    def choices(self, defaults: Choices) -> Choices:
        """Return the choices; ``gap`` must be None."""
        chosen = replace(defaults, root=_path(self.root))
        if self.packages is Packages.FILE:
            return replace(chosen, requirements=_path(self.requirements), profile=None)
        profile = None if self.packages is Packages.DEFAULT else self.packages.value
        return replace(chosen, requirements=None, profile=profile)


def form_of(choices: Choices) -> Form:
    """Return the form that gives these choices."""
    if choices.requirements is not None:
        return Form(str(choices.root), Packages.FILE, str(choices.requirements))
    known = {member.value for member in Packages} - {Packages.FILE.value}
    packages = Packages(choices.profile) if choices.profile in known else Packages.DEFAULT
    return Form(str(choices.root), packages, "")


def _path(text: str) -> Path:
    try:
        return Path(text.strip()).expanduser()
    except RuntimeError:  # "~name" of a user who does not exist
        return Path(text.strip())
