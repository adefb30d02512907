"""The maintenance page with the real engine: packages come, are renewed, and go again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtWidgets import QPushButton

from amlwizard.app import window_services
from amlwizard.core.settings import load_settings, resolve_choices
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from tests.support.played_window import at_maintenance, click, part, play_scene
from tests.support.waiting import until
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from amlwizard.ui.wizard import SetupWizard
    from tests.e2e.conftest import Computer

pytestmark = [pytest.mark.e2e, pytest.mark.posix]
BUSY_SECONDS = 120.0
"""How long the real engine may take, which looks at every Python of a busy computer."""


async def done(wizard: SetupWizard) -> None:
    """Wait until a run has ended well, and go back."""
    assert wizard.currentId() == PageId.RUN
    await until(lambda: not wizard.controller.running, BUSY_SECONDS)
    assert wizard.run_page.title_label.text() == "Done", part(wizard, "messageLabel").text()
    wizard.back()
    assert wizard.currentId() == PageId.MAINTENANCE
    await until(lambda: wizard.controller.idle, BUSY_SECONDS)


async def looked(wizard: SetupWizard, button: str) -> str:
    """Look ahead; return what is told."""
    click(wizard, button)
    await until(lambda: not wizard.controller.foresight.busy, BUSY_SECONDS)
    return str(part(wizard, "aheadLabel").text())


def test_packages_are_added_updated_taken_back_and_removed(
    qapp: Any, installed: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith(("AML_", "UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    for name, value in installed.environ.items():
        monkeypatch.setenv(name, value)
    defaults = Defaults(resolve_choices(load_settings(os.environ), os.environ, Path.cwd()))
    make_wheel(installed.wheels, "tinymore", "1.0")

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard, BUSY_SECONDS)
        await until(lambda: part(wizard, "environmentSizeLabel").text() != "")
        assert not part(wizard, "undoButton").isEnabled()

        click(wizard, "addPackagesButton")
        part(wizard, "addEdit").setText("TinyMore == 1.0")
        click(wizard, "addButton")
        await done(wizard)
        assert installed.installed("tinymore") == "1.0"

        assert (await looked(wizard, "updateButton")).startswith("Packages: nothing newer")
        assert "which amlwizard did not set up" in part(wizard, "aheadPythonLabel").text()
        assert part(wizard, "aheadUvLabel").text().endswith("is the newest that is offered.")
        assert not part(wizard, "aheadPythonButton").isVisible()
        make_wheel(installed.wheels, "tinya", "3.0")
        assert "1 in another version" in await looked(wizard, "updateButton")
        assert part(wizard, "aheadView").item(0).text() == "tinya 2.0 → 3.0"
        assert installed.installed("tinya") == "2.0"
        click(wizard, "aheadDoButton")
        await done(wizard)
        assert (installed.installed("tinya"), installed.installed("tinymore")) == ("3.0", "1.0")

        click(wizard, "undoButton")
        await done(wizard)
        assert installed.installed("tinya") == "2.0"

        click(wizard, "addPackagesButton")
        (button,) = part(wizard, "addedView").findChildren(QPushButton)
        assert button.accessibleName() == "Remove tinymore 1.0"
        click(wizard, "remove-tinymore")
        await done(wizard)
        assert not list(installed.root.glob(".venv/lib/python3*/site-packages/tinymore"))

        kept = {path.name for path in (installed.root / "downloads").glob("*.whl")}
        assert "go on to work without a network" in await looked(wizard, "freeSpaceButton")
        click(wizard, "aheadDoButton")
        await done(wizard)
        left = {path.name for path in (installed.root / "downloads").glob("*.whl")}
        assert {name.partition("-py3")[0] for name in kept - left} == {"tinya-3.0"}

    play_scene(qapp, window_services("en", defaults, lambda: defaults), scene, 4 * BUSY_SECONDS)
