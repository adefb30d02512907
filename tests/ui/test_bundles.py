"""Bundles in the window: chosen, dropped, opened from the command line, made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QDir, QEvent, QMimeData, QPointF, QStandardPaths, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog

from amlwizard.core.choices import Choices
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import FinishedEvent, RunState
from amlwizard.core.facts import EnvironmentFacts
from amlwizard.start_settings import read_defaults
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from amlwizard.ui.wishes import Packages, dropped, form_of
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import at_maintenance, click, part, reading
from tests.support.waiting import until
from tests.ui.test_window import rows

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from amlwizard.core.events import Emit
    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play


class BundleEngine(FakeEngine):
    """Refuses a bundle by its name, and makes one."""

    async def detect(self, choices: Choices, emit: Emit) -> object:  # type: ignore[override]
        if choices.bundle is not None and "bad" in choices.bundle.name:
            raise RefusedError("AML_BUNDLE_TRUNCATED", path=str(choices.bundle))
        return await super().detect(choices, emit)

    async def make_bundle(self, choices: Choices, emit: Emit) -> FinishedEvent:
        finished = await self._play("bundle", choices, emit, ("gather", "bundle"))
        if finished.state is not RunState.READY:
            return finished
        assert choices.order is not None
        arguments: dict[str, object] = {
            "path": str(choices.order.out),
            "size": "203 MB",
            "sha256": "ab" * 32,
            "platform": "linux-x86_64",
            "python": "3.11.9",
        }
        return replace(finished, state=RunState.DONE, code="AML_BUNDLE_CREATED", arguments=arguments)


def choose(wizard: SetupWizard, path: str) -> None:
    """Choose a bundle by typing its path."""
    click(wizard, "bundleButton")
    assert part(wizard, "bundleEdit").isVisible()
    part(wizard, "bundleEdit").setText(path)


def test_a_bundle_is_checked_at_once_and_the_reason_stands_beside_the_field(play: Play, tmp_path: Path) -> None:
    async def scene(wizard: SetupWizard) -> None:
        assert not part(wizard, "bundleEdit").isVisible()
        click(wizard, "bundleButton")
        assert not part(wizard, "setupButton").isEnabled()
        choose(wizard, str(tmp_path / "bad.amlbundle"))
        note = part(wizard, "bundleNoteLabel")
        await until(lambda: "its end is missing" in note.text())
        assert note.isVisible()
        assert note.parent().parent() is part(wizard, "bundleEdit").parent()
        assert not part(wizard, "setupButton").isEnabled()
        assert not part(wizard, "startProblemLabel").isVisible()
        wizard.words.set_language("zh_CN")
        assert "不完整" in note.text()
        wizard.words.set_language("en")
        choose(wizard, str(tmp_path / "good 离线.amlbundle"))
        await until(lambda: note.text() == "It fits this computer.")
        assert part(wizard, "promiseLabel").text().startswith("Nothing will be downloaded")
        assert reading(part(wizard, "setupButton")) == "Set up from the bundle"
        click(wizard, "setupButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    engine = BundleEngine()
    play(engine, scene)
    ((name, choices),) = engine.calls
    assert name == "install"
    assert choices.bundle == tmp_path / "good 离线.amlbundle"
    assert choices.profile is None
    assert choices.requirements is None


def drag(paths: list[str]) -> QMimeData:
    """Return what a file manager drops."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return data


def drop(wizard: SetupWizard, data: QMimeData) -> bool:
    """Drop it on the window; tell whether the window takes it."""
    nothing, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    entering = QDragEnterEvent(QPointF(10, 10).toPoint(), Qt.DropAction.CopyAction, data, left, nothing)
    entering.ignore()
    wizard.dragEnterEvent(entering)
    if entering.isAccepted():
        wizard.dropEvent(QDropEvent(QPointF(10, 10), Qt.DropAction.CopyAction, data, left, nothing))
    return entering.isAccepted()


def test_a_bundle_that_is_dropped_on_the_window_is_opened(play: Play, tmp_path: Path) -> None:
    path = str(tmp_path / "dropped.amlbundle")

    async def scene(wizard: SetupWizard) -> None:
        await until(lambda: wizard.currentId() == PageId.START)
        assert not drop(wizard, drag([str(tmp_path / "picture.png")]))
        assert not drop(wizard, drag([path, path]))
        click(wizard, "customiseButton")
        assert wizard.currentId() == PageId.CHECK
        assert drop(wizard, drag([path]))
        assert wizard.currentId() == PageId.START
        assert part(wizard, "bundleEdit").text() == path
        await until(lambda: part(wizard, "bundleNoteLabel").text() == "It fits this computer.")
        click(wizard, "setupButton")
        assert not drop(wizard, drag([path])), "not while a run goes on"
        engine.release.set()

    engine = BundleEngine(hold_at="fetch")
    play(engine, scene)


def test_requirements_and_locks_that_are_dropped_are_filled_in(play: Play, tmp_path: Path) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await until(lambda: wizard.currentId() == PageId.START)
        for name in ("requirements 依赖.txt", "dev.in", "pylock.toml", "PYLOCK.team.TOML"):
            path = str(tmp_path / name)
            assert drop(wizard, drag([path]))
            assert wizard.start_page.form.packages is Packages.FILE
            assert part(wizard, "requirementsEdit").text() == path
            await until(lambda: wizard.controller.plan is not None)
            surveyed = wizard.controller.surveyed
            assert surveyed is not None
            assert str(surveyed.requirements) == path
        assert not drop(wizard, drag([str(tmp_path / "pyproject.toml")]))

    play(FakeEngine(), scene)


