"""What lies where in a virtual environment, read with as few system calls as possible."""

from __future__ import annotations

import os
import re
from pathlib import Path

from amlwizard.core.plain_files import is_path, read_plain_text

_METADATA = ".dist-info"


def site_folders(environment: Path) -> list[Path]:
    """Return the folders that hold the environment's packages (usually one); links to one of them do not count."""
    if os.name == "nt":
        folder = environment / "Lib" / "site-packages"
        return [folder] if folder.is_dir() else []
    found = []
    for library in ("lib", "lib64"):
        parent = environment / library
        if parent.is_symlink():
            continue
        try:
            versions = sorted(os.listdir(parent))  # noqa: PTH208
        except OSError:
            continue
        candidates = [parent / name / "site-packages" for name in versions if name.startswith(("python", "pypy"))]
        found += [folder for folder in candidates if folder.is_dir()]
    return found


def metadata_names(site: Path) -> list[str]:
    """Return the names of the ``.dist-info`` folders; leftovers of an interrupted pip, which begin with ``~``, excluded."""
    names = os.listdir(site)  # noqa: PTH208
    return sorted(name for name in names if name.endswith(_METADATA) and not name.startswith("~"))


def distribution_of(metadata: str) -> tuple[str, str]:
    """Return the normalised name and the version after which a ``.dist-info`` folder is named."""
    name, _, version = metadata.removesuffix(_METADATA).partition("-")
    return normalised(name), version


def normalised(name: str) -> str:
    """Return a distribution's name as PEP 503 spells it; what does that elsewhere takes time to load."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pyvenv_cfg(environment: Path) -> dict[str, str] | None:
    """Return the settings in ``pyvenv.cfg``, keys in lower case; None where it is missing or unreadable."""
    try:
        text = read_plain_text(Path(environment, "pyvenv.cfg"))
    except (OSError, UnicodeDecodeError):
        return None
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, sign, value in pairs if sign and is_path(value)}
