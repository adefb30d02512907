"""What a lock of the workspace says of its making, and what is not believed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import tomli_w

from amlwizard.core.paths import Workspace
from amlwizard.core.wish import recorded_source

if TYPE_CHECKING:
    from pathlib import Path

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
