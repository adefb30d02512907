"""What the window starts with: the settings, or what is left of them where some cannot be used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.bundle.carried import with_carried_bundle
from amlwizard.core.catalogue import LANGUAGES
from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from amlwizard.core.settings import home_folder, load_settings, resolve_choices
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
    """Read the settings, and what the last window has left; nothing is raised, as a window can say what is wrong and go on.

    The last folder, with the packages that were to come there, is taken where nothing else names a folder or a bundle.

    The command line refuses settings that cannot be used. The window leaves out the variables, the user's file, or both,
    and says so. It never leaves out the machine-wide file: what that one fixes must not be lost by a slip in it.
    """
    problem: AmlError | None = None
    memory = WindowMemory(user_dir)
    geometry = memory.geometry()
    for with_user, with_variables in ((True, True), (True, False), (False, True), (False, False)):
        try:
            settings = load_settings(environ if with_variables else {}, user_dir, site_dir, with_user=with_user)
            choices = resolve_choices(settings, environ, cwd, bundle=bundle, root=root)
            if bundle is None and root is None and settings.text("root") is None:
                choices = as_last_time(choices, memory.last())
            choices = with_carried_bundle(choices)
        except AmlError as error:
            problem = problem or error
            continue
        language = settings.text("language")
        return Defaults(choices, language if language in LANGUAGES else None, problem, geometry=geometry)
    return Defaults(Choices(root=home_folder(environ) / "aml"), None, problem, usable=False, geometry=geometry)


def as_last_time(choices: Choices, last: Last) -> Choices:
    """Return the choices with those of the last time, where the organisation still allows that folder."""
    if last.root is None:
        return choices
    root, fixed = Path(last.root), choices.organisation
    if fixed is not None and not fixed.allows_root(root):
        return choices
    requirements = Path(last.requirements) if last.requirements is not None else None
    return replace(choices, root=root, profile=last.profile, requirements=requirements)
