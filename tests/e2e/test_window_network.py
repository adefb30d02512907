"""The Network page with the real engine, real settings files and real hosts on loopback."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtGui import QGuiApplication

from amlwizard.app import window_services
from amlwizard.start_settings import read_defaults
from amlwizard.ui.step_list import PageId
from tests.net.support import closed_port
from tests.support.played_window import click, part, play_scene
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.ui.services import Defaults
    from amlwizard.ui.wizard import SetupWizard
    from tests.e2e.conftest import Computer
    from tests.support.played_window import Scene

    Play = Callable[[Scene], None]

pytestmark = [pytest.mark.e2e, pytest.mark.posix]
SECONDS = 240.0
"""How long a busy computer may take."""


@pytest.fixture
def settings(computer: Computer) -> Path:
    """The user's settings file, whose index nobody serves."""
    file = computer.folder / "home" / ".config" / "amlwizard" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"indexUrl": f"http://127.0.0.1:{closed_port()}/simple"}))
    return file


@pytest.fixture
def play(qapp: Any, computer: Computer, settings: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Play a scene with a window that goes by this settings file."""
    for name in [name for name in os.environ if name.startswith(("AML_", "UV_", "PIP_", "XDG_"))]:
        monkeypatch.delenv(name)
    for name, value in computer.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AML_INDEX_URL")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    minimal = computer.requirements("tinyb\n")

    def read() -> Defaults:
        return read_defaults(os.environ, Path.cwd())

    def run(scene: Scene) -> None:
        async def filled(wizard: SetupWizard) -> None:
            part(wizard, "fileButton").setChecked(True)
            part(wizard, "requirementsEdit").setText(str(minimal))
            await scene(wizard)

        play_scene(qapp, window_services("en", read(), read), filled, 2 * SECONDS)

    return run


async def idle(wizard: SetupWizard) -> None:
    """Wait until the Network page is at rest."""
    desk = wizard.controller.network
    await until(lambda: desk.settings is not None and not desk.busy, SECONDS)


def results(wizard: SetupWizard) -> list[tuple[str, str]]:
    view = part(wizard, "hostsView")
    return [(view.topLevelItem(row).text(0), view.topLevelItem(row).text(1)) for row in range(view.topLevelItemCount())]


def test_an_index_that_refuses_is_found_by_a_check_and_mended_in_the_failed_run(
    play: Play, computer: Computer, settings: Path
) -> None:
    refusing = json.loads(settings.read_text())["indexUrl"]
    port = refusing.removesuffix("/simple").rpartition(":")[2]

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: not wizard.controller.surveying, SECONDS)
        click(wizard, "setupButton")
        await until(lambda: not wizard.controller.running, SECONDS)
        assert "refused" in part(wizard, "messageLabel").text()
        assert part(wizard, "openLogButton").isVisible()
        assert Path(wizard.run_page._finished.log).is_file()  # type: ignore[union-attr]
        click(wizard, "networkSettingsButton")
        await idle(wizard)
        assert part(wizard, "indexUrlEdit").text() == refusing
        assert not part(wizard, "keepLoginBox").isVisible()  # there is no keyring here
        click(wizard, "checkNetworkButton")
        await until(lambda: wizard.controller.network.check is not None, SECONDS)
        await idle(wizard)
        assert "refused the connection" in dict(results(wizard))[f"127.0.0.1:{port}"]
        click(wizard, "copyForItButton")
        assert f"To allow: TCP connections to 127.0.0.1, port {port}" in QGuiApplication.clipboard().text()
        part(wizard, "indexUrlEdit").setText(computer.index.index_url)
        click(wizard, "checkNetworkButton")
        await until(lambda: "can be reached" in part(wizard, "networkStateLabel").text(), SECONDS)
        assert (f"127.0.0.1:{computer.index.port}", "It answers.") in results(wizard)
        wizard.back()
        click(wizard, "retryButton")
        await until(lambda: not wizard.controller.running, SECONDS)
        assert wizard.currentId() == PageId.FINISH

    play(scene)
    assert json.loads(settings.read_text())["indexUrl"] == computer.index.index_url
    assert computer.installed("tinyb") == "1.0"


def test_a_sign_in_that_is_filled_in_serves_without_being_written_anywhere(
    play: Play, computer: Computer, settings: Path
) -> None:
    computer.index.fault("/*", "auth")

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: not wizard.controller.surveying, SECONDS)
        click(wizard, "networkButton")
        await idle(wizard)
        part(wizard, "indexUrlEdit").setText(computer.index.index_url)
        click(wizard, "checkNetworkButton")
        await until(lambda: wizard.controller.network.check is not None, SECONDS)
        await idle(wizard)
        assert "asks for sign-in" in dict(results(wizard))[f"127.0.0.1:{computer.index.port}"]
        part(wizard, "userEdit").setText("user")
        part(wizard, "passwordEdit").setText("secret")
        click(wizard, "checkNetworkButton")
        await until(lambda: "can be reached" in part(wizard, "networkStateLabel").text(), SECONDS)
        wizard.back()
        wizard.survey()
        await until(lambda: not wizard.controller.surveying, SECONDS)
        click(wizard, "setupButton")
        await until(lambda: not wizard.controller.running, SECONDS)
        assert wizard.currentId() == PageId.FINISH

    play(scene)
    assert computer.installed("tinyb") == "1.0"
    written = [
        path for folder in (settings.parent, computer.root / "runtime") for path in folder.rglob("*") if path.is_file()
    ]
    assert settings in written
    assert [path for path in written if b"secret" in path.read_bytes()] == []
