"""The libraries of a Debian that a Linux package carries, as components of the SBOM: what they are, and their versions."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from devenv import SetUpError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

LICENCES: Final = {
    "bzip2": "bzip2-1.0.6",
    "glibc": "LGPL-2.1-or-later",
    "libffi": "MIT",
    "libxcb": "MIT",
    "libxkbcommon": "MIT",
    "libzstd": "BSD-3-Clause",
    "xcb-util": "MIT",
    "xcb-util-cursor": "MIT",
    "xcb-util-image": "MIT",
    "xcb-util-keysyms": "MIT",
    "xcb-util-renderutil": "MIT",
    "xcb-util-wm": "MIT",
    "xz-utils": None,
}
"""By source package, as SPDX names them; of XZ Utils, liblzma alone is carried, which was in the public domain.

What is not named here may not be carried: its licence has to stand in licences/libraries.txt, or with Python's.
"""
UNPACKER: Final = ("libc6-dev", "libzstd-dev")
"""The packages whose libraries are in the program that unpacks the .run."""


def libraries(frozen: Path, accounted: Iterable[Path]) -> list[str]:
    """Return the names of the libraries in a program that lie in none of the folders whose parts are told elsewhere."""
    known = {file.name for folder in accounted for file in folder.rglob("*.so*")}
    return sorted({file.name for file in frozen.rglob("*.so*")} - known)


def components(names: Sequence[str], system: Path, *packages: str) -> list[dict[str, Any]]:
    """Return the components of libraries, and of further packages, that come from the Debian in a folder.

    Raises:
        SetUpError: one is from nowhere that is known, or of a source that ``LICENCES`` does not name.
    """
    owners = {*packages, *(_owner(name, system) for name in names)}
    asked = ["--show", "--showformat=${source:Package} ${source:Version}\n", *sorted(owners)]
    told = _dpkg_query(system, *asked)
    if told is None:
        raise SetUpError(f"{system} does not know each of these packages: {', '.join(sorted(owners))}")
    sources = sorted({tuple(line.split()) for line in told.splitlines()})
    unknown = [name for name, _ in sources if name not in LICENCES]
    if unknown:
        raise SetUpError(f"the package would carry {', '.join(unknown)}, whose licences packaging/carried.py does not name")
    return [_component(name, version) for name, version in sources]


def _owner(name: str, system: Path) -> str:
    told = _dpkg_query(system, "--search", f"*/{name}")
    if told is None:
        raise SetUpError(f"the program holds {name}, and no package of {system} has it: its licence is not known")
    return told.partition(": ")[0].split(",")[0]


def _component(name: str, version: str) -> dict[str, Any]:
    purl = f"pkg:deb/debian/{name}@{quote(version, safe='.~')}?arch=source"
    identifier = LICENCES[name]
    licence = {"id": identifier} if identifier is not None else {"name": "public domain"}
    about = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    return {**about, "licenses": [{"license": licence}]}


def _dpkg_query(system: Path, *arguments: str) -> str | None:
    """Return what it says, or None where it knows nothing of a part of what was asked."""
    command = ["dpkg-query", f"--admindir={system / 'var' / 'lib' / 'dpkg'}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None
