"""The libraries of a Debian that a Linux package carries, as components of the SBOM: what they are, and their versions."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Final

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
    "xz-utils": "0BSD",
}
"""By source package. What is not named here may not be carried: its licence has to stand in licences/libraries.txt."""
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
    sources = sorted({tuple(line.split()) for line in _dpkg_query(system, *asked).splitlines()})
    unknown = [name for name, _ in sources if name not in LICENCES]
    if unknown:
        raise SetUpError(f"the package would carry {', '.join(unknown)}, whose licences packaging/carried.py does not name")
    return [_component(name, version) for name, version in sources]


def _owner(name: str, system: Path) -> str:
    told = _dpkg_query(system, "--search", f"*/{name}")
    if not told:
        raise SetUpError(f"the program holds {name}, and no package of {system} has it: its licence is not known")
    return told.partition(": ")[0].split(",")[0]


def _component(name: str, version: str) -> dict[str, Any]:
    purl = f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch=source"
    licences = [{"license": {"id": LICENCES[name]}}]
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "licenses": licences}


def _dpkg_query(system: Path, *arguments: str) -> str:
    command = ["dpkg-query", f"--admindir={system / 'var' / 'lib' / 'dpkg'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
