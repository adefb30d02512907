"""The shells: which one a user has, and how each is told to use an environment. The one place for quoting of any shell.

Environments that uv makes have no script for csh, and one that is wrong under dash; PowerShell may be forbidden to run
scripts. There the two variables are set that matter, PATH and VIRTUAL_ENV.
"""

from __future__ import annotations

import re
import shlex
from enum import StrEnum
from pathlib import PurePath, PureWindowsPath
from typing import Final


class Shell(StrEnum):
    """Shells that are alike in what they are told."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    CSH = "csh"
    SH = "sh"
    POWERSHELL = "powershell"
    CMD = "cmd"


SHELLS: Final = {
    "posix": (Shell.BASH, Shell.ZSH, Shell.FISH, Shell.CSH, Shell.SH, Shell.POWERSHELL),
    "nt": (Shell.POWERSHELL, Shell.CMD),
}
"""The shells of a system (``os.name``), the usual one first."""

_KINDS: Final = {shell.value: shell for shell in Shell} | {
    "tcsh": Shell.CSH,
    **dict.fromkeys(("dash", "ash", "ksh", "mksh"), Shell.SH),
    "pwsh": Shell.POWERSHELL,
}
_QUOTES_OF_POWERSHELL: Final = re.compile("(['\u2018\u2019\u201a\u201b])")


def shell_kind(program: str) -> Shell | None:
    """Return what a shell is by its path or name; None for one that is told nothing here."""
    return _KINDS.get(PurePath(program).name)


def programs_folder(environment: PurePath) -> PurePath:
    """Return the folder of an environment that belongs into PATH."""
    return environment / ("Scripts" if isinstance(environment, PureWindowsPath) else "bin")


def activation(shell: Shell, environment: PurePath) -> str:
    """Return the line that makes a shell use an environment from now on."""
    programs = str(programs_folder(environment))
    match shell:
        case Shell.BASH | Shell.ZSH:
            return f"source {shlex.quote(f'{programs}/activate')}"
        case Shell.FISH:
            return f"source {_in_fish(f'{programs}/activate.fish')}"
        case Shell.CSH:
            return f'setenv VIRTUAL_ENV {_in_csh(str(environment))}; setenv PATH {_in_csh(programs)}:"$PATH"'
        case Shell.SH:
            return f'export VIRTUAL_ENV={shlex.quote(str(environment))} PATH={shlex.quote(programs)}:"$PATH"'
        case Shell.POWERSHELL:
            separator = ";" if isinstance(environment, PureWindowsPath) else ":"
            root, path = _in_powershell(str(environment)), _in_powershell(f"{programs}{separator}")
            return f"$env:VIRTUAL_ENV = {root}; $env:PATH = {path} + $env:PATH"
        case Shell.CMD:
            return f'"{programs}\\activate.bat"'


def _in_fish(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _in_csh(text: str) -> str:
    escaped = text.replace("'", "'\\''").replace("!", "\\!")  # the mark means the history, between quotes as well
    return f"'{escaped}'"


def _in_powershell(text: str) -> str:
    doubled = _QUOTES_OF_POWERSHELL.sub(r"\1\1", text)
    return f"'{doubled}'"
