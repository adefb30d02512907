"""The bundle that a complete installer put beside the program: it is offered where nobody asks for anything else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.bundle.names import SUFFIX
from amlwizard.core.errors import AmlError
from amlwizard.core.facts import minor_of
from amlwizard.core.paths import Workspace
from amlwizard.core.plain_files import exists
from amlwizard.resources import frozen_root

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.choices import Choices

FOLDER = "bundle"


def with_carried_bundle(choices: Choices) -> Choices:
    """Return the choices with the carried bundle, where they leave open what a new workspace shall hold, and it fits.

    A workspace that has a lock already keeps to that, and another Python than the bundle's is a wish of its own.
    """
    asked = (choices.requirements, choices.profile, choices.bundle, choices.order)
    if any(wish is not None for wish in asked) or choices.refresh:
        return choices
    path = carried_bundle()
    if path is None or exists(Workspace(choices.root).lock) or not _fits(path, choices.python):
        return choices
    return replace(choices, bundle=path)


def carried_bundle() -> Path | None:
    """Return the bundle that lies beside a frozen program, or None."""
    root = frozen_root()
    return min((root / FOLDER).glob(f"*{SUFFIX}"), default=None) if root is not None else None


def _fits(path: Path, python: str | None) -> bool:
    from amlwizard.core.bundle.reading import open_bundle
    from amlwizard.core.host import host_facts

    try:
        bundle = open_bundle(path)
        bundle.check_fits(host_facts())
    except AmlError:
        return False
    return python is None or minor_of(python) == bundle.manifest.minor
