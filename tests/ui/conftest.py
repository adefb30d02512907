"""The tests of the window need no screen; a platform that is set already stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.fake_engine import FakeEngine, fake_services
from tests.support.played_window import Play, Scene, play_scene

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def play(qapp: Any, tmp_path: Path) -> Play:
    """Play a scene with a window on a fake engine."""

    def run(engine: FakeEngine, scene: Scene) -> None:
        play_scene(qapp, fake_services(engine, tmp_path, engine.defaults), scene)

    return run