def test_a_folder_that_is_dropped_is_the_workspace_and_its_page_follows_where_it_holds_one(
    play: Play, tmp_path: Path
) -> None:
    engine = FakeEngine()

    async def scene(wizard: SetupWizard) -> None:
        await until(lambda: wizard.currentId() == PageId.START)
        empty, full = tmp_path / "empty.txt", tmp_path / "full"
        for folder in (empty, full):
            folder.mkdir()
        assert drop(wizard, drag([str(empty)]))
        assert part(wizard, "rootEdit").text() == str(empty)
        await until(lambda: wizard.controller.plan is not None)
        assert wizard.currentId() == PageId.START
        engine.environment = EnvironmentFacts("ready", python="3.11.2", packages=106)
        assert drop(wizard, drag([str(full)]))
        await until(lambda: wizard.currentId() == PageId.MAINTENANCE)
        assert wizard.controller.surveyed is not None
        assert wizard.controller.surveyed.root == full

    play(engine, scene)


def test_a_bundle_of_the_command_line_fills_the_page_and_stays(play: Play, tmp_path: Path) -> None:
    bundle = tmp_path / "given.amlbundle"
    engine = BundleEngine()
    engine.defaults = Defaults(Choices(root=tmp_path, bundle=bundle))
    engine.environment = EnvironmentFacts("ready", "environment.ready", {"packages": 2, "version": "3.11.9"})

    async def scene(wizard: SetupWizard) -> None:
        assert part(wizard, "bundleEdit").text() == str(bundle)
        wizard.survey()
        await until(lambda: part(wizard, "bundleNoteLabel").text() == "It fits this computer.")
        assert wizard.currentId() == PageId.START

    play(engine, scene)


def test_the_path_of_the_command_line_counts_from_where_it_was_typed(tmp_path: Path) -> None:
    defaults = read_defaults({"HOME": str(tmp_path)}, tmp_path, tmp_path, tmp_path, bundle="a.amlbundle")
    assert defaults.choices.bundle == tmp_path / "a.amlbundle"
    form = form_of(defaults.choices)
    assert form.packages is Packages.BUNDLE
    assert form.choices(defaults.choices).bundle == tmp_path / "a.amlbundle"
    assert dropped(["a.zip"]) is None


def test_a_bundle_is_made_from_the_maintenance_page(
    play: Play, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setattr(QStandardPaths, "locate", lambda *_wanted: "")  # it has no folder of documents
    monkeypatch.setattr(QDir, "homePath", lambda: str(home))
    engine = BundleEngine()
    engine.environment = EnvironmentFacts("ready", "environment.ready", {"packages": 2, "version": "3.11.9"})

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "makeBundleButton")
        dialog = wizard.findChild(QFileDialog)
        assert dialog is not None
        assert dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave
        assert dialog.defaultSuffix() == "amlbundle"
        assert dialog.directory().absolutePath() == str(home)
        dialog.fileSelected.emit(str(tmp_path / "made.amlbundle"))
        dialog.reject()
        assert wizard.currentId() == PageId.RUN
        message = part(wizard, "messageLabel")
        await until(lambda: "ab" * 32 in message.text())
        assert str(tmp_path / "made.amlbundle") in message.text()
        assert rows(wizard) == ["Collect", "Bundle"]
        states = wizard.side.states()
        assert {states[page] for page in ("uv", "python", "environment")} == {"done"}
        wizard.back()
        assert wizard.currentId() == PageId.MAINTENANCE

    play(engine, scene)
    ((name, choices),) = engine.calls
    assert name == "bundle"
    assert choices.order is not None
    assert choices.order.out == tmp_path / "made.amlbundle"


def test_making_a_bundle_can_be_cancelled(play: Play, tmp_path: Path) -> None:
    engine = BundleEngine(hold_at="bundle")
    engine.environment = EnvironmentFacts("ready", "environment.ready", {"packages": 2, "version": "3.11.9"})

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        wizard.maintenance_page.make_bundle.emit(str(tmp_path / "made.amlbundle"))
        await until(lambda: bool(engine.calls))
        click(wizard, "cancelButton")
        await until(lambda: not wizard.controller.running)
        assert part(wizard, "messageLabel").text().startswith("Cancelled.")

    play(engine, scene)


def test_a_file_and_a_bundle_are_chosen_in_the_documents_to_begin_with(
    play: Play, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = tmp_path_factory.mktemp("Documents")
    monkeypatch.setattr(QStandardPaths, "locate", lambda *_wanted: str(documents))

    async def scene(wizard: SetupWizard) -> None:
        for packages, choose in (("fileButton", "chooseRequirementsButton"), ("bundleButton", "chooseBundleButton")):
            part(wizard, packages).setChecked(True)
            button = part(wizard, choose)
            assert button.text().replace("&", "") == "Choose…"
            button.click()
            dialog = wizard.findChild(QFileDialog)
            assert dialog is not None
            assert dialog.directory().absolutePath() == str(documents)
            dialog.reject()
            QApplication.sendPostedEvents(dialog, QEvent.Type.DeferredDelete)

    play(FakeEngine(), scene)
