"""Several workspaces: the list on the start page, and what the window remembers."""

from __future__ import annotations

import asyncio
import shutil
import threading
import venv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from amlwizard.app import environment_state
from amlwizard.core.catalogue import LANGUAGES
from amlwizard.core.choices import Choices
from amlwizard.core.environment.layout import read_pyvenv_cfg
from amlwizard.core.environment.marker import Marker, write_marker
from amlwizard.core.facts import EnvironmentFacts
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from amlwizard.ui.wishes import Job
from amlwizard.ui.workspaces import Folder, WorkspacesDesk, names_of
from amlwizard.window_memory import WindowMemory
from tests.support.fake_engine import FakeEngine, fake_services
from tests.support.fake_memory import FakeMemory
from tests.support.played_window import at_maintenance, click, part, play_scene
from tests.support.waiting import until

if TYPE_CHECKING:
    from amlwizard.core.events import Emit, FinishedEvent
    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play

READY = EnvironmentFacts("ready", "environment.ready", python="3.11.9", packages=12)
HOME = Path("/home/mei").absolute()
SIZE = (790, 640)
"""A size that fits the screen of the tests, which Qt would make smaller otherwise."""


def rows(wizard: SetupWizard) -> list[str]:
    """Return what the list says."""
    panel = wizard.start_page.workspaces
    return [row.label.accessibleName() for row in panel._rows.values()] if panel.isVisible() else []


async def listed(wizard: SetupWizard) -> None:
    """Look at everything, and stay on the start page."""
    wizard.start_page.touched = True
    wizard.survey()
    await until(lambda: wizard.controller.idle)


def choose(wizard: SetupWizard, button: str, place: Path) -> None:
    """Choose a folder where a button asks for one."""
    click(wizard, button)
    dialog = wizard.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.fileMode() is QFileDialog.FileMode.Directory
    dialog.fileSelected.emit(str(place))
    dialog.reject()


@pytest.mark.parametrize(
    ("roots", "names"),
    [
        (["/home/mei/aml"], ["aml"]),
        (["/home/mei/aml", "/srv/other"], ["aml", "other"]),
        (["/a/x/aml", "/b/y/AML", "/b/z"], ["x/aml", "y/AML", "z"]),
        (["/a/x/aml", "/b/x/aml", "/c/y/aml"], ["/a/x/aml", "/b/x/aml", "y/aml"]),
        (["/", "/aml"], ["/", "aml"]),
    ],
)
def test_workspaces_are_named_apart(roots: list[str], names: list[str]) -> None:
    paths = [Path(root) for root in roots]
    assert list(names_of(paths).values()) == [str(Path(name)) for name in names]


def test_known_workspaces_are_listed_with_their_states_and_opened_by_one_click(play: Play) -> None:
    engine = FakeEngine()
    lost = EnvironmentFacts("base_missing", "environment.base_missing", {"version": "3.11.9", "base": "/gone"}, "3.11.9")
    engine.memory.states = {HOME / "speech": READY, HOME / "course": lost, HOME / "essay": EnvironmentFacts("absent")}
    engine.memory.states[HOME / "novel"] = EnvironmentFacts("foreign", "environment.newer", {"path": "/x"})
    engine.defaults = Defaults(Choices(root=HOME / "aml", profile="pytorch"))

    async def scene(wizard: SetupWizard) -> None:
        assert rows(wizard) == []
        await listed(wizard)
        assert rows(wizard) == [
            "course: its Python is gone",
            "essay: holds no environment",
            "novel: was made by a newer amlwizard",
            "speech: ready, Python 3.11.9, 12 packages",
        ]
        wizard.words.set_language("zh_CN")
        assert rows(wizard)[3] == "speech：就绪，Python 3.11.9，12 个依赖包"
        assert part(wizard, "open-course").accessibleName() == "打开 course"
        assert "/gone" in part(wizard, "open-course").accessibleDescription()
        assert not part(wizard, "forget-course").isVisible()
        assert part(wizard, "forget-essay").isVisible()
        engine.environment = READY
        click(wizard, "open-speech")
        assert wizard.currentId() == PageId.MAINTENANCE
        await until(lambda: ("add", HOME / "speech") in engine.memory.noted)
        click(wizard, "verifyButton")
        await until(lambda: bool(engine.calls) and not wizard.controller.running)

    play(engine, scene)
    ((name, choices),) = engine.calls
    assert (name, choices.root, choices.profile) == ("verify", HOME / "speech", None)


def test_a_single_workspace_needs_no_list_unless_it_has_gone(play: Play) -> None:
    engine = FakeEngine()
    engine.memory.states = {HOME / "aml": READY}

    async def scene(wizard: SetupWizard) -> None:
        await listed(wizard)
        assert rows(wizard) == []
        engine.memory.states = {HOME / "aml": None}
        wizard.controller.workspaces.look()
        await until(lambda: rows(wizard) == ["aml: is not there any more; it may have been moved"])
        assert not part(wizard, "open-aml").isVisible()

    play(engine, scene)


