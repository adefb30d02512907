"""Runs that no person watches, in the name of the system itself: their home folder is nobody's place for a workspace."""

from __future__ import annotations

import os
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

from amlwizard.core.errors import RefusedError
from amlwizard.core.settings import home_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.choices import Choices
    from amlwizard.core.settings_files import Settings


def refuse_unnamed_root(choices: Choices, settings: Settings, environ: Mapping[str, str], root: object) -> None:
    """Make sure that a run of the system itself does not change a workspace in a place that nobody has named.

    Args:
        choices: what was chosen.
        settings: the settings, which may name the place.
        environ: the variables of this process.
        root: the option that may name it.

    Raises:
        RefusedError: ``AML_ROOT_NOT_NAMED``.
    """
    is_named = root is not None or "root" in settings.values
    if not is_named and choices.root == home_folder(environ) / "aml" and is_system_itself(environ):
        raise RefusedError("AML_ROOT_NOT_NAMED", path=str(choices.root))


def is_system_itself(environ: Mapping[str, str]) -> bool:
    """Tell whether this is root without a terminal, or on Windows the account of the system or of a service."""
    if os.name == "nt":
        return is_home_of_system(environ)
    return os.geteuid() == 0 and not any(os.isatty(descriptor) for descriptor in (0, 1, 2))


def is_home_of_system(environ: Mapping[str, str]) -> bool:
    """Tell whether the home folder is part of Windows, as that of SYSTEM and of services is."""
    upper = {name.upper(): value for name, value in environ.items()}
    home, windows = upper.get("USERPROFILE", ""), upper.get("SYSTEMROOT", "")
    return bool(home and windows) and PureWindowsPath(home).is_relative_to(PureWindowsPath(windows))
