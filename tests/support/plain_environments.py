"""An environment that holds what the text mode needs and nothing of Qt, made of what is installed here."""

from __future__ import annotations

import importlib.metadata
import tomllib
import venv
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from amlwizard.core.paths import venv_python

_PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
_WINDOW_ONLY = frozenset({"pyside6-essentials", "qasync"})


def make_environment_without_qt(folder: Path) -> Path:
    """Make a virtual environment with amlwizard's dependencies but for the window's; return its interpreter."""
    venv.EnvBuilder(symlinks=True).create(folder)
    python = venv_python(folder)
    (site,) = [*folder.glob("lib/*/site-packages"), *folder.glob("Lib/site-packages")]
    for name in _needed():
        for file in importlib.metadata.files(name) or ():
            source = Path(str(file.locate()))
            if file.parts[0] != "..":
                target = site / file.parts[0]
                source = Path(str(importlib.metadata.distribution(name).locate_file(file.parts[0])))
            elif source.parent.name in {"bin", "Scripts"}:
                target = python.parent / source.name
            else:
                continue
            if not target.exists():
                target.symlink_to(source.resolve())
    return python


def _needed() -> set[str]:
    """Return the names of all distributions that the dependencies of the text mode lead to."""
    waiting = [Requirement(text) for text in tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]]
    found: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and name not in found | _WINDOW_ONLY:
            found.add(name)
            waiting += [Requirement(text) for text in importlib.metadata.requires(name) or ()]
    return found
