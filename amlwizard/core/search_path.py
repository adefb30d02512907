"""Where programs are looked for: PATH, and on Windows what installers have put there since this program began."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.detection.windows import Registry

_PLACES: Final = (
    ("HKLM64", "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment"),
    ("HKCU", "Environment"),
)
_VARIABLE: Final = re.compile(r"%([^%]+)%")


def renewed_environment(environ: Mapping[str, str], registry: Registry | None) -> Mapping[str, str]:
    """Return the environment with the folders that the registry has in PATH and this process has not yet.

    So a program that was just installed is found without starting anew; on other systems nothing changes.

    Args:
        environ: the variables of this process.
        registry: the registry, None where there is none.
    """
    if registry is None:
        return environ
    variables = {name.upper(): value for name, value in environ.items()}
    folders = variables.get("PATH", "").split(";")
    known = {_plain(folder) for folder in folders}
    for view, key in _PLACES:
        for folder in (registry.value(view, key, "Path") or "").split(";"):
            expanded = _VARIABLE.sub(lambda found: variables.get(found[1].upper(), found[0]), folder.strip())
            if expanded and _plain(expanded) not in known:
                known.add(_plain(expanded))
                folders.append(expanded)
    name = next((name for name in environ if name.upper() == "PATH"), "PATH")
    return {**environ, name: ";".join(folder for folder in folders if folder)}


def _plain(folder: str) -> str:
    return folder.strip().strip('"').rstrip("\\/").lower()
