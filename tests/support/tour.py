"""A walk through every page of the window and the ways each can look, with a scripted engine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from amlwizard.core.catalogue import Phrase
from amlwizard.core.choices import Choices, Part
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.events import ChangesEvent
from amlwizard.core.facts import AddedPackage, EnvironmentFacts
from amlwizard.core.lacking import Lacking, incomplete_store
from amlwizard.core.mirrors import load_mirrors
from amlwizard.core.network_settings import Found
from amlwizard.core.opening.jupyter import JupyterState
from amlwizard.core.preflight import Address, Reached
from amlwizard.core.torch_builds import TorchChoice
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from amlwizard.ui.wishes import Job
from amlwizard.ui.wizard import SetupWizard
from tests.support.fake_engine import FakeEngine, fake_services, store_content
from tests.support.played_window import at_maintenance, click, part
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Visit = Callable[[SetupWizard, str], Awaitable[None]]

READY = EnvironmentFacts("ready", "environment.ready", python="3.11.2", packages=106)
TORCH = TorchChoice("cpu", "cpu", Phrase("torch.why.no_card"), "cpu", ("cpu", "cu126", "cu132"))


class Tour:
    """Calls ``visit`` with the window and a name wherever a page looks as somebody would see it.

    ``stops`` keeps the names in their order. What waits for an event of the program needs a qasync event loop.
    """

    def __init__(self, root: Path, language: str, visit: Visit) -> None:
        self._root = root
        self._language = language
        self._visit = visit
        self._window: SetupWizard | None = None
        self.stops: list[str] = []

    async def walk(self) -> None:
        """Go everywhere."""
        try:
            await self._start()
            await self._troubled_start()
            await self._workspaces()
            await self._runs()
            await self._maintenance()
            await self._network()
        finally:
            await self._close()

    async def _start(self) -> None:
        engine = FakeEngine()
        wizard = await self._open(engine)
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None and not wizard.controller.surveying)
        await self._stop("1-start")
        click(wizard, "customiseButton")
        for name in ("2-check", "3-uv", "4-python"):
            await self._stop(name)
            wizard.next()
        await self._stop("5-environment")
        engine.torch = TORCH
        wizard.survey()
        await until(lambda: bool(part(wizard, "acceleratorBox").isVisible()) and wizard.controller.idle)
        await self._stop("5-environment-torch")
        wizard = await self._open(FakeEngine())
        for name, button, edit, path in (
            ("1-start-file", "fileButton", "requirementsEdit", "/home/mei/course/requirements.txt"),
            ("1-start-bundle", "bundleButton", "bundleEdit", "/media/stick/course.aml-bundle"),
        ):
            part(wizard, button).setChecked(True)
            part(wizard, edit).setText(path)
            wizard.survey()
            await until(lambda: wizard.controller.plan is not None and not wizard.controller.surveying)
            await self._stop(name)

    async def _troubled_start(self) -> None:
        """Show what can be wrong before anything has begun."""
        engine = FakeEngine()
        file = self._root.parent / ".config" / "amlwizard" / "settings.json"
        problem = RefusedError("AML_SETTING_INVALID", name="root", path=str(file))
        engine.defaults = Defaults(Choices(root=self._root), None, problem, file=file)
        wizard = await self._open(engine)
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        await self._stop("1-start-settings")
        engine = FakeEngine()
        engine.refusal = RefusedError("AML_FOLDER_LINK", path=f"{self._root}/runtime")
        wizard = await self._open(engine)
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        await self._stop("1-start-refused")
        engine = FakeEngine()
        files = [Lacking(f"package{number}-1.0-py3-none-any.whl", 1_500_000, "files.example.org") for number in range(9)]
        engine.refusal = incomplete_store(files, self._root / "downloads", self._language)
        engine.defaults = Defaults(Choices(root=self._root, offline=True))
        wizard = await self._open(engine)
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        await self._stop("1-start-lacking")
        engine = FakeEngine()
        engine.refusal = RefusedError("AML_SHARED_PYTHON", file="pylock.toml", python="3.12", wanted="3.13")
        wizard = await self._open(engine)
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        await self._stop("1-start-shared")

    async def _workspaces(self) -> None:
        """Show the start page where several workspaces are known."""
        engine = FakeEngine()
        home = self._root.parent
        engine.environment = READY
        engine.memory.states = {
            self._root: READY,
            home / "speech": replace(READY, packages=41),
            home / "essay": None,
            home / "course": EnvironmentFacts("base_missing", "environment.base_missing", python="3.11.2"),
        }
        wizard = await self._open(engine)
        wizard.start_page.touched = True  # nobody is led away from it
        wizard.survey()
        await until(lambda: wizard.controller.idle)
        await self._stop("12-workspaces")

    async def _runs(self) -> None:
        """Show a run on its way, and how it can end."""
        wizard = await self._run(FakeEngine(hold_at="fetch", pause=0.2))
        await until(lambda: "98" in part(wizard, "progressLabel").text() and bool(part(wizard, "progressBar").isVisible()))
        await self._stop("6-run")
        wizard.close()
        await self._stop("6-run-closing")
        engine = FakeEngine(hold_at="verify", lines=60, line="+ package")
        wizard = await self._run(engine, log=True)
        bar, log = part(wizard, "progressBar"), wizard.run_page.log
        await until(lambda: bool(bar.isVisible()) and log.pane.document().lastBlock().text() == "+ package 59")
        log.search.setText("package 5")
        log.find_next()
        await self._stop("6-run-log")
        engine.alive = 3
        click(wizard, "cancelButton")
        await until(lambda: "3" in part(wizard, "progressLabel").text())
        await self._stop("6-run-stopping")
        engine.ended.set()
        await until(lambda: not wizard.controller.running)
        await self._stop("7-cancelled")
        failing = FakeEngine(fail_at="fetch")
        failing.fails_with, failing.log = "AML_NET_REFUSED", f"{self._root}/runtime/logs/install.log"
        failing.fails_about = {"host": "files.example.org", "file": "scipy-1.16.1-cp311-cp311-manylinux_2_28_x86_64.whl"}
        failing.fails_about |= {"attempts": 4, "seconds": 31}
        wizard = await self._run(failing)
        await until(lambda: not wizard.controller.running)
        await self._stop("7-failed")
        engine = FakeEngine()
        engine.memory.elsewhere[self._root] = READY
        engine.sees = Phrase("torch.sees_processor", {"version": "2.9.0+cpu"})
        wizard = await self._run(engine)
        await until(lambda: wizard.currentId() == PageId.FINISH)
        await self._stop("8-finish")

    async def _run(self, engine: FakeEngine, *, log: bool = False) -> SetupWizard:
        wizard = await self._open(engine)
        wizard.run_page.details.setChecked(log)
        wizard.run_job(Job.INSTALL, Choices(root=self._root))
        return wizard

    async def _maintenance(self) -> None:
        """Show the page of an environment, and what opens on it."""
        engine = FakeEngine()
        engine.can_undo = True
        engine.environment = READY
        engine.store_content = store_content(90_000_000, 7_000_000)
        engine.changes = ChangesEvent(
            added=(("narwhals", "2.1.0"),),
            changed=(("numpy", "2.3.1", "2.3.2"), ("pandas", "2.3.0", "2.3.1"), ("scipy", "1.16.0", "1.16.1")),
        )
        engine.updates = {Part.PYTHON: ("Python 3.11.2 3.11.13", 29_000_000), Part.UV: ("uv 0.13.2 0.13.9", 0)}
        wizard = await self._open(engine)
        page = wizard.maintenance_page
        await at_maintenance(wizard)
        await until(lambda: wizard.controller.idle)  # the sizes are measured
        await self._stop("9-maintenance")
        for name, button in (
            ("update", page.update_button),
            ("free", page.free_button),
            ("uninstall", page.uninstall_button),
        ):
            button.click()
            await until(lambda: wizard.controller.idle)
            await self._stop(f"9-maintenance-{name}")
        click(wizard, "keepButton")
        engine.hold_at, engine.changes = "plan", ChangesEvent()
        engine.updates = FakeEngine().updates
        page.update_button.click()
        await self._stop("9-maintenance-looking")
        engine.release.set()
        await until(lambda: wizard.controller.idle)
        await self._stop("9-maintenance-newest")
        added = (AddedPackage("polars", "1.31.0"), AddedPackage("seaborn", "0.13.1", "0.13.2"))
        engine.environment = replace(READY, added=added, kept=(AddedPackage("altair", "5.5.0"),))
        engine.opening.state = JupyterState.RUNNING
        wizard.controller.survey(Choices(root=self._root))
        await until(lambda: wizard.controller.idle and bool(part(page, "stopJupyterButton").isVisible()))
        await self._stop("9-maintenance-jupyter")
        page.add_button.click()
        part(wizard, "addEdit").setText("tinyx")
        await self._stop("9-maintenance-add")
        broken = FakeEngine()
        moved: dict[str, object] = {"recorded": "/home/mei/old/aml", "root": str(self._root)}
        broken.environment = EnvironmentFacts("moved", "environment.moved", moved, python="3.11.2", packages=106)
        wizard = await self._open(broken)
        page = wizard.maintenance_page
        await at_maintenance(wizard)
        await until(lambda: wizard.controller.idle)
        await self._stop("9-maintenance-broken")
        broken.environment = EnvironmentFacts("stale", "environment.stale", python="3.11.2", packages=106)
        wizard.controller.survey(Choices(root=self._root))
        await until(lambda: wizard.controller.idle and bool(part(page, "installButton").isVisible()))
        await self._stop("9-maintenance-stale")

    async def _network(self) -> None:
        """Show the settings of the network as they are at first, and in a company after a check."""
        engine = FakeEngine()
        engine.network.settings = replace(engine.network.settings, mirrors=tuple(load_mirrors()))
        wizard = await self._network_page(engine)
        await self._stop("10-network")
        part(wizard, "indexUrlEdit").setText("https://index.example.org/simple")
        part(wizard, "userEdit").setText("mei")
        await self._stop("10-network-login")
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
        click(wizard, "checkNetworkButton")
        await until(lambda: wizard.controller.network.check is not None and not wizard.controller.network.busy)
        await self._stop("11-network-checked")

    async def _network_page(self, engine: FakeEngine) -> SetupWizard:
        wizard = await self._open(engine)
        wizard.survey()
        await until(lambda: not wizard.controller.surveying)
        wizard.open_network()
        await until(lambda: not wizard.controller.network.busy)
        return wizard

    async def _open(self, engine: FakeEngine) -> SetupWizard:
        await self._close()
        wizard = self._window = SetupWizard(fake_services(engine, self._root, engine.defaults), self._language)
        wizard.complete()
        wizard.show()
        return wizard

    async def _stop(self, name: str) -> None:
        assert self._window is not None
        self.stops.append(name)
        await self._visit(self._window, name)

    async def _close(self) -> None:
        wizard, self._window = self._window, None
        if wizard is None:
            return
        wizard.close_now()
        await until(lambda: wizard.controller.idle)
        wizard.deleteLater()
        QApplication.sendPostedEvents(wizard, QEvent.Type.DeferredDelete)
