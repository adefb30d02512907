"""What the shells are told, and what the real ones make of it with a path that each of them would take apart."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from amlwizard.core.opening.shells import Shell, activation, shell_kind

SPOILT = """it's a $HOME `x` "y" \\n & 100% ; (环境)"""
ACTIVATE = """
VIRTUAL_ENV=$(cd "$(dirname -- "${BASH_SOURCE:-${(%):-%x}}")/.." && pwd); PATH="$VIRTUAL_ENV/bin:$PATH"
export PATH VIRTUAL_ENV
"""
ACTIVATE_FISH = "set -gx VIRTUAL_ENV (dirname (dirname (status -f))); set -gx PATH $VIRTUAL_ENV/bin $PATH\n"
RUNS = {
    "bash": ("--noprofile", "--norc", "-c"),
    "zsh": ("-f", "-c"),
    "fish": ("--no-config", "-c"),
    "sh": ("-c",),
    "dash": ("-c",),
    "ksh": ("-c",),
    "csh": ("-f", "-c"),
    "tcsh": ("-f", "-c"),
    "pwsh": ("-NoProfile", "-Command"),
}


def make_environment(folder: Path) -> Path:
    """Make what activation needs of an environment: its scripts, and a program to be found by its bare name."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    (programs / "activate").write_text(ACTIVATE)
    (programs / "activate.fish").write_text(ACTIVATE_FISH)
    program = programs / "which-environment"
    program.write_text('#!/bin/sh\nprintf "%s" "$VIRTUAL_ENV"\n')
    program.chmod(0o755)
    return folder


@pytest.mark.posix
@pytest.mark.parametrize("name", RUNS)
def test_a_shell_uses_the_environment_whatever_its_path(name: str, tmp_path: Path) -> None:
    program, kind = shutil.which(name), shell_kind(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    assert kind is not None
    environment = make_environment(tmp_path / f"{SPOILT} wow!" / ".venv")
    line = f"{activation(kind, environment)}; which-environment"
    told = subprocess.run([program, *RUNS[name], line], capture_output=True, text=True, encoding="utf-8")
    assert (told.stdout, told.stderr) == (str(environment), "")


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        (Shell.BASH, "source '/a b/.venv/bin/activate'"),
        (Shell.ZSH, "source '/a b/.venv/bin/activate'"),
        (Shell.FISH, "source '/a b/.venv/bin/activate.fish'"),
        (Shell.CSH, "setenv VIRTUAL_ENV '/a b/.venv'; setenv PATH '/a b/.venv/bin':\"$PATH\""),
        (Shell.SH, "export VIRTUAL_ENV='/a b/.venv' PATH='/a b/.venv/bin':\"$PATH\""),
        (Shell.POWERSHELL, "$env:VIRTUAL_ENV = '/a b/.venv'; $env:PATH = '/a b/.venv/bin:' + $env:PATH"),
    ],
)
def test_each_shell_is_told_in_its_own_words(shell: Shell, line: str) -> None:
    assert activation(shell, PurePosixPath("/a b/.venv")) == line


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        (Shell.CMD, '"C:\\O\'Neil & Co\\.venv\\Scripts\\activate.bat"'),
        (
            Shell.POWERSHELL,
            r"$env:VIRTUAL_ENV = 'C:\O''Neil & Co\.venv'; $env:PATH = 'C:\O''Neil & Co\.venv\Scripts;' + $env:PATH",
        ),
    ],
)
def test_the_shells_of_windows_are_told_with_its_paths(shell: Shell, line: str) -> None:
    assert activation(shell, PureWindowsPath("C:\\O'Neil & Co\\.venv")) == line


def test_every_quote_that_powershell_takes_for_one_is_doubled() -> None:
    line = activation(Shell.POWERSHELL, PureWindowsPath("C:\\a\u2019b\u2018c"))
    assert "'C:\\a\u2019\u2019b\u2018\u2018c'" in line


@pytest.mark.parametrize(
    ("program", "kind"),
    [("/bin/bash", Shell.BASH), ("/usr/bin/tcsh", Shell.CSH), ("dash", Shell.SH), ("pwsh", Shell.POWERSHELL), ("nu", None)],
)
def test_a_shell_is_known_by_the_name_of_its_program(program: str, kind: Shell | None) -> None:
    assert shell_kind(program) is kind
