"""What stands between the pages and the engine."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from amlwizard.ui import controller
from amlwizard.ui.wishes import Job
from tests.support.fake_engine import FakeEngine, fake_services
from tests.support.played_window import play_scene
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from amlwizard.ui.wizard import SetupWizard


def test_a_measurement_that_took_long_is_not_made_again_at_once(
    qapp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, measured = 100.0, 0

    def measure(_root: Path) -> int:
        nonlocal now, measured
        now += 3
        measured += 1
        return 0

    async def scene(wizard: SetupWizard) -> None:
        nonlocal now
        ours = wizard.controller
        wizard.run_job(Job.INSTALL, wizard.start_page.choices())
        await until(lambda: ours.running)
        ours.measure()
        first = ours._measuring
        assert first is not None
        await first
        now += 59
        ours.measure()
        assert ours._measuring is first
        now += 2
        ours.measure()
        await until(lambda: measured == 2)

    monkeypatch.setattr(controller, "time", SimpleNamespace(monotonic=lambda: now))
    services = replace(fake_services(FakeEngine(hold_at="fetch"), tmp_path), written_bytes=measure)
    play_scene(qapp, services, scene)