def test_one_that_has_gone_is_found_again_or_forgotten(play: Play) -> None:
    engine = FakeEngine()
    memory = engine.memory
    memory.states = {HOME / "course": None, HOME / "essay": None}
    memory.elsewhere = {HOME / "old" / "essay": READY, HOME / "empty": EnvironmentFacts("absent")}
    engine.environment = READY

    async def scene(wizard: SetupWizard) -> None:
        await listed(wizard)
        part(wizard, "forget-course").setFocus()
        click(wizard, "forget-course")
        assert rows(wizard) == ["essay: is not there any more; it may have been moved"]
        choose(wizard, "find-essay", HOME / "empty")
        problem = part(wizard, "workspacesProblemLabel")
        await until(problem.isVisible)
        assert str(HOME / "empty") in problem.text()
        choose(wizard, "find-essay", HOME / "old" / "essay")
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE)
        assert wizard.start_page.root_edit.text() == str(HOME / "old" / "essay")
        await until(lambda: list(memory.states) == [HOME / "old" / "essay"])

    play(engine, scene)
    assert memory.noted == [("forget", HOME / "course"), ("forget", HOME / "essay"), ("add", HOME / "old" / "essay")]


def test_a_drive_that_does_not_answer_holds_up_nothing_and_is_asked_once(qapp: Any) -> None:
    memory = FakeMemory()
    dead = threading.Event()
    memory.states = {HOME / "a": dead, HOME / "b": READY}

    async def main() -> None:
        desk = WorkspacesDesk(memory, asyncio.ensure_future, seconds=0.05)
        for _ in range(2):
            desk.look()
            await until(lambda: [known.folder for known in desk.known] == [Folder.SILENT, Folder.HERE])
            assert desk._looking is not None
            await desk._looking
        assert memory.looked.count(HOME / "a") == 1
        assert memory.looked.count(HOME / "b") == 2
        dead.set()
        desk.look()
        await desk._looking
        assert desk.known[0].folder is Folder.SILENT  # the answer was an error

    try:
        asyncio.run(main())
    finally:
        dead.set()


