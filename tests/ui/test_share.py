"""Sharing a lock, a lock that does not fit, and working offline, in the window with a scripted engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QFileOpenEvent
from PySide6.QtWidgets import QFileDialog

from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.events import BundleEvent
from amlwizard.core.facts import EnvironmentFacts
from amlwizard.core.lacking import Lacking, incomplete_store
from amlwizard.ui.file_opening import FileOpening
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import click, part
from tests.support.waiting import until
from tests.ui.test_window import set_up

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.events import Emit
    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play


class FileManager(QObject):
    """Stands in for the desktop's: notes what it is asked to show."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []
        QDesktopServices.setUrlHandler("file", self, "show_folder")

    @Slot(QUrl)
    def show_folder(self, url: QUrl) -> None:
        self.shown.append(url.toLocalFile())

    def close(self) -> None:
        QDesktopServices.unsetUrlHandler("file")


def test_a_lock_is_shared_from_the_maintenance_page(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", "environment.ready", {"packages": 2, "version": "3.11.9"})
    manager = FileManager()
    out = tmp_path / "pylock.team.toml"

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE)
        click(wizard, "shareButton")
        dialog = wizard.findChild(QFileDialog)
        assert dialog is not None
        assert dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave
        (chosen,) = dialog.selectedFiles()
        assert chosen.rpartition("/")[2] == f"pylock.{tmp_path.name}.toml"
        dialog.fileSelected.emit(str(out))
        dialog.reject()
        message = part(wizard, "messageLabel")
        await until(lambda: str(out) in message.text())
        assert "pylock.team.toml" in message.text()
        assert "(From a file)" in message.text()
        wizard.words.set_language("zh_CN")
        assert "发给同事" in message.text()
        assert manager.shown == [str(tmp_path)]
        wizard.back()
        assert wizard.currentId() == PageId.MAINTENANCE

    try:
        play(engine, scene)
    finally:
        manager.close()
    ((name, choices),) = engine.calls
    assert (name, choices.share) == ("share", out)


@pytest.mark.qt_log_ignore("QPlatformServices", extend=True)
def test_where_no_file_manager_opens_the_folder_its_path_is_shown(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", python="3.11.9", packages=2)

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE)
        click(wizard, "openFolderButton")  # there is no desktop in a test
        problem = part(wizard.maintenance_page, "openingLabel")
        assert problem.isVisible()
        assert problem.text() == f"No file manager could be opened. The folder is {tmp_path}"
        manager = FileManager()
        click(wizard, "openFolderButton")
        manager.close()
        assert manager.shown == [str(tmp_path)]
        assert not problem.isVisible()

    play(engine, scene)


def test_a_lock_that_does_not_fit_can_be_resolved_anew(play: Play, tmp_path: Path) -> None:
    lock = tmp_path / "pylock.team.toml"
    engine = FakeEngine()
    engine.defaults = Defaults(Choices(root=tmp_path / "aml", requirements=lock))
    engine.refusal = RefusedError("AML_SHARED_PLATFORM", file=str(lock), platform="macos-arm64", here="linux-x86_64")

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: part(wizard, "resolveAnewButton").isVisible())
        assert "made for macos-arm64" in part(wizard, "startProblemLabel").text()
        assert not part(wizard, "setupButton").isEnabled()
        click(wizard, "resolveAnewButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)
        engine.refusal = None
        click(wizard, "finishManageButton")
        click(wizard, "rebuildButton")
        await until(lambda: len(engine.calls) == 2)

    play(engine, scene)
    assert [(name, choices.refresh, choices.requirements) for name, choices in engine.calls] == [
        ("install", True, lock),
        ("rebuild", False, lock),
    ]


def test_other_refusals_offer_nothing(play: Play) -> None:
    engine = FakeEngine()
    engine.refusal = RefusedError("AML_LOCK_PLATFORM", platform="linux-x86_64")

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: part(wizard, "startProblemLabel").isVisible())
        assert not part(wizard, "resolveAnewButton").isVisible()
        assert not part(wizard, "lackingView").isVisible()

    play(engine, scene)


def missing(count: int) -> AmlError:
    """Return the error of a store without so many files."""
    files = [Lacking(f"package{number}-1.0-py3-none-any.whl", 1_500_000, "files.example.org") for number in range(count)]
    return incomplete_store([*files, Lacking("other 1.0")], _folder(), "en")


def _folder() -> Path:
    from pathlib import Path

    return Path("/srv/aml/downloads")


class OfflineEngine(FakeEngine):
    """Lacks some files where it must do without a network."""

    async def plan(self, choices: Choices, emit: Emit) -> object:  # type: ignore[override]
        if choices.offline:
            raise missing(60)
        return await super().plan(choices, emit)


