"""Packages are added, removed, updated and taken back on the maintenance page itself, and space is freed there."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from amlwizard.core.catalogue import LANGUAGES
from amlwizard.core.choices import Choices, Part
from amlwizard.core.errors import AmlError
from amlwizard.core.events import ChangesEvent, FinishedEvent, RunState, StoreEvent
from amlwizard.core.facts import AddedPackage, EnvironmentFacts
from amlwizard.core.opening.jupyter import JupyterState
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from tests.support.fake_engine import FakeEngine, store_content
from tests.support.played_window import at_maintenance, click, part, reading
from tests.support.waiting import until
from tests.ui.test_share import missing

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.events import Emit
    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play

NEWER = ChangesEvent(added=(("tinyz", "3.0"),), changed=(("tinya", "1.0", "2.0"),))


def ready_engine(**given: object) -> FakeEngine:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", python="3.11.2", packages=106)
    engine.can_undo = True
    for name, value in given.items():
        setattr(engine, name, value)
    return engine


async def ended(wizard: SetupWizard) -> None:
    """Wait until a run is over and its page says so."""
    assert wizard.currentId() == PageId.RUN
    await until(lambda: not wizard.controller.running)


async def looked(wizard: SetupWizard, button: str) -> None:
    """Press a button that looks ahead, and wait for what it finds."""
    click(wizard, button)
    assert part(wizard, "aheadLabel").isVisible()
    await until(lambda: not wizard.controller.foresight.busy)


def test_packages_are_added_by_a_line_on_the_page(play: Play, tmp_path: Path) -> None:
    engine = ready_engine(changes=ChangesEvent(added=(("tinyx", "1.0"),)))
    engine.defaults = Defaults(Choices(root=tmp_path, profile="minimal"))

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert not part(wizard, "addEdit").isVisible()
        click(wizard, "addPackagesButton")
        edit = part(wizard, "addEdit")
        assert wizard.focusWidget() is edit
        assert not part(wizard, "addButton").isEnabled()
        QTest.keyClicks(edit, "tinyx, tinyy == 2")
        QTest.keyClick(edit, Qt.Key.Key_Return)
        await ended(wizard)
        assert wizard.run_page.changes.text() == "What changes: 1 new."
        wizard.back()
        assert wizard.currentId() == PageId.MAINTENANCE
        assert not part(wizard, "addEdit").isVisible()

    play(engine, scene)
    ((name, choices),) = engine.calls
    assert (name, choices.add, choices.remove, choices.profile) == ("change", ("tinyx", "tinyy==2"), (), None)


def test_what_is_no_name_is_told_beside_the_line_and_nothing_is_begun(play: Play) -> None:
    engine = ready_engine()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "addPackagesButton")
        edit = part(wizard, "addEdit")
        edit.setText("tinyx ??")
        click(wizard, "addButton")
        problem = part(wizard, "addProblemLabel")
        assert problem.text().startswith("?? does not name a package")
        assert wizard.currentId() == PageId.MAINTENANCE
        wizard.words.set_language("zh_CN")
        assert "不是有效的依赖包名称" in problem.text()
        edit.setText("tinyx")
        assert not problem.isVisible()

    play(engine, scene)
    assert engine.calls == []


@pytest.mark.parametrize("name", ["tinyx", "tinya", "tinyk"])
def test_whatever_was_added_is_listed_and_can_be_taken_out(play: Play, name: str) -> None:
    engine = ready_engine()
    by_hand = (AddedPackage("tinyx", "1.0"), AddedPackage("tinya", "1.0", "2.0"))
    kept = (AddedPackage("tinyk", "3.0"), AddedPackage("-e /src/mine", ""))
    engine.environment = replace(engine.environment, added=by_hand, kept=kept)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "addPackagesButton")
        buttons = {button.text(): button for button in part(wizard, "addedView").findChildren(QPushButton)}
        assert list(buttons) == ["Remove", "Back to 2.0"]
        assert len(part(wizard, "addedView").findChildren(QPushButton)) == 3  # none for a folder
        assert part(wizard, "remove-tinyx").accessibleName() == "Remove tinyx 1.0"
        assert not part(wizard, "addedLabel").isVisible()
        click(wizard, f"remove-{name}")
        await ended(wizard)

    play(engine, scene)
    assert [(called, choices.add, choices.remove) for called, choices in engine.calls] == [("change", (), (name,))]


def test_an_update_shows_what_would_change_and_asks(play: Play, tmp_path: Path) -> None:
    engine = ready_engine(changes=NEWER)
    engine.defaults = Defaults(Choices(root=tmp_path, profile="minimal"))

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert part(wizard, "sizeChart").isVisible()
        await looked(wizard, "updateButton")
        assert part(wizard, "aheadLabel").text() == "What changes: 1 new, 1 in another version or build."
        view = part(wizard, "aheadView")
        assert [view.item(row).text() for row in range(view.count())] == ["+ tinyz 3.0", "tinya 1.0 → 2.0"]
        assert not part(wizard, "sizeChart").isVisible()
        wizard.words.set_language("zh_CN")
        assert reading(part(wizard, "aheadDoButton")) == "更新依赖包"
        wizard.words.set_language("en")
        assert wizard.focusWidget() is part(wizard, "aheadLeaveButton")
        click(wizard, "aheadLeaveButton")
        assert not view.isVisible()
        assert part(wizard, "sizeChart").isVisible()
        assert wizard.focusWidget() is part(wizard, "updateButton")
        await looked(wizard, "updateButton")
        click(wizard, "aheadDoButton")
        await ended(wizard)

    play(engine, scene)
    assert [(name, choices.refresh, choices.profile) for name, choices in engine.calls] == [
        ("plan", True, None),
        ("plan", True, None),
        ("rebuild", True, None),
    ]


def test_python_and_uv_are_offered_beside_the_packages_each_by_itself(play: Play, tmp_path: Path) -> None:
    engine = ready_engine(changes=ChangesEvent())
    engine.updates = {Part.PYTHON: ("Python 3.11.2 3.11.13", 29_000_000), Part.UV: ("uv 0.13.2 0.13.9", 0)}
    engine.defaults = Defaults(Choices(root=tmp_path, profile="minimal"))

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await looked(wizard, "updateButton")
        assert part(wizard, "aheadLabel").text().startswith("Packages: nothing newer")
        assert not part(wizard, "aheadDoButton").isVisible()
        assert reading(part(wizard, "aheadLeaveButton")) == "Keep the existing versions"
        assert part(wizard, "aheadPythonLabel").text().startswith("Python 3.11.2 → 3.11.13, 29 MB to download. ")
        assert part(wizard, "aheadUvLabel").text().startswith("uv 0.13.2 → 0.13.9, nothing to download. ")
        part(wizard, "aheadPythonButton").setFocus()
        for name in ("aheadPythonButton", "aheadUvButton", "aheadLeaveButton"):
            assert wizard.focusWidget() is part(wizard, name)
            QTest.keyClick(part(wizard, name), Qt.Key.Key_Tab)
        wizard.words.set_language("zh_CN")
        assert part(wizard, "aheadPythonLabel").text().startswith("Python 3.11.2 → 3.11.13，需下载 29 MB。")
        assert reading(part(wizard, "aheadUvButton")) == "更新 uv"
        wizard.words.set_language("en")
        click(wizard, "aheadPythonButton")
        await ended(wizard)
        wizard.back()
        await until(lambda: wizard.controller.idle)
        await looked(wizard, "updateButton")
        click(wizard, "aheadUvButton")
        await ended(wizard)

    play(engine, scene)
    begun = [(name, choices.update, choices.refresh, choices.profile) for name, choices in engine.calls if name != "plan"]
    assert begun == [("update", Part.PYTHON, False, None), ("update", Part.UV, False, None)]


def test_what_stands_in_the_way_of_one_update_leaves_the_others(play: Play) -> None:
    engine = ready_engine(changes=NEWER)
    foreign = AmlError("AML_UPDATE_PYTHON_FOREIGN", version="3.11.2", path="/usr/bin/python3.11")
    engine.updates = {Part.PYTHON: foreign, Part.UV: "uv 0.13.9 is the newest that is offered."}

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await looked(wizard, "updateButton")
        assert "/usr/bin/python3.11" in part(wizard, "aheadPythonLabel").text()
        assert not part(wizard, "aheadPythonButton").isVisible()
        assert part(wizard, "aheadUvLabel").text() == "uv 0.13.9 is the newest that is offered."
        assert not part(wizard, "aheadUvButton").isVisible()
        assert part(wizard, "aheadDoButton").isVisible()
        await looked(wizard, "freeSpaceButton")
        assert not part(wizard, "aheadPythonLabel").isVisible()

    play(engine, scene)


@pytest.mark.parametrize(
    ("given", "said", "offered"),
    [
        ({"changes": ChangesEvent()}, "nothing newer", False),
        ({"changes": None}, "cannot be told beforehand", True),
    ],
)
def test_an_update_says_plainly_what_it_knows(play: Play, given: dict[str, object], said: str, offered: bool) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await looked(wizard, "updateButton")
        assert said in part(wizard, "aheadLabel").text()
        assert part(wizard, "aheadDoButton").isVisible() is offered
        assert not part(wizard, "aheadView").isVisible()

    play(ready_engine(**given), scene)


def test_what_keeps_an_update_from_looking_is_told_on_the_page(play: Play) -> None:
    engine = ready_engine()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        engine.refusal = AmlError("AML_BUNDLE_REFRESH", name="team")
        await looked(wizard, "updateButton")
        assert "team" in part(wizard, "aheadLabel").text()
        assert not part(wizard, "aheadDoButton").isVisible()

    play(engine, scene)


@pytest.mark.parametrize("way", ["aheadLeaveButton", "addPackagesButton", "uninstallButton", "otherFolderButton"])
def test_looking_ahead_stops_when_something_else_is_asked_for(play: Play, way: str) -> None:
    engine = ready_engine(hold_at="plan", changes=NEWER)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "updateButton")
        await until(lambda: bool(engine.calls))
        assert reading(part(wizard, "aheadLeaveButton")) == "Stop looking"
        click(wizard, way)
        await until(lambda: wizard.controller.idle)
        assert not part(wizard, "aheadLabel").isVisible()
        assert wizard.controller.foresight.job is None

    play(engine, scene)


def test_a_run_begins_once_looking_ahead_has_ended(play: Play) -> None:
    engine = ready_engine(hold_at="store")

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "freeSpaceButton")
        await until(lambda: bool(engine.calls))
        click(wizard, "verifyButton")
        await ended(wizard)
        wizard.back()
        await until(lambda: wizard.controller.idle)
        assert wizard.controller.foresight.job is None

    play(engine, scene)
    assert [name for name, _ in engine.calls] == ["store", "verify"]


def test_update_is_not_offered_offline_and_says_why(play: Play, tmp_path: Path) -> None:
    engine = ready_engine()
    engine.defaults = Defaults(Choices(root=tmp_path, offline=True))

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        button = part(wizard, "updateButton")
        assert not button.isEnabled()
        assert "needs a network" in button.toolTip()
        assert button.accessibleDescription() == button.toolTip()
        assert part(wizard, "addPackagesButton").isEnabled()

    play(engine, scene)


@pytest.mark.parametrize("possible", [True, False])
def test_undo_is_offered_where_there_is_something_to_go_back_to(play: Play, possible: bool) -> None:
    engine = ready_engine(can_undo=possible)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        button = part(wizard, "undoButton")
        assert button.isEnabled() is possible
        assert ("nothing to go back to" in button.toolTip()) is not possible
        if possible:
            click(wizard, "undoButton")
            await ended(wizard)

    play(engine, scene)
    assert [name for name, _ in engine.calls] == (["undo"] if possible else [])


@pytest.mark.parametrize(
    ("content", "said", "offered"),
    [
        (store_content(), ["90 MB of what was downloaded", "go on to work without a network"], True),
        (store_content(complete=False), ["90 MB", "needs a network already"], True),
        (store_content(0, 7_000_000), ["Everything that was downloaded is needed", "cache takes 7.0 MB of its own"], True),
        (store_content(0), ["Nothing to free"], False),
    ],
)
def test_freeing_space_says_first_what_goes(play: Play, content: dict[str, object], said: list[str], offered: bool) -> None:
    engine = ready_engine(store_content=content)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await looked(wizard, "freeSpaceButton")
        text = part(wizard, "aheadLabel").text()
        assert [words for words in said if words not in text] == []
        assert part(wizard, "aheadDoButton").isVisible() is offered
        if offered:
            assert part(wizard, "aheadDoButton").geometry().top() == part(wizard, "aheadLeaveButton").geometry().top()
            click(wizard, "aheadDoButton")
            await ended(wizard)
            assert list(wizard.side.states().values())[-2] == "done"

    play(engine, scene)
    assert [(name, choices.prune) for name, choices in engine.calls] == [("store", False), ("prune", True)][: 1 + offered]


class LockedEngine(FakeEngine):
    """Cannot tell what the store holds: another run is at work, no lock says what is needed, or a fault is met."""

    def __init__(self, end: FinishedEvent | None) -> None:
        super().__init__()
        self.end = end
        self.environment = EnvironmentFacts("ready", python="3.11.2", packages=106)

    async def store(self, choices: Choices, emit: Emit) -> FinishedEvent:
        if self.end is None:
            raise ZeroDivisionError("a fault")
        if self.end.state is RunState.DONE:
            emit(StoreEvent(self.store_content))
        return self.end


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (FinishedEvent(RunState.BUSY, "AML_ENGINE_BUSY", "", arguments={"running": "verify"}), "verify"),
        (FinishedEvent(RunState.DONE, "AML_STORE_UNUSED", "", arguments={"root": "/x/aml"}), "No packages"),
        (None, "a fault"),
    ],
)
def test_where_it_cannot_be_told_what_can_go_nothing_is_offered(play: Play, end: FinishedEvent | None, said: str) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await looked(wizard, "freeSpaceButton")
        assert said in part(wizard, "aheadLabel").text()
        assert not part(wizard, "aheadDoButton").isVisible()
        assert reading(part(wizard, "aheadLeaveButton")) == "Close"

    play(LockedEngine(end), scene)


def test_what_was_freed_before_a_cancel_is_not_said_to_be_there(play: Play) -> None:
    engine = ready_engine(hold_at="prune")

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await looked(wizard, "freeSpaceButton")
        click(wizard, "aheadDoButton")
        await until(lambda: len(engine.calls) == 2)
        click(wizard, "cancelButton")
        await ended(wizard)
        assert "everything that is needed is kept" in part(wizard, "messageLabel").text()

    play(engine, scene)


def test_what_was_found_is_forgotten_when_it_no_longer_holds(play: Play) -> None:
    engine = ready_engine(changes=NEWER)
    engine.environment = replace(engine.environment, kept=(AddedPackage("tinyk", "3.0"),))

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await looked(wizard, "updateButton")
        click(wizard, "keepAddedBox")
        assert not part(wizard, "aheadLabel").isVisible()
        await looked(wizard, "updateButton")
        await until(lambda: wizard.controller.idle)
        engine.mark += 1  # somebody else has changed the environment
        wizard.controller.glance()
        await until(lambda: not part(wizard, "aheadLabel").isVisible())

    play(engine, scene)
    assert [choices.keep_added for _, choices in engine.calls] == [True, False]


def test_the_sizes_are_told_as_numbers_and_to_screen_readers(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await until(lambda: part(wizard, "sizeLabel").text() == "On the disk: 936 MB")
        chart = part(wizard, "sizeChart")
        assert part(wizard, "environmentSizeLabel").text() == "612 MB"
        assert chart.accessibleName() == "On the disk: 936 MB"
        assert chart.accessibleDescription().splitlines() == [
            "Environment: 612 MB",
            "Python and uv: 120 MB",
            "Offline store: 203 MB",
            "uv's cache: 1.5 MB",
        ]
        wizard.words.set_language("zh_CN")
        assert part(wizard, "sizeLabel").text() == "占用磁盘：936 MB"

    play(ready_engine(), scene)


def test_measuring_stops_when_the_page_is_left_and_is_done_anew_on_the_way_back(play: Play) -> None:
    engine = ready_engine(slow_measure=True)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert part(wizard, "sizeLabel").text() == "On the disk: looking"
        click(wizard, "verifyButton")
        await ended(wizard)
        await until(lambda: wizard.controller.idle)  # it would go on for 20 seconds
        engine.slow_measure = False
        wizard.back()
        await until(lambda: part(wizard, "sizeLabel").text() == "On the disk: 936 MB")

    play(engine, scene)


@pytest.mark.parametrize("language", LANGUAGES)
def test_whatever_is_open_fits_a_small_screen(play: Play, language: str) -> None:
    engine = ready_engine()
    many = tuple(AddedPackage(f"package-with-a-long-name-{number}", "1.2.3.post4", "1.2.3.post3") for number in range(20))
    engine.environment = replace(engine.environment, added=many, kept=many)
    engine.changes = ChangesEvent(added=tuple((f"package{number}", "1.0") for number in range(60)))
    engine.store_content = store_content(90_000_000, 7_000_000, complete=False)
    engine.opening.state = JupyterState.RUNNING
    engine.updates = {Part.PYTHON: ("Python 3.11.2 3.11.13", 29_000_000), Part.UV: ("uv 0.13.2 0.13.9", None)}

    async def scene(wizard: SetupWizard) -> None:
        wizard.words.set_language(language)
        await at_maintenance(wizard)
        await until(lambda: bool(part(wizard.maintenance_page, "stopJupyterButton").isVisible()))

        async def fits() -> None:
            await asyncio.sleep(0)
            wizard.resize(1024, 640)
            size = wizard.minimumSizeHint()
            assert (size.width() <= 1024, size.height() <= 640) == (True, True), size
            page = wizard.maintenance_page
            content = page.area.widget()  # with that much on it the page may scroll, but not sideways
            assert content.minimumSizeHint().width() <= page.area.viewport().width()
            assert content.height() >= content.minimumSizeHint().height()
            for button in page.findChildren(QPushButton):
                if button.isVisible():
                    assert button.width() >= button.sizeHint().width(), button.objectName()

        await fits()
        click(wizard, "addPackagesButton")
        await fits()
        await looked(wizard, "updateButton")
        await fits()
        await looked(wizard, "freeSpaceButton")
        await fits()
        engine.refusal = missing(60)
        wizard.controller.survey(Choices(root=wizard.maintenance_page.root))
        await until(lambda: wizard.controller.idle)
        assert part(wizard, "maintenanceLackingView").isVisible()
        assert part(wizard, "sizeChart").isVisible()
        await fits()

    play(engine, scene)
