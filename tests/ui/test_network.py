"""What is asked of the outside for the Network page, and what of that a closing window waits for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from amlwizard.ui.services import Login
from tests.support.fake_engine import FakeEngine
from tests.support.waiting import until

if TYPE_CHECKING:
    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play


def test_a_keyring_that_waits_for_a_person_does_not_keep_a_window_that_is_closed(play: Play) -> None:
    engine = FakeEngine()
    asked, answered = threading.Event(), threading.Event()
    over: list[Login] = []

    def wait(login: Login) -> None:
        asked.set()
        answered.wait(80)
        over.append(login)

    engine.network.keep = wait  # type: ignore[method-assign]

    async def scene(wizard: SetupWizard) -> None:
        desk = wizard.controller.network
        desk.load()
        await until(lambda: desk.settings is not None and not desk.busy)
        desk.save(engine.network.settings.values, Login("https://index.example.org", "mei", "hunter2", keep=True))
        await until(asked.is_set)

    play(engine, scene)
    assert over == []
    answered.set()
