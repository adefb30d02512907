"""What a lock of the workspace says of its making, and what is not believed of it."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import tomli_w

from amlwizard.core import lock_pythons
from amlwizard.core.choices import Choices
from amlwizard.core.paths import Workspace
from amlwizard.core.wish import read_wish, recorded_source

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.pylock import Pylock
    from packaging.specifiers import SpecifierSet

RIGHT = {"kind": "file", "name": "/x/requirements.txt", "digest": "0123456789ab", "python": "3.11.9"}


def recorded(root: Path, about: Any) -> dict[str, Any]:
    """Return what is taken of a note."""
    workspace = Workspace(root)
    workspace.runtime.mkdir()
    workspace.lock.write_text(tomli_w.dumps({"tool": {"amlwizard": about}}), encoding="utf-8")
    return recorded_source(workspace)


def test_what_was_noted_is_taken(tmp_path: Path) -> None:
    origin = {"kind": "profile", "name": "default", "digest": "ba9876543210"}
    about = {**RIGHT, "origin": {**origin, "more": 5}, "added": ["x", "y"]}
    assert recorded(tmp_path, about) == {**RIGHT, "origin": origin, "added": ("x", "y")}


@pytest.mark.parametrize(
    "about",
    [
        5,
        {**RIGHT, "kind": ["file"]},
        {**RIGHT, "name": {"a": 1}},
        {**RIGHT, "digest": 5},
        {**RIGHT, "python": "three"},
        {**RIGHT, "python": ""},
        {**RIGHT, "kind": "bundle"},
        {**RIGHT, "kind": "bundle", "origin": "x"},
    ],
)
def test_a_note_of_another_form_says_nothing(tmp_path: Path, about: Any) -> None:
    assert recorded(tmp_path, about) == {}


async def test_the_wheels_of_a_given_lock_are_looked_at_once_and_not_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = {"url": "https://files.example.org/fast-1.0-py3-none-any.whl", "hashes": {"sha256": "0" * 64}}
    packages = [{"name": "fast", "version": "1.0", "wheels": [wheel]}]
    given = {"lock-version": "1.0", "created-by": "another", "requires-python": ">=3.9", "packages": packages}
    file = tmp_path / "pylock.toml"
    file.write_text(tomli_w.dumps(given), encoding="utf-8")
    looked, threads = lock_pythons.python_range, []

    def look(lock: Pylock) -> SpecifierSet | None:
        threads.append(threading.current_thread())
        return looked(lock)

    monkeypatch.setattr(lock_pythons, "python_range", look)
    wish = replace(await read_wish(Choices(tmp_path / "aml", requirements=file)), leaves=frozenset({"slow"}))
    assert str(wish.python_range) == str(wish.python_range) == ">=3.9"
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()
