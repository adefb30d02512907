"""What the pages about a ready environment open, driven by clicks."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.facts import EnvironmentFacts
from amlwizard.core.opening.jupyter import JupyterState
from amlwizard.ui.opening import OpeningPanel
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import at_maintenance, click, part
from tests.support.waiting import until

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play


def ready() -> FakeEngine:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", "environment.ready", python="3.11.2", packages=106)
    return engine


def panel(wizard: SetupWizard) -> OpeningPanel:
    found = wizard.maintenance_page.findChild(OpeningPanel)
    assert isinstance(found, OpeningPanel)
    return found


def named(wizard: SetupWizard, name: str) -> Any:
    """Return a part of the maintenance page; the finish page has one of the same name."""
    return part(wizard.maintenance_page, name)


def entry(wizard: SetupWizard, text: str) -> QAction:
    actions = named(wizard, "moreButton").menu().actions()
    return next(action for action in actions if action.text() == text)


def test_jupyterlab_is_started_shown_and_stopped(play: Play) -> None:
    engine = ready()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert not named(wizard, "stopJupyterButton").isVisible()
        click(wizard.maintenance_page, "openJupyterButton")
        await until(lambda: named(wizard, "jupyterStateLabel").text().startswith("JupyterLab is running in notebooks/."))
        assert named(wizard, "openJupyterButton").isEnabled()  # it leads to the one that runs
        wizard.words.set_language("zh_CN")
        assert "正在 notebooks/ 中运行" in named(wizard, "jupyterStateLabel").text()
        click(wizard.maintenance_page, "stopJupyterButton")
        await until(lambda: not named(wizard, "jupyterStateLabel").isVisible())
        assert named(wizard, "openJupyterButton").hasFocus()
        assert [name for name, _ in engine.opening.calls] == ["start_jupyter", "stop_jupyter"]

    play(engine, scene)


def test_a_jupyterlab_that_another_window_has_started_is_shown_and_one_that_ends_is_not(play: Play) -> None:
    engine = ready()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        engine.opening.state = JupyterState.RUNNING
        await until(lambda: bool(named(wizard, "stopJupyterButton").isVisible()))
        engine.opening.state = JupyterState.STOPPED
        await until(lambda: not named(wizard, "stopJupyterButton").isVisible())

    play(engine, scene)


def test_one_that_did_not_start_is_told_with_its_log(play: Play) -> None:
    engine = ready()
    engine.opening.state = JupyterState.FAILED

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        log = str(wizard.maintenance_page.root / "runtime" / "logs" / "jupyter.log")
        await until(lambda: log in named(wizard, "jupyterStateLabel").text())
        assert not named(wizard, "stopJupyterButton").isVisible()
        assert named(wizard, "openJupyterButton").isEnabled()

    play(engine, scene)


def test_a_terminal_that_cannot_be_opened_names_the_way_out(play: Play) -> None:
    engine = ready()
    engine.opening.refuses = AmlError("AML_TERMINAL_NONE")

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard.maintenance_page, "openTerminalButton")
        await until(lambda: "paste the activation command" in named(wizard, "openingLabel").text())

    play(engine, scene)


def test_the_interpreter_and_the_activation_of_each_shell_are_copied(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        root = wizard.maintenance_page.root
        entry(wizard, "Copy interpreter path").trigger()
        assert QGuiApplication.clipboard().text() == f"{root}/.venv/bin/python"
        assert named(wizard, "openingLabel").text() == f"Copied: {root}/.venv/bin/python"
        entry(wizard, "Copy activation command for fish").trigger()
        assert QGuiApplication.clipboard().text() == f"source {root}/.venv/bin/activate # fish"
        wizard.words.set_language("zh_CN")
        assert entry(wizard, "复制激活命令（bash）").isEnabled()

    play(ready(), scene)


def test_a_shortcut_and_a_kernel_are_made_only_when_asked_for(play: Play) -> None:
    engine = ready()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert engine.opening.calls == []
        actions = named(wizard, "moreButton").menu().actions()
        actions[-2].trigger()
        await until(lambda: "aml.desktop" in named(wizard, "openingLabel").text())
        actions[-1].trigger()
        await until(lambda: "aml-01234567" in named(wizard, "openingLabel").text())
        assert [name for name, _ in engine.opening.calls] == ["add_shortcut", "add_kernel"]
        assert Path(str(engine.opening.calls[0][1])).is_absolute()

    play(engine, scene)


def test_without_jupyterlab_nothing_of_it_is_offered(play: Play) -> None:
    engine = ready()
    engine.opening.jupyterlab = False

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert not named(wizard, "openJupyterButton").isVisible()
        assert named(wizard, "openTerminalButton").isEnabled()
        texts = [action.text() for action in named(wizard, "moreButton").menu().actions()]
        assert texts == ["Copy interpreter path", "Copy activation command for bash", "Copy activation command for fish"]

    play(engine, scene)


def test_an_environment_that_does_not_work_offers_its_folder_alone(play: Play) -> None:
    engine = ready()
    engine.environment = EnvironmentFacts("damaged", "environment.no_pyvenv_cfg", {"path": "/x/aml/.venv"})

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert [button.isEnabled() for button in panel(wizard).buttons[1:]] == [False, True, False]
        assert not named(wizard, "openJupyterButton").isVisible()

    play(engine, scene)


def test_the_finish_page_offers_the_same(play: Play) -> None:
    engine = FakeEngine()

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
        click(wizard, "setupButton")
        await until(lambda: bool(wizard.finish_page.isVisible()))
        await until(lambda: bool(part(wizard.finish_page, "openJupyterButton").isVisible()))
        assert threading.get_ident() not in engine.opening.looked_in
        click(wizard.finish_page, "openJupyterButton")
        await until(lambda: bool(part(wizard.finish_page, "stopJupyterButton").isVisible()))
        await until(lambda: engine.opening.calls == [("start_jupyter", "en")])  # a thread does that

    play(engine, scene)


def test_a_look_at_another_workspace_is_given_up_and_a_hidden_page_looks_at_nothing(play: Play) -> None:
    engine = ready()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        shown, hidden = panel(wizard), wizard.finish_page.opening
        await until(lambda: shown._looking is not None and shown._looking.done())
        engine.opening.held.clear()
        shown._look()
        first = shown._looking
        shown.show_root(Path("/x/other"))
        hidden.show_root(Path("/x/other"))
        engine.opening.held.set()
        assert first is not None
        await until(first.cancelled)
        assert hidden._looking is None
        await until(lambda: shown._looking is not None and shown._looking.done())
        engine.opening.held.clear()
        shown._look()
        last = shown._looking
        wizard.hide()
        engine.opening.held.set()
        assert last is not None
        await until(last.cancelled)

    play(engine, scene)


def test_nothing_is_opened_while_the_settings_cannot_be_used(play: Play) -> None:
    engine = ready()

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "maintenanceNetworkButton")
        problem = RefusedError("AML_SETTING_INVALID", name="root", path="settings.json")
        wizard.controller.network.saved.emit(Defaults(wizard.start_page._defaults.choices, None, problem))
        QTest.keyClick(wizard, Qt.Key.Key_Escape)
        await until(lambda: wizard.currentId() == PageId.START)
        assert part(wizard, "settingsProblemLabel").isVisible()
        assert not part(wizard, "manageButton").isEnabled()
        assert not named(wizard, "openJupyterButton").isVisible()

    play(engine, scene)
    assert engine.opening.calls == []
