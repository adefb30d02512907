"""What the window starts with: the settings, or why they cannot be used."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.bundle.carried import with_carried_bundle
from amlwizard.core.catalogue import LANGUAGES
from amlwizard.core.choices import Choices
from amlwizard.core.diagnose.request import root_alone
from amlwizard.core.errors import AmlError
from amlwizard.core.settings import (
    Settings,
    home_folder,
    load_settings,
    machine_settings_file,
    resolve_choices,
    user_settings_file,
)
from amlwizard.ui.services import Defaults
from amlwizard.window_memory import WindowMemory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.window_memory import Last


def read_defaults(
    environ: Mapping[str, str],
    cwd: Path,
    user_dir: Path | None = None,
    site_dir: Path | None = None,
    bundle: str | None = None,
    root: str | None = None,
) -> Defaults:
    """Read the settings, and what the last window has left; nothing is raised, as a window can say what is wrong.

    The last folder, with the packages that were to come there, is taken where nothing else names a folder or a bundle.

    Where a setting cannot be used, the window may set up nothing, as little as the command line does: what was left out may
    name the only index or folder that is allowed. It shows the folder that was named, as far as that is known.
    """
    memory = WindowMemory(user_dir)
    settings = Settings()
    language: str | None = None
    problem: AmlError | None = None
    try:
        settings = load_settings(environ, user_dir, site_dir)
        language = settings.text("language")
        choices = resolve_choices(settings, environ, cwd, bundle=bundle, root=root)
    except AmlError as error:
        problem = error
        named = Path(os.path.abspath(cwd / bundle)) if bundle is not None else None  # noqa: PTH100 - links stay
        choices = Choices(root=_root(settings, environ, cwd, root), bundle=named)
    if bundle is None and root is None and not environ.get("AML_ROOT") and settings.text("root") is None:
        choices = as_last_time(choices, memory.last())
    if problem is None:
        choices = with_carried_bundle(choices)
    file = _file_of(problem, user_settings_file(user_dir), machine_settings_file(site_dir))
    known = language if language in LANGUAGES else None
    return Defaults(choices, known, problem, memory.geometry(), file)


def _root(settings: Settings, environ: Mapping[str, str], cwd: Path, root: str | None) -> Path:
    try:
        return root_alone(settings, environ, cwd, root)
    except AmlError:
        return home_folder(environ) / "aml"


def _file_of(problem: AmlError | None, *files: Path) -> Path | None:
    """Return the settings file in which a problem is."""
    told = [str(value) for value in problem.arguments.values()] if problem is not None else []
    return next((file for file in files if str(file) in told), None)


def as_last_time(choices: Choices, last: Last) -> Choices:
    """Return the choices with those of the last time, where the organisation still allows that folder."""
    if last.root is None:
        return choices
    root, fixed = Path(last.root), choices.organisation
    if fixed is not None and not fixed.allows_root(root):
        return choices
    requirements = Path(last.requirements) if last.requirements is not None else None
    return replace(choices, root=root, profile=last.profile, requirements=requirements)
