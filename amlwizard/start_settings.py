"""What the window starts with: the settings, or what is left of them where some cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.catalogue import LANGUAGES
from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from amlwizard.core.settings import home_folder, load_settings, resolve_choices
from amlwizard.ui.services import Defaults

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_defaults(
    environ: Mapping[str, str],
    cwd: Path,
    user_dir: Path | None = None,
    site_dir: Path | None = None,
    bundle: str | None = None,
    root: str | None = None,
) -> Defaults:
    """Read the settings; nothing is raised, as a window can say what is wrong and go on.

    The command line refuses settings that cannot be used. The window leaves out the variables, the user's file, or both,
    and says so. It never leaves out the machine-wide file: what that one fixes must not be lost by a slip in it.
    """
    problem: AmlError | None = None
    for with_user, with_variables in ((True, True), (True, False), (False, True), (False, False)):
        try:
            settings = load_settings(environ if with_variables else {}, user_dir, site_dir, with_user=with_user)
            choices = resolve_choices(settings, environ, cwd, bundle=bundle, root=root)
        except AmlError as error:
            problem = problem or error
            continue
        language = settings.text("language")
        return Defaults(choices, language if language in LANGUAGES else None, problem)
    return Defaults(Choices(root=home_folder(environ) / "aml"), None, problem, usable=False)
