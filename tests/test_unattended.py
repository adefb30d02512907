"""The system's own account sets up a workspace only where somebody has said so."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.settings import home_folder
from amlwizard.core.settings_files import Settings
from amlwizard.unattended import is_home_of_system, refuse_unnamed_root

if TYPE_CHECKING:
    from pathlib import Path

SYSTEM = {"SystemRoot": r"C:\Windows", "USERPROFILE": r"C:\WINDOWS\system32\config\systemprofile"}
SERVICE = {"SystemRoot": r"C:\Windows", "USERPROFILE": r"C:\Windows\ServiceProfiles\LocalService"}
PERSON = {"SystemRoot": r"C:\Windows", "USERPROFILE": r"C:\Users\Ada"}


@pytest.mark.parametrize(("environ", "expected"), [(SYSTEM, True), (SERVICE, True), (PERSON, False), ({}, False)])
def test_system_and_services_are_known_by_their_home_folder(environ: dict[str, str], *, expected: bool) -> None:
    assert is_home_of_system(environ) is expected


@pytest.fixture
def root_account() -> None:
    """Root alone is the system itself."""
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("needs root")


def _install(home: Path, *options: str, stdin: int = subprocess.DEVNULL, **variables: str) -> dict[str, str]:
    return _run(home, ["install", "--offline", *options], stdin, **variables)


def _run(home: Path, arguments: list[str], stdin: int = subprocess.DEVNULL, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AML_", "XDG_"))}
    done = subprocess.run(
        [sys.executable, "-m", "amlwizard", *arguments, "--json"],
        env={**kept, "HOME": str(home), **variables},
        stdin=stdin,
        capture_output=True,
        text=True,
    )
    event: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return {"status": str(done.returncode), **event}


@pytest.mark.usefixtures("root_account")
def test_root_without_a_terminal_has_to_name_the_folder(tmp_path: Path) -> None:
    finished = _install(tmp_path)
    assert (finished["status"], finished["code"]) == ("2", "AML_ROOT_NOT_NAMED")
    assert str(tmp_path / "aml") in finished["message"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("root_account")
@pytest.mark.parametrize(
    "command", ["rebuild", "add six", "remove six", "undo", "update uv", "repair", "store --prune", "uninstall"]
)
def test_what_changes_a_workspace_wants_it_named_too(tmp_path: Path, command: str) -> None:
    finished = _run(tmp_path, command.split())
    assert (finished["status"], finished["code"]) == ("2", "AML_ROOT_NOT_NAMED")


@pytest.mark.usefixtures("root_account")
def test_a_folder_that_is_named_is_taken_though_it_is_the_usual_one(tmp_path: Path) -> None:
    named = str(tmp_path / "aml")
    for finished in (_install(tmp_path, "--root", named), _install(tmp_path, AML_ROOT=named)):
        assert finished["code"] != "AML_ROOT_NOT_NAMED"
        assert finished["root"] == named


@pytest.mark.usefixtures("root_account")
def test_root_at_a_terminal_has_the_usual_folder(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        finished = _install(tmp_path, stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert finished["code"] != "AML_ROOT_NOT_NAMED"


@pytest.mark.usefixtures("root_account")
def test_a_folder_that_the_organisation_allows_is_named_by_it(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    refuse_unnamed_root(Choices(tmp_path / "srv" / "aml"), Settings(), environ, None)
    assert home_folder(environ) == tmp_path
