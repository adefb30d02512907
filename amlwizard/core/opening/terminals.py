"""A terminal with the environment active: what is started for it on each system, as pure functions.

The user's own start-up files come first and may put another Python into PATH, so the environment is activated after them.
Terminals of Linux desktops hand neither a folder nor variables to the shell: they, and Terminal on macOS, are given a
script to run, which lies in the workspace. No path stands in a line that a shell would take apart.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from amlwizard.core.opening.shells import Shell, activation, programs_folder, shell_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path, PurePath

SCRIPT: Final = "open.command"
"""macOS opens a script of this name in a terminal."""

_TERMINALS: Final = (
    ("xdg-terminal-exec",),
    ("x-terminal-emulator", "-e"),
    ("gnome-terminal", "--"),
    ("ptyxis", "--"),
    ("konsole", "-e"),
    ("xfce4-terminal", "-x"),
    ("mate-terminal", "-x"),
    ("kitty",),
    ("alacritty", "-e"),
    ("foot",),
    ("wezterm", "start", "--"),
    ("xterm", "-e"),
)
"""Terminals of Linux, each with what goes before the command; first what the user or the distribution has chosen."""


@dataclass(frozen=True)
class Opening:
    """How a terminal is opened: a command, variables for it, and whether it is a console program of Windows."""

    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    console: bool = False


def linux_terminal(which: Callable[[str], str | None], script: PurePath) -> Opening | None:
    """Return how a terminal of a Linux desktop runs the script; None where there is no terminal that is known."""
    for name, *flags in _TERMINALS:
        program = which(name)
        if program is not None:
            return Opening((program, *flags, "/bin/sh", str(script)))
    return None


def mac_terminal(script: PurePath) -> Opening:
    """Return how the terminal that the user has chosen on macOS runs the script."""
    return Opening(("/usr/bin/open", str(script)))


def windows_terminal(which: Callable[[str], str | None], variables: Mapping[str, str], environment: PurePath) -> Opening:
    """Return how PowerShell, or where there is none, cmd is opened on Windows.

    Paths are told by variables alone. What PowerShell is told runs after the user's profile, without being a script.
    """
    path = next((value for name, value in variables.items() if name.upper() == "PATH"), "")
    ours = {"VIRTUAL_ENV": str(environment), "PATH": f"{programs_folder(environment)};{path}"}
    powershell = which("pwsh") or which("powershell")
    if powershell is not None:
        line = '$env:PATH = "$env:VIRTUAL_ENV\\Scripts;$env:PATH"'
        return Opening((powershell, "-NoLogo", "-NoExit", "-Command", line), ours, console=True)
    shown = {"PROMPT": f"({environment.name}) {variables.get('PROMPT', '$P$G')}"}
    return Opening((variables.get("COMSPEC") or "cmd.exe",), ours | shown, console=True)


def terminal_files(root: Path, environment: Path, folder: Path, shell: str) -> dict[str, str]:
    """Return the script that a terminal runs, and what the user's shell reads because of it, by names in ``folder``.

    Args:
        root: the folder that the terminal opens in.
        environment: the environment.
        folder: where these files will lie, below ``root``.
        shell: the path of the user's shell.
    """
    kind = shell_kind(shell)
    run, files = [shell, "-i"], {}
    lines = ["#!/bin/sh", f"cd {shlex.quote(str(root))} || exit"]
    match kind:
        case Shell.BASH:
            run = [shell, "--rcfile", str(folder / "bashrc"), "-i"]
            files = {"bashrc": _text("[ -f ~/.bashrc ] && . ~/.bashrc", activation(kind, environment))}
        case Shell.ZSH:
            place = shlex.quote(str(folder.relative_to(root)))  # zsh fails on some letters, such as 境, in this path alone
            lines += ['AML_ZDOTDIR="${ZDOTDIR-$HOME}"', f"ZDOTDIR={place}", "export AML_ZDOTDIR ZDOTDIR"]
            files = _zsh_files(activation(kind, environment), place)
        case Shell.FISH:
            run = [shell, "-i", "--init-command", activation(kind, environment)]
        case Shell.SH:
            place = shlex.quote(str(folder / "shrc"))  # a shell expands what ENV says once more
            lines += ['AML_ENV="${ENV-}"', f"AML_SHRC={place}", "ENV='$AML_SHRC'", "export AML_ENV AML_SHRC ENV"]
            own = 'ENV="$AML_ENV"; eval "AML_ENV=\\"$ENV\\""; [ -f "$AML_ENV" ] && . "$AML_ENV"; unset AML_ENV AML_SHRC'
            files = {"shrc": _text(own, activation(kind, environment))}
        case _:  # it has no way to read something last; the variables are there before its own files
            lines.append(activation(Shell.SH, environment))
            run = [shell]
    return {SCRIPT: _text(*lines, f"exec {shlex.join(run)}"), **files}


def _zsh_files(activate: str, folder: str) -> dict[str, str]:
    """Return the start-up files that lead zsh to the user's own, wherever those say that they lie, and activate last."""
    environment = (
        'ZDOTDIR="$AML_ZDOTDIR"',
        '[ -f "$ZDOTDIR/.zshenv" ] && . "$ZDOTDIR/.zshenv"',
        'AML_ZDOTDIR="$ZDOTDIR"',
        f"ZDOTDIR={folder}",
    )
    interactive = ('ZDOTDIR="$AML_ZDOTDIR"; unset AML_ZDOTDIR', '[ -f "$ZDOTDIR/.zshrc" ] && . "$ZDOTDIR/.zshrc"', activate)
    return {".zshenv": _text(*environment), ".zshrc": _text(*interactive)}


def _text(*lines: str) -> str:
    return "\n".join((*lines, ""))
