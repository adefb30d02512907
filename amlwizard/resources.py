"""The one way to reach ``resources/``: in a checkout, in an installed wheel and in a frozen program."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path


@cache
def resource_root() -> Path:
    """Return the folder that holds the resources.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    places = [package.parent / "resources", package / "_resources"]
    frozen = frozen_root()
    if frozen is not None:
        places.insert(0, frozen / "resources")
    for place in places:
        if (place / "messages").is_dir():
            return place
    raise FileNotFoundError(f"resources are missing; looked in {', '.join(map(str, places))}")


def resource(*parts: str) -> Path:
    """Return the path of one resource, such as ``resource("python", "requirements.txt")``."""
    return resource_root().joinpath(*parts)


def frozen_root() -> Path | None:
    """Return the folder of a frozen program's parts, or None where this is none."""
    folder = getattr(sys, "_MEIPASS", None)
    return Path(folder) if folder else None


def own_folders() -> tuple[Path, ...]:
    """Return the folders in which this program is installed, none of which can be a workspace."""
    package = Path(__file__).resolve().parent
    return (package, Path(sys.executable).resolve().parent) if getattr(sys, "frozen", False) else (package,)
