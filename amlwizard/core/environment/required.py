"""What an installed distribution cannot do without, as its metadata says."""

from __future__ import annotations

from email.parser import HeaderParser
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from amlwizard.core.facts import minor_of
from amlwizard.core.plain_files import read_plain_text

if TYPE_CHECKING:
    from amlwizard.core.environment.record_check import Distribution


def required_names(distribution: Distribution, python: str) -> set[str]:
    """Return the normalised names of what a distribution needs on this computer, its extras left out. Blocks.

    Args:
        distribution: an installed distribution.
        python: the version of the environment's interpreter.
    """
    path = Path(distribution.site, distribution.metadata, "METADATA")
    try:
        headers = HeaderParser().parsestr(read_plain_text(path, errors="replace"))
    except OSError:  # the check of the files has named it
        return set()
    here = {"extra": "", "python_full_version": python, "python_version": minor_of(python)}
    names: set[str] = set()
    for line in headers.get_all("Requires-Dist", []):
        try:
            requirement = Requirement(line)
            needed = requirement.marker is None or requirement.marker.evaluate(here)
        except ValueError:  # no requirement, or a marker that compares what cannot be compared
            continue
        if needed:
            names.add(canonicalize_name(requirement.name))
    return names
