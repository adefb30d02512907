"""The bundle that a complete installer carries: when it is taken unasked."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.bundle.carried import with_carried_bundle
from amlwizard.core.choices import Choices
from amlwizard.core.host import host_facts
from amlwizard.core.paths import Workspace
from amlwizard.start_settings import read_defaults
from tests.support.bundles import draft

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a frozen program's parts."""
    folder = tmp_path / "parts"
    (folder / "bundle").mkdir(parents=True)
    monkeypatch.setattr(sys, "_MEIPASS", str(folder), raising=False)
    return folder


def put_bundle(program: Path, **manifest: Any) -> Path:
    return draft(**{"platform": host_facts().platform, **manifest}).pack(program / "bundle" / "ours.amlbundle")


def test_it_is_taken_for_a_new_workspace(program: Path, tmp_path: Path) -> None:
    bundle = put_bundle(program)
    assert with_carried_bundle(Choices(root=tmp_path / "aml")).bundle == bundle


def test_the_window_offers_it(program: Path, tmp_path: Path) -> None:
    bundle = put_bundle(program)
    environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "UV_NO_CONFIG": "1"}
    found = read_defaults(environ, tmp_path, tmp_path / "user", tmp_path / "machine")
    assert (found.choices.bundle, found.problem) == (bundle, None)


@pytest.mark.parametrize("wish", [{"profile": "minimal"}, {"refresh": True}, {"python": "3.9"}])
def test_another_wish_goes_before_it(program: Path, tmp_path: Path, wish: dict[str, Any]) -> None:
    put_bundle(program)
    choices = replace(Choices(root=tmp_path / "aml"), **wish)
    assert with_carried_bundle(choices) == choices


def test_a_bundle_that_was_named_goes_before_it(program: Path, tmp_path: Path) -> None:
    put_bundle(program)
    choices = Choices(root=tmp_path / "aml", bundle=tmp_path / "mine.amlbundle")
    assert with_carried_bundle(choices) == choices


def test_a_workspace_with_a_lock_keeps_to_it(program: Path, tmp_path: Path) -> None:
    put_bundle(program)
    choices = Choices(root=tmp_path / "aml")
    Workspace(choices.root).runtime.mkdir(parents=True)
    Workspace(choices.root).lock.write_text("")
    assert with_carried_bundle(choices).bundle is None


def test_one_for_another_computer_is_not_taken(program: Path, tmp_path: Path) -> None:
    here = host_facts().platform
    put_bundle(program, platform="macos-arm64" if here != "macos-arm64" else "linux-x86_64")
    assert with_carried_bundle(Choices(root=tmp_path / "aml")).bundle is None


def test_a_damaged_one_is_not_taken(program: Path, tmp_path: Path) -> None:
    (program / "bundle" / "ours.amlbundle").write_bytes(b"no bundle")
    assert with_carried_bundle(Choices(root=tmp_path / "aml")).bundle is None


def test_a_program_without_one_asks_for_nothing(tmp_path: Path) -> None:
    choices = Choices(root=tmp_path / "aml")
    assert with_carried_bundle(choices) == choices
