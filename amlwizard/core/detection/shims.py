"""pyenv's launchers on PATH: what stands behind them is read from files, as a start takes a tenth of a second."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.plain_files import exists, is_folder, read_plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_shim(path: Path) -> bool:
    """Tell whether a path is one of pyenv's launchers."""
    return path.parent.name == "shims" and is_folder(path.parent.parent / "versions")


def behind_shim(path: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the program that a launcher would start outside any project, or None where no active version has it."""
    root = path.parent.parent
    try:
        chosen = environ.get("PYENV_VERSION", "").replace(":", "\n") or read_plain_text(root / "version")
    except (OSError, ValueError):
        return None
    for version in chosen.split():
        program = root / "versions" / Path(version).name / "bin" / path.name
        if exists(program):
            return program
    return None
