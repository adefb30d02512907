"""What a report is asked for. Settings that are wrong are a finding here, and stop nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.settings import Settings, load_settings, resolve_choices
from amlwizard.core.system_errors import reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_HOME_VARIABLES: Final = ("HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH")


@dataclass(frozen=True)
class Request:
    """What holds on this computer.

    ``settings`` are empty where they cannot be read, ``choices`` name the root alone where they are refused;
    ``refusals`` tell why.
    """

    choices: Choices
    settings: Settings
    refusals: tuple[AmlError, ...]

    @property
    def plain_choices(self) -> Choices:
        """The same workspace with nothing else chosen."""
        return Choices(self.choices.root)


def make_request(root: str | None, environ: Mapping[str, str], cwd: Path) -> Request:
    """Return what is asked for.

    Args:
        root: the workspace, where an option named it.
        environ: the environment of this process.
        cwd: the folder from which relative paths count.

    Raises:
        RefusedError: not even the root can be told.
    """
    settings, refusals = _settings(environ)
    try:
        choices = resolve_choices(settings, environ, cwd, root=root)
    except (RefusedError, OSError) as error:  # OSError: what was named lies in a folder that may not be entered
        refusals.append(error if isinstance(error, RefusedError) else _unreadable(error))
        choices = Choices(root_alone(settings, environ, cwd, root))
    return Request(choices, settings, tuple(refusals))


def request_for(choices: Choices, environ: Mapping[str, str]) -> Request:
    """Return what is asked for where the choices are known."""
    settings, refusals = _settings(environ)
    return Request(choices, settings, tuple(refusals))


def _settings(environ: Mapping[str, str]) -> tuple[Settings, list[AmlError]]:
    try:
        return load_settings(environ), []
    except RefusedError as error:
        return _without_file(environ), [error]


def _without_file(environ: Mapping[str, str]) -> Settings:
    """Return the settings without the user's file; without any where the computer's file is the wrong one."""
    try:
        return load_settings(environ, with_user=False)
    except RefusedError:
        return Settings()


def root_alone(settings: Settings, environ: Mapping[str, str], cwd: Path, root: str | None) -> Path:
    """Return the root as it would be chosen, whatever is wrong with the rest."""
    known = {key: value for key, value in settings.values.items() if key == "root"}
    bare = {name: environ[name] for name in _HOME_VARIABLES if name in environ}
    bare |= {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
    given = root or (environ.get("AML_ROOT") if not known else None)
    return resolve_choices(Settings(known), bare, cwd, root=given).root


def _unreadable(error: OSError) -> AmlError:
    return RefusedError("AML_DIAGNOSE_UNREADABLE", path=str(error.filename or "?"), reason=reason_of(error))