def test_a_new_workspace_gets_a_folder_of_its_own(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.environment = READY

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "otherFolderButton")
        engine.environment = EnvironmentFacts("absent")
        click(wizard, "newWorkspaceButton")
        wanted = str(tmp_path.with_name(f"{tmp_path.name}-2"))
        root = part(wizard, "rootEdit")
        await until(lambda: root.text() == wanted)
        assert root.selectedText() == wanted
        await until(lambda: not wizard.controller.surveying)
        assert not part(wizard, "newWorkspaceButton").isVisible()
        click(wizard, "setupButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)
    ((name, choices),) = engine.calls
    assert (name, choices.root.name) == ("install", f"{tmp_path.name}-2")


class UninstallingEngine(FakeEngine):
    """Uninstalls as well."""

    async def uninstall(self, choices: Choices, emit: Emit) -> FinishedEvent:
        return await self._play("uninstall", choices, emit, ("uninstall",))


def test_a_workspace_is_known_once_a_run_ended_well_and_until_it_is_uninstalled(play: Play, tmp_path: Path) -> None:
    engine = UninstallingEngine(fail_at="fetch")
    memory = engine.memory
    choices = Choices(root=tmp_path)

    async def run(wizard: SetupWizard, job: Job, chosen: Choices = choices) -> None:
        wizard._restart_at(PageId.MAINTENANCE)
        wizard.run_job(job, chosen)
        await until(lambda: wizard.controller.idle)

    async def scene(wizard: SetupWizard) -> None:
        await run(wizard, Job.INSTALL)
        assert memory.noted == [("remember", tmp_path)]
        engine.fail_at = ""
        await run(wizard, Job.INSTALL, replace(choices, until="install_uv"))
        assert memory.noted == [("remember", tmp_path)]
        await run(wizard, Job.INSTALL)
        assert memory.noted[1:] == [("remember", tmp_path), ("add", tmp_path)]
        await run(wizard, Job.UNINSTALL)
        assert memory.noted[3:] == [("forget", tmp_path)]

    play(engine, scene)


def test_a_workspace_that_is_opened_ready_is_noted_once(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("damaged", "environment.no_packages", {"path": "x"})

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        await until(lambda: wizard.controller.idle)
        assert engine.memory.noted == []
        engine.environment = READY
        for _ in range(2):
            wizard.controller.survey(Choices(root=tmp_path))
            await until(lambda: wizard.controller.idle)

    play(engine, scene)
    assert engine.memory.noted == [("add", tmp_path)]


def test_the_window_has_the_size_that_it_had(qapp: Any, tmp_path: Path) -> None:
    engine = FakeEngine()

    async def resize(wizard: SetupWizard) -> None:
        assert (wizard.width(), wizard.height()) == (940, 640)
        wizard.resize(*SIZE)

    async def look(wizard: SetupWizard) -> None:
        assert (wizard.width(), wizard.height()) == SIZE

    services = fake_services(engine, tmp_path)
    play_scene(qapp, services, resize)
    play_scene(qapp, replace(services, defaults=replace(services.defaults, geometry=engine.memory.geometry)), look)


@pytest.mark.parametrize("geometry", ["", "AdnQ", "no base64: 大小", "A" * 100_000])
def test_a_size_that_makes_no_sense_is_passed_over(qapp: Any, tmp_path: Path, geometry: str) -> None:
    async def look(wizard: SetupWizard) -> None:
        assert (wizard.width(), wizard.height()) == (940, 640)

    defaults = Defaults(Choices(root=tmp_path), geometry=geometry)
    play_scene(qapp, fake_services(FakeEngine(), tmp_path, defaults), look)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_list_fits_a_small_screen_and_is_reached_by_the_keyboard(play: Play, language: str) -> None:
    engine = FakeEngine()
    engine.environment = READY
    long = "a-name-that-is-longer-than-anybody-would-like-to-read-人工智能与数据科学"
    engine.memory.states = {HOME / f"{number}-{long}": None for number in range(5)} | {HOME / "speech": READY}

    async def scene(wizard: SetupWizard) -> None:
        wizard.words.set_language(language)
        await listed(wizard)
        choose(wizard, f"find-0-{long}", HOME / long)
        await until(lambda: part(wizard, "workspacesProblemLabel").isVisible())
        await asyncio.sleep(0)
        wizard.resize(1024, 640)
        page = wizard.start_page
        size = page.minimumSizeHint()
        assert (size.width() <= page.width(), size.height() <= page.height()) == (True, True), size
        assert (wizard.width(), wizard.height()) == (1024, 640)
        view = page.workspaces.area
        assert view.widget().minimumSizeHint().width() <= view.viewport().width()
        buttons = [button for button in page.workspaces.findChildren(QPushButton) if button.isVisibleTo(page)]
        assert len(buttons) == 11
        for button in buttons:
            assert button.accessibleName()
            assert button.accessibleDescription().startswith(str(HOME))
            assert button.width() >= button.sizeHint().width()
        wizard.activateWindow()
        buttons[0].setFocus()
        met: list[QWidget | None] = []
        while wizard.focusWidget() not in met:
            met.append(wizard.focusWidget())
            QTest.keyClick(met[-1], Qt.Key.Key_Tab)
        assert met[:12] == [*buttons, page.root_edit]
        assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()

    play(engine, scene)


def make_workspace(root: Path) -> None:
    """Make a workspace whose environment counts as ready."""
    environment = root / ".venv"
    venv.EnvBuilder(symlinks=True).create(environment)
    assert read_pyvenv_cfg(environment) is not None
    (site,) = [*environment.glob("lib/*/site-packages"), *environment.glob("Lib/site-packages")]
    (site / "tinya-1.0.dist-info").mkdir()
    write_marker(environment, Marker("0" * 12, str(root), "3.11.9", "0" * 64, "1"))


def test_real_workspaces_are_listed_and_one_that_was_moved_is_found(qapp: Any, tmp_path: Path) -> None:
    memory = WindowMemory(tmp_path / "config")
    for name in ("one", "two"):
        make_workspace(tmp_path / name)
        memory.add(tmp_path / name)
    shutil.move(tmp_path / "two", tmp_path / "二")
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("moved")  # the look at the whole computer is not real
    services = fake_services(engine, tmp_path, Defaults(Choices(root=tmp_path / "three")))
    services = replace(services, environment_state=environment_state, memory=memory)

    async def scene(wizard: SetupWizard) -> None:
        await listed(wizard)
        assert rows(wizard) == [
            "one: ready, Python 3.11.9, 1 package",
            "two: is not there any more; it may have been moved",
        ]
        choose(wizard, "find-two", tmp_path / "二")
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE and not wizard.controller.surveying)
        assert part(wizard, "repairButton").isVisible()
        assert wizard.controller.environment is not None
        assert wizard.controller.environment.state == "moved"
        click(wizard, "repairButton")
        await until(lambda: wizard.currentId() == PageId.FINISH and wizard.controller.idle)
        assert memory.known() == (tmp_path / "二", tmp_path / "one")

    play_scene(qapp, services, scene)
    assert memory.geometry()
    assert memory.last().root == str(tmp_path / "二")
