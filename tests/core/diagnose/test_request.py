"""Settings that are wrong are a finding of a report, and stop nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.diagnose.request import make_request
from amlwizard.core.errors import RefusedError
from amlwizard.core.settings import user_settings_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A home of its own, also for the places of settings."""
    home = tmp_path / "home"
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", str(home / "AppData" / "Local"))
    for name in ("XDG_CONFIG_HOME", "AML_ROOT"):
        monkeypatch.delenv(name, raising=False)
    return {"HOME": str(home), "USERPROFILE": str(home)}


def settings(text: str) -> None:
    file = user_settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_takes_settings_and_choices_as_every_command(environ: dict[str, str], tmp_path: Path) -> None:
    settings(json.dumps({"root": str(tmp_path / "w"), "proxy": "http://proxy.example.org"}))
    request = make_request(None, environ, tmp_path)
    assert (request.choices.root, request.choices.proxy) == (tmp_path / "w", "http://proxy.example.org")
    assert request.refusals == ()
    assert request.plain_choices == Choices(tmp_path / "w")


def test_settings_that_cannot_be_read_are_named(environ: dict[str, str], tmp_path: Path) -> None:
    settings("{")
    request = make_request(None, environ | {"AML_ROOT": str(tmp_path / "w")}, tmp_path)
    assert request.choices.root == tmp_path / "w"
    assert [error.code for error in request.refusals] == ["AML_SETTINGS_UNREADABLE"]


@pytest.mark.parametrize("root", [None, "given"])
def test_a_choice_that_cannot_be_used_is_named_and_the_root_is_kept(
    environ: dict[str, str], tmp_path: Path, root: str | None
) -> None:
    settings(json.dumps({"root": str(tmp_path / "w"), "uv": "/does/not/exist", "caFile": "/neither"}))
    request = make_request(root, environ, tmp_path)
    assert request.choices == Choices(tmp_path / (root or "w"))
    assert [error.code for error in request.refusals] == ["AML_UV_MISSING"]
    assert request.settings.text("caFile") == "/neither"


def test_without_a_root_there_is_no_report(environ: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        make_request("w\0", environ, tmp_path)
    assert caught.value.code == "AML_PATH_INVALID"


def test_a_path_that_may_not_be_looked_at_is_named(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object, **__: object) -> Choices:
        monkeypatch.undo()
        raise PermissionError(13, "Permission denied", "/closed/uv")

    monkeypatch.setattr("amlwizard.core.diagnose.request.resolve_choices", closed)
    request = make_request(str(tmp_path / "w"), environ, tmp_path)
    (error,) = request.refusals
    assert (error.code, error.arguments["path"]) == ("AML_DIAGNOSE_UNREADABLE", "/closed/uv")
    assert request.choices == Choices(tmp_path / "w")
