"""What opens a terminal on each system, and that the real shells have the environment active in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.opening.terminals import SCRIPT, linux_terminal, mac_terminal, terminal_files, windows_terminal
from tests.core.opening.test_shells import SPOILT, make_environment

if TYPE_CHECKING:
    from collections.abc import Callable

OTHERS = "PATH=/other/python:$PATH; MINE=1\n"


def installed(*names: str) -> Callable[[str], str | None]:
    """Return what finds these programs alone."""
    return lambda name: f"/usr/bin/{name}" if name in names else None


@pytest.mark.posix
@pytest.mark.parametrize("name", ["bash", "zsh", "fish", "sh", "dash", "ksh", "csh", "tcsh"])
def test_a_real_shell_opens_in_the_folder_with_the_environment_first(name: str, tmp_path: Path) -> None:
    shell = shutil.which(name)
    if shell is None:
        pytest.skip(f"{name} is not installed")
    root, home = tmp_path / f"{SPOILT} wow!", tmp_path / "home"
    environment, folder = make_environment(root / ".venv"), root / "runtime" / "terminal"
    for place in (folder, home / ".config" / "fish", home / "zsh"):
        place.mkdir(parents=True)
    (home / ".bashrc").write_text(OTHERS)
    (home / "shrc").write_text(OTHERS)
    (home / ".zshenv").write_text('ZDOTDIR="$HOME/zsh"\n')
    (home / "zsh" / ".zshrc").write_text(OTHERS)
    (home / ".config" / "fish" / "config.fish").write_text("set PATH /other/python $PATH; set MINE 1\n")
    (home / ".cshrc").write_text("set MINE = 1\n")
    for file, text in terminal_files(root, environment, folder, shell).items():
        (folder / file).write_text(text, encoding="utf-8")
    told = subprocess.run(
        ["/bin/sh", folder / SCRIPT],
        input='which-environment; echo; echo "[$MINE]"; pwd; exit\n',
        env=os.environ | {"HOME": str(home), "PATH": os.defpath, "ENV": "$HOME/shrc", "TERM": "dumb", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    said = told.stdout.splitlines()
    assert [line for line in (str(environment), "[1]", str(root)) if not any(line in one for one in said)] == [], told


@pytest.mark.parametrize(
    ("names", "command"),
    [
        (("xterm", "konsole"), ("/usr/bin/konsole", "-e", "/bin/sh", "/a b/open.command")),
        (("xdg-terminal-exec", "konsole"), ("/usr/bin/xdg-terminal-exec", "/bin/sh", "/a b/open.command")),
        (("gnome-terminal",), ("/usr/bin/gnome-terminal", "--", "/bin/sh", "/a b/open.command")),
    ],
)
def test_a_terminal_of_linux_gets_the_script_as_one_word(names: tuple[str, ...], command: tuple[str, ...]) -> None:
    opening = linux_terminal(installed(*names), PurePosixPath("/a b/open.command"))
    assert opening is not None
    assert opening.command == command


def test_without_a_terminal_there_is_none() -> None:
    assert linux_terminal(installed("bash"), PurePosixPath("/a/open.command")) is None


def test_macos_opens_the_script_with_what_the_user_has_chosen() -> None:
    assert mac_terminal(PurePosixPath("/a b/open.command")).command == ("/usr/bin/open", "/a b/open.command")


@pytest.mark.parametrize(
    ("name", "program"), [("pwsh", "/usr/bin/pwsh"), ("powershell", "/usr/bin/powershell"), ("", "C:\\cmd.exe")]
)
def test_windows_tells_paths_by_variables_alone(name: str, program: str) -> None:
    environment = PureWindowsPath("C:\\O'Neil & 100%\\.venv")
    opening = windows_terminal(installed(name), {"Path": "C:\\Windows", "COMSPEC": "C:\\cmd.exe"}, environment)
    assert opening.command[0] == program
    assert opening.console
    assert opening.variables["PATH"] == "C:\\O'Neil & 100%\\.venv\\Scripts;C:\\Windows"
    assert opening.variables["VIRTUAL_ENV"] == str(environment)
    assert "Neil" not in " ".join(opening.command)
    assert opening.variables.get("PROMPT", "(.venv) $P$G") == "(.venv) $P$G"
