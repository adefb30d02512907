"""The lines of a requirements file that stand for what the user added by hand."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from amlwizard.core.environment.by_hand import HASH_MARK, STORE_PREFIX, find_by_hand
from amlwizard.core.errors import RefusedError
from amlwizard.core.store.ledger import store_place
from amlwizard.core.urls import redact_urls, without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amlwizard.core.paths import Workspace


def addition(given: str) -> str:
    """Return the line for a package that somebody names: a name, with extras, versions or an address where wanted.

    Raises:
        RefusedError: ``AML_ADD_INVALID`` or ``AML_ADD_HAS_LOGIN``.
    """
    try:
        wanted = Requirement(given)
    except InvalidRequirement as error:
        raise RefusedError("AML_ADD_INVALID", package=redact_urls(given), reason=str(error).partition("\n")[0]) from None
    if wanted.url is not None and without_credentials(wanted.url) != wanted.url:
        raise RefusedError("AML_ADD_HAS_LOGIN", package=wanted.name)
    wanted.name = canonicalize_name(wanted.name)
    return str(wanted)


def name_of(line: str) -> str:
    """Return the name that a requirement is about; of an editable folder the line itself."""
    if line.startswith("-e "):
        return line
    with suppress(InvalidRequirement):
        return canonicalize_name(Requirement(line).name)
    return canonicalize_name(line.partition(" @ ")[0].partition("==")[0].strip())


def is_plain(line: str) -> bool:
    """Tell whether a requirement is a name alone, of whatever version."""
    return name_of(line) == line and not line.startswith("-e ")


def label(line: str) -> str:
    """Return a requirement as it is told: without the place of the store and the hash."""
    return line.replace(f" @ {STORE_PREFIX}", " ").partition(HASH_MARK)[0] if STORE_PREFIX in line else line


def rendered(line: str, workspace: Workspace, pins: Mapping[str, str]) -> str:
    """Return a requirement as a resolver reads it wherever it runs, at the version that is installed. Blocks."""
    name, direct, place = line.partition(" @ ")
    if direct and place.startswith(STORE_PREFIX):
        filename, _, sha256 = place.removeprefix(STORE_PREFIX).partition(HASH_MARK)
        wheel = store_place(workspace, filename, sha256 or None)
        return f"{name} @ {(wheel if wheel.is_file() else _where_it_came_from(workspace, wheel)).as_uri()}"
    return f"{line}=={pins[line]}" if is_plain(line) and line in pins else line


def _where_it_came_from(workspace: Workspace, wheel: Path) -> Path:
    """Return the place of a wheel that a look at what would be has not copied into the store."""
    origins = (package.local_wheel for package in find_by_hand(workspace))
    return next((origin for origin in origins if origin is not None and origin.name == wheel.name), wheel)
