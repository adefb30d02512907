# ruff: noqa: E402 - the path and the platform have to be set before Qt and the project are imported
"""Grab each page of the window, in both languages, light and dark, without a screen.

python packaging/screenshots.py DIR

The engine is the tests' fake one, so that the pictures come out alike on every computer.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["QT_API"] = "pyside6"

import qasync
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from amlwizard.core.catalogue import Phrase
from amlwizard.core.choices import Choices, Part
from amlwizard.core.errors import AmlError
from amlwizard.core.events import ChangesEvent
from amlwizard.core.facts import AddedPackage, EnvironmentFacts
from amlwizard.core.mirrors import load_mirrors
from amlwizard.core.network_settings import Found
from amlwizard.core.preflight import Address, Reached
from amlwizard.ui.step_list import PageId
from amlwizard.ui.wishes import Job
from amlwizard.ui.wizard import SetupWizard
from tests.support.fake_engine import FakeEngine, fake_services

if TYPE_CHECKING:
    from collections.abc import Callable

SHOWN = Path("/home/mei/aml")
"""The folder in the pictures; nothing is written there."""
LANGUAGES = ("en", "zh_CN")
SCHEMES = ("light", "dark")


class Studio:
    """Makes the pictures of one language and one colour scheme."""

    def __init__(self, folder: Path, language: str, scheme: str, root: Path) -> None:
        self._folder = folder
        self._language = language
        self._scheme = scheme
        self._root = root

    async def take_all(self) -> None:
        """Walk through the pages, then through the ways a run can look."""
        await self._pages()
        await self._run("6-run", FakeEngine(hold_at="fetch", pause=0.2), ends=False)
        talking = FakeEngine(hold_at="verify", lines=60, line="+ package")
        await self._run("6-run-log", talking, ends=False, log=True)
        failing = FakeEngine(fail_at="fetch")
        failing.fails_with, failing.log = "AML_NET_REFUSED", "/home/mei/aml/runtime/logs/install.log"
        await self._run("7-failed", failing, ends=True)
        await self._run("8-finish", FakeEngine(), ends=True)
        await self._maintenance()
        await self._network()
        await self._workspaces()

    async def _workspaces(self) -> None:
        """Show the start page where several workspaces are known."""
        engine = FakeEngine()
        home, ready = self._root.parent, EnvironmentFacts("ready", "environment.ready", python="3.11.2", packages=106)
        engine.environment = ready
        engine.memory.states = {
            self._root: ready,
            home / "speech": replace(ready, packages=41),
            home / "essay": None,
            home / "course": EnvironmentFacts("base_missing", "environment.base_missing", python="3.11.2"),
        }
        wizard = self._window(engine)
        wizard.start_page.touched = True  # nobody is led away from it
        wizard.survey()
        await _until(lambda: wizard.controller.idle)
        await self._grab(wizard, "12-workspaces")
        await self._close(wizard)

    async def _maintenance(self) -> None:
        """Show the page of an environment, and what opens on it."""
        engine = FakeEngine()
        engine.can_undo = True
        engine.environment = EnvironmentFacts("ready", python="3.11.2", packages=106)
        wizard = self._window(engine)
        wizard.survey()
        page = wizard.maintenance_page
        await _until(lambda: wizard.currentId() == PageId.MAINTENANCE and not wizard.controller.surveying)
        await _until(lambda: wizard.controller.idle)  # the sizes are measured
        await self._grab(wizard, "9-maintenance")
        engine.changes = ChangesEvent(
            added=(("narwhals", "2.1.0"),),
            changed=(("numpy", "2.3.1", "2.3.2"), ("pandas", "2.3.0", "2.3.1"), ("scipy", "1.16.0", "1.16.1")),
        )
        engine.updates = {Part.PYTHON: ("Python 3.11.2 3.11.13", 29_000_000), Part.UV: ("uv 0.13.2 0.13.9", 0)}
        page.update_button.click()
        await _until(lambda: wizard.controller.idle)
        await self._grab(wizard, "9-maintenance-update")
        page.free_button.click()
        await _until(lambda: wizard.controller.idle)
        await self._grab(wizard, "9-maintenance-free")
        added = (AddedPackage("polars", "1.31.0"), AddedPackage("seaborn", "0.13.1", "0.13.2"))
        engine.environment = replace(engine.environment, added=added, kept=(AddedPackage("altair", "5.5.0"),))
        wizard.controller.survey(Choices(root=self._root))
        await _until(lambda: wizard.controller.idle)
        page.add_button.click()
        await self._grab(wizard, "9-maintenance-add")
        await self._close(wizard)

    async def _network(self) -> None:
        """Show the settings of the network as they are at first, and in a company after a check."""
        engine = FakeEngine()
        engine.network.settings = replace(engine.network.settings, mirrors=tuple(load_mirrors()))
        wizard = await self._network_page(engine)
        await self._grab(wizard, "10-network")
        await self._close(wizard)
        engine = FakeEngine()
        fixed = {"proxy": "http://proxy.example.org:8080", "caFile": "/etc/company-ca.pem"}
        index = "https://index.example.org/simple"
        engine.network.settings = replace(
            engine.network.settings,
            values={**engine.network.settings.values, **fixed},
            fixed=dict.fromkeys(fixed, Phrase("network.organisation")),
            found=(Found("indexUrl", index, "/etc/pip.conf"), Found("extraIndexUrls", f"{index}/extra", "/etc/pip.conf")),
            no_keyring=Phrase("logins.none"),
        )
        refused = AmlError("AML_INDEX_REFUSED", host="index.example.org", url=index, package="numpy")
        untrusted = AmlError(
            "AML_NET_CERTIFICATE",
            host="files.example.org",
            file="numpy.whl",
            reason="unable to get local issuer certificate",
            issuer="Example Inspection CA",
        )
        engine.reached = (
            Reached(Address(f"{index}/numpy/", "resolve", index=index), None, refused),
            Reached(Address("https://files.example.org/numpy.whl", "fetch"), "proxy.example.org:8080", untrusted),
            Reached(Address("https://python.example.org/python.tar.gz", "install_python"), None, None),
        )
        wizard = await self._network_page(engine)
        wizard.network_page.check_button.click()
        await _until(lambda: wizard.controller.network.check is not None and not wizard.controller.network.busy)
        await self._grab(wizard, "11-network-checked")
        await self._close(wizard)

    async def _network_page(self, engine: FakeEngine) -> SetupWizard:
        wizard = self._window(engine)
        wizard.survey()
        await _until(lambda: not wizard.controller.surveying)
        wizard.open_network()
        await _until(lambda: not wizard.controller.network.busy)
        return wizard

    async def _pages(self) -> None:
        wizard = self._window(FakeEngine())
        wizard.survey()
        await _until(lambda: wizard.controller.plan is not None and not wizard.controller.surveying)
        await self._grab(wizard, "1-start")
        wizard.start_page.customise.emit()
        for name in ("2-check", "3-uv", "4-python", "5-environment"):
            await self._grab(wizard, name)
            wizard.next()
        await self._close(wizard)

    async def _run(self, name: str, engine: FakeEngine, *, ends: bool, log: bool = False) -> None:
        wizard = self._window(engine)
        wizard.run_page.details.setChecked(log)
        wizard.run_job(Job.INSTALL, Choices(root=self._root))
        if ends:
            await _until(lambda: not wizard.controller.running)
        else:
            await asyncio.sleep(1)  # the bar shows what a second of a run looks like
        await self._grab(wizard, name)
        await self._close(wizard)

    def _window(self, engine: FakeEngine) -> SetupWizard:
        wizard = SetupWizard(fake_services(engine, self._root), self._language)
        wizard.show()
        return wizard

    async def _grab(self, wizard: SetupWizard, name: str) -> None:
        await asyncio.sleep(0.05)  # lets the layout settle
        path = self._folder / f"{name}-{self._language}-{self._scheme}.png"
        if not wizard.grab().save(str(path)):
            raise OSError(f"cannot write {path}")

    async def _close(self, wizard: SetupWizard) -> None:
        wizard.close_now()
        await _until(lambda: wizard.controller.idle)
        wizard.deleteLater()
        QApplication.sendPostedEvents(wizard, QEvent.Type.DeferredDelete)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - conditions of widgets have no event
            await asyncio.sleep(0.01)


def _dark() -> QPalette:
    """Return a dark palette; without a screen there is no system that would bring one."""
    palette = QPalette(QColor("#4a4f54"), QColor("#43484d"))
    palette.setColor(QPalette.ColorRole.Base, QColor("#232629"))
    palette.setColor(QPalette.ColorRole.Highlight, QColor("#2d7fb8"))
    palette.setColor(QPalette.ColorRole.HighlightedText, QColor("#ffffff"))
    return palette


async def _take(folder: Path) -> None:
    for language in LANGUAGES:
        for scheme in SCHEMES:
            QApplication.setPalette(_dark() if scheme == "dark" else QPalette())
            await Studio(folder, language, scheme, SHOWN).take_all()


def main(arguments: list[str]) -> int:
    """Write the pictures into the folder that is named."""
    if len(arguments) != 1:
        print("usage: screenshots.py DIR", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([sys.argv[0]])
    app.setStyle("Fusion")
    app.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        runner.run(_take(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