def test_the_offline_switch_asks_at_once_and_lists_what_is_missing(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
        click(wizard, "offlineBox")
        view = part(wizard, "lackingView")
        await until(lambda: bool(view.isVisible()))
        assert not part(wizard, "setupButton").isEnabled()
        assert view.topLevelItemCount() == 61
        first, last = view.topLevelItem(0), view.topLevelItem(60)
        assert [first.text(column) for column in range(3)] == [
            "package0-1.0-py3-none-any.whl",
            "1.5 MB",
            "files.example.org",
        ]
        assert last.text(1) == "size unknown"
        assert view.verticalScrollBar().maximum() > 0
        problem = part(wizard, "startProblemLabel").text()
        assert "61 files are not in the store (at least 90 MB)" in problem
        assert "/srv/aml/downloads" in problem
        assert "package9" not in problem
        wizard.words.set_language("zh_CN")
        assert view.headerItem().text(0) == "缺少的文件"
        assert view.topLevelItem(60).text(1) == "大小未知"
        click(wizard, "offlineBox")
        await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
        assert not view.isVisible()

    play(OfflineEngine(), scene)


def test_the_switch_holds_for_every_run_of_the_window(play: Play) -> None:
    engine = FakeEngine()

    async def scene(wizard: SetupWizard) -> None:
        click(wizard, "offlineBox")
        await set_up(wizard)
        await until(lambda: wizard.currentId() == PageId.FINISH)
        click(wizard, "finishManageButton")
        click(wizard, "verifyButton")
        await until(lambda: len(engine.calls) == 2 and not wizard.controller.running)

    play(engine, scene)
    assert [choices.offline for _, choices in engine.calls] == [True, True]


def test_a_setting_that_says_offline_is_shown_by_the_switch(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.defaults = Defaults(Choices(root=tmp_path, offline=True))

    async def scene(wizard: SetupWizard) -> None:
        assert part(wizard, "offlineBox").isChecked()

    play(engine, scene)


def test_what_a_rebuild_would_lack_is_listed_on_the_page_of_the_environment(play: Play, tmp_path: Path) -> None:
    engine = OfflineEngine()
    engine.defaults = Defaults(Choices(root=tmp_path, offline=True))
    engine.environment = EnvironmentFacts("ready", "environment.ready", {"packages": 2, "version": "3.11.9"})

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE)
        view = part(wizard, "maintenanceLackingView")
        await until(lambda: bool(view.isVisible()))
        assert view.topLevelItemCount() == 61

    play(engine, scene)


class FailingEngine(FakeEngine):
    """Finds only in the middle of a run that files are missing."""

    async def rebuild(self, choices: Choices, emit: Emit) -> object:  # type: ignore[override]
        from amlwizard.core.outcome import finished_event

        return finished_event(missing(3), choices.root, "en")


def test_what_is_missing_is_listed_at_the_end_of_a_run_too(play: Play) -> None:
    engine = FailingEngine()
    engine.environment = EnvironmentFacts("ready", "environment.ready", {"packages": 2, "version": "3.11.9"})

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE)
        click(wizard, "rebuildButton")
        view = part(wizard, "runLackingView")
        await until(lambda: bool(view.isVisible()))
        assert view.topLevelItemCount() == 4

    play(engine, scene)


class BundleEngine(FakeEngine):
    """Tells what a bundle is, as the real one does."""

    async def detect(self, choices: Choices, emit: Emit) -> object:  # type: ignore[override]
        if choices.bundle is not None:
            content = {"path": str(choices.bundle), "size": 203_000_000, "platform": "linux-x86_64", "packages": 106}
            emit(BundleEvent({**content, "floor": {"glibc": "2.28"}, "python": "3.11.9"}))
        return await super().detect(choices, emit)


def test_the_facts_of_a_bundle_stand_beside_its_refusal(play: Play, tmp_path: Path) -> None:
    engine = BundleEngine()
    engine.refusal = RefusedError("AML_BUNDLE_PLATFORM", path="x.amlbundle", platform="linux-x86_64", here="macos-arm64")

    async def scene(wizard: SetupWizard) -> None:
        assert wizard.open_bundle(str(tmp_path / "x.amlbundle"))
        note = part(wizard, "bundleNoteLabel")
        await until(lambda: "macos-arm64" in note.text())
        assert note.text().startswith("For linux-x86_64 (glibc 2.28 or newer), Python 3.11.9, 106 packages, 203 MB.")
        assert not part(wizard, "setupButton").isEnabled()

    play(engine, scene)


def test_a_bundle_that_the_system_asks_to_open_is_opened_with_its_facts(play: Play, tmp_path: Path) -> None:
    bundle = tmp_path / "given 离线.amlbundle"

    async def scene(wizard: SetupWizard) -> None:
        FileOpening(wizard)
        application = QCoreApplication.instance()
        assert application is not None
        QCoreApplication.sendEvent(application, QFileOpenEvent(str(tmp_path / "picture.png")))
        assert not part(wizard, "bundleEdit").isVisible()
        click(wizard, "customiseButton")
        QCoreApplication.sendEvent(application, QFileOpenEvent(str(bundle)))
        assert wizard.currentId() == PageId.START
        assert part(wizard, "bundleEdit").text() == str(bundle)
        note = part(wizard, "bundleNoteLabel")
        await until(lambda: note.text().startswith("It fits this computer."))
        for fact in ("linux-x86_64", "glibc 2.28", "Python 3.11.9", "106 packages", "203 MB"):
            assert fact in note.text()

    play(BundleEngine(), scene)
