"""Where a bundle and the list of its components may be written: nowhere that something else would be lost by it."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.bundle.manifest import MANIFEST
from amlwizard.core.bundle.reading import open_bundle
from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_files import LONGEST_NAME

if TYPE_CHECKING:
    from amlwizard.core.paths import Workspace

_NAME_AT: Final = 30
"""Where the first entry's name stands in a zip file."""


def part_of(out: Path) -> Path:
    """Return where a bundle is written until it is complete."""
    return out.with_name(f"{out.name}.part")


def check_place(out: Path, workspace: Workspace) -> None:
    """Refuse a place where no bundle can be written, or where something else lies, before any work is done for it.

    Raises:
        RefusedError: ``AML_BUNDLE_OUT_*``, or ``AML_BUNDLE_WRITE`` where a name is too long.
    """
    if any(len(os.fsencode(name)) > LONGEST_NAME for name in (*out.parts, part_of(out).name)):
        raise RefusedError("AML_BUNDLE_WRITE", path=str(out), reason=os.strerror(errno.ENAMETOOLONG))
    if out.is_dir():
        raise RefusedError("AML_BUNDLE_OUT_IS_FOLDER", path=str(out))
    if not out.parent.is_dir():
        raise RefusedError("AML_BUNDLE_OUT_NO_FOLDER", path=str(out), folder=str(out.parent))
    for folder in workspace.own_folders:
        if _is_at_or_in(out, folder):
            raise RefusedError("AML_BUNDLE_OUT_OWNED", path=str(out), folder=str(folder))
    if _exists(out) and not (_begins_as_bundle(out) or _is_bundle(out)):
        raise RefusedError("AML_BUNDLE_OUT_TAKEN", path=str(out))
    part = part_of(out)
    # what a killed run has left is written anew
    if _exists(part) and not (part.is_file() and not part.is_symlink() and (_is_empty(part) or _begins_as_bundle(part))):
        raise RefusedError("AML_BUNDLE_OUT_TAKEN", path=str(part))


def check_sbom_place(sbom: Path, bundle: Path) -> None:
    """Refuse to write the list of components over the bundle that it is of, or into it.

    Raises:
        RefusedError: ``AML_BUNDLE_SBOM_PLACE``.
    """
    if _is_at_or_in(sbom, bundle):
        raise RefusedError("AML_BUNDLE_SBOM_PLACE", path=str(sbom), bundle=str(bundle))


def _is_at_or_in(path: Path, place: Path) -> bool:
    """Tell whether a path is a file or folder, or lies in it, by whatever name and through whatever link."""
    resolved, there = Path(os.path.realpath(path)), Path(os.path.realpath(place))  # pathlib raises at links in a circle
    for each in (resolved, *resolved.parents):
        if each == there:
            return True
        with suppress(OSError):  # one of the two does not exist
            if each.samefile(there):
                return True
    return False


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _is_empty(path: Path) -> bool:
    return path.stat().st_size == 0


def _is_bundle(path: Path) -> bool:
    try:
        open_bundle(path)
    except RefusedError:
        return False
    return True


def _begins_as_bundle(path: Path) -> bool:
    """Tell whether a file begins as bundles do that are written here, be it whole or not."""
    name = MANIFEST.encode()
    try:
        with path.open("rb") as stream:
            begin = stream.read(_NAME_AT + len(name))
    except OSError:
        return False
    return begin.startswith(b"PK\3\4") and begin[_NAME_AT:] == name
