"""The window right after its first paint, when it has its start page alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.facts import EnvironmentFacts
from amlwizard.ui.step_list import PageId
from tests.support.fake_engine import FakeEngine, fake_services
from tests.support.played_window import Play, Scene, at_maintenance, click, part, play_scene
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.ui.wizard import SetupWizard


@pytest.fixture
def play(qapp: Any, tmp_path: Path) -> Play:
    """Play a scene with a window on a fake engine, from the first paint on."""

    def run(engine: FakeEngine, scene: Scene) -> None:
        async def whole(wizard: SetupWizard) -> None:
            assert wizard.pageIds() == [PageId.START]
            await scene(wizard)

        play_scene(qapp, fake_services(engine, tmp_path, engine.defaults), whole, complete=False)

    return run


@pytest.mark.parametrize(("button", "page"), [("customiseButton", PageId.CHECK), ("networkButton", PageId.NETWORK)])
def test_what_is_clicked_at_once_leads_on(play: Play, button: str, page: PageId) -> None:
    async def scene(wizard: SetupWizard) -> None:
        click(wizard, button)
        assert wizard.currentId() == page

    play(FakeEngine(), scene)


def test_an_environment_that_is_found_at_once_leads_to_its_page(play: Play) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", python="3.11.2", packages=106)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert part(wizard, "verifyButton").isEnabled()

    play(engine, scene)


def test_the_other_pages_come_by_themselves(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.pageIds() == list(PageId))

    play(FakeEngine(), scene)


def test_a_page_that_comes_late_shows_what_was_found_before(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        wizard.start_page.survey()
        await until(lambda: wizard.controller.plan is not None and not wizard.controller.surveying)
        wizard.complete()
        assert part(wizard, "candidatesView").topLevelItemCount()
        assert part(wizard, "planView").topLevelItemCount()

    play(FakeEngine(), scene)
