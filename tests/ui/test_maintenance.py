"""The maintenance page says what is the case, why, and offers first what mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import LANGUAGES, text
from amlwizard.core.errors import RefusedError
from amlwizard.core.facts import AddedPackage, EnvironmentFacts
from amlwizard.ui.step_list import PageId
from amlwizard.ui.theme import PrimaryButton
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import at_maintenance, click, part, reading
from tests.support.waiting import until

if TYPE_CHECKING:
    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play

VENV = "/x/aml/.venv"
MOVED = {"path": VENV, "recorded": "/old/aml", "root": "/x/aml"}
CHANGING = (
    *("addPackagesButton", "updateButton", "undoButton", "rebuildButton", "repairButton"),
    *("freeSpaceButton", "uninstallButton", "removeButton"),
)
BASE = {"path": VENV, "version": "3.11.7", "base": "/gone/python3.11"}


def first_button(wizard: SetupWizard) -> str:
    """Return the name of the one button that stands out, which is the first of its row, or nothing where none does."""
    page = wizard.maintenance_page
    standing_out = [
        button.objectName() for button in page.findChildren(PrimaryButton) if button.isVisible() and button.minimumHeight()
    ]
    assert len(standing_out) <= 1
    in_row = [page.row.itemAt(number).widget() for number in range(page.row.count())]
    first = next(button for button in in_row if button is not None and button.isVisible())
    assert standing_out in ([], [first.objectName()])
    return "".join(standing_out)


@pytest.mark.parametrize(
    ("state", "reason", "arguments", "said", "button", "repairs"),
    [
        ("ready", "environment.ready", {}, ["Ready: Python 3.11.2, 106 packages."], "openJupyterButton", True),
        ("absent", "environment.absent", {}, ["no environment yet", "Set up makes it."], "installButton", False),
        ("stale", "environment.stale", {}, ["Out of date:", "Set up builds it"], "installButton", True),
        (
            "damaged",
            "environment.no_pyvenv_cfg",
            {"path": VENV},
            ["Damaged: pyvenv.cfg", "Repair mends it."],
            "repairButton",
            True,
        ),
        ("moved", "environment.moved", MOVED, ["from /old/aml to /x/aml", "Repair mends it."], "repairButton", True),
        ("base_missing", "environment.base_missing", BASE, ["/gone/python3.11", "Repair mends it."], "repairButton", True),
        ("unfinished", "environment.unfinished", {}, ["interrupted", "Repair mends it."], "repairButton", True),
        (
            "unfinished",
            "environment.in_work",
            {"command": "install", "pid": 7, "since": "10:44"},
            ["since 10:44: install (process 7)"],
            "",
            True,
        ),
        ("foreign", "environment.foreign", {"path": VENV}, [VENV, "move it away yourself"], "", False),
    ],
)
def test_each_state_is_shown_with_its_reason_and_what_mends_it(
    play: Play, state: str, reason: str, arguments: dict[str, object], said: list[str], button: str, repairs: bool
) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts(state, reason, arguments, python="3.11.2", packages=106)

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: not wizard.controller.surveying)
        if wizard.currentId() == PageId.START:
            wizard.start_page.maintain.emit()
        opening = wizard.maintenance_page.opening
        await until(lambda: opening._looking is None or opening._looking.done())
        text = part(wizard, "maintenanceStateLabel").text()
        assert [words for words in said if words not in text] == []
        assert str(wizard.maintenance_page.root) in text
        assert first_button(wizard) == button
        assert part(wizard, "repairButton").isEnabled() is repairs
        if button in {"installButton", "repairButton"}:
            click(wizard, button)
            await until(lambda: wizard.currentId() == PageId.FINISH)
            assert [name for name, _ in engine.calls] == [button.removesuffix("Button")]

    play(engine, scene)


def test_the_box_counts_for_an_environment_that_is_set_up_anew_as_for_a_rebuild(play: Play) -> None:
    engine = FakeEngine()
    added = (AddedPackage("tinyx", "1.0"),)
    engine.environment = EnvironmentFacts("stale", "environment.stale", python="3.11.2", packages=106, added=added)

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: not wizard.controller.surveying)
        wizard.start_page.maintain.emit()
        wizard.maintenance_page.keep_added.click()
        click(wizard, "installButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)
        assert [(name, choices.keep_added) for name, choices in engine.calls] == [("install", False)]

    play(engine, scene)


@pytest.mark.parametrize("code", ["AML_ADDED_OFFLINE", "AML_ADDED_CONFLICT"])
def test_the_box_is_found_by_the_words_of_the_hint_from_the_start_page_too(play: Play, code: str) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("stale", added=(AddedPackage("tinyx", "1.0"),))

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: bool(part(wizard, "manageButton").isVisible()))
        for language in LANGUAGES:
            wizard.words.set_language(language)
            assert reading(part(wizard, "manageButton")) in text(f"{code}.hint", language)
        click(wizard, "manageButton")
        assert part(wizard, "keepAddedBox").isVisible()

    play(engine, scene)


def test_a_foreign_folder_is_refused_before_anything_is_begun(play: Play) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("foreign", "environment.foreign", {"path": VENV})

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None)
        assert "move it away yourself" in part(wizard, "presentLabel").text()
        assert not part(wizard, "setupButton").isEnabled()

    play(engine, scene)


def test_the_environment_of_a_newer_amlwizard_is_told_once_with_what_to_do(play: Play) -> None:
    engine = FakeEngine()
    about = {"path": f"{VENV}/.aml-ok-1", "found": 2, "known": 1}
    engine.environment = EnvironmentFacts("foreign", "environment.newer", about)

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None)
        said = part(wizard, "presentLabel").text()
        assert "newer amlwizard" in said
        assert "Install the newest amlwizard." in said
        assert "move it away" not in said
        engine.refusal = RefusedError("AML_FORMAT_TOO_NEW", **about)
        wizard.survey()
        await until(lambda: wizard.controller.refusal is not None)
        assert part(wizard, "presentLabel").text() == ""
        assert "Install the newest amlwizard" in part(wizard, "startProblemLabel").text()
        assert not part(wizard, "setupButton").isEnabled()

    play(engine, scene)


def test_what_a_run_has_changed_is_looked_at_again_on_the_way_back(play: Play) -> None:
    engine = FakeEngine(fail_at="verify")
    engine.environment = EnvironmentFacts("ready", "environment.ready", python="3.11.2", packages=106)

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "rebuildButton")
        await until(lambda: bool(engine.calls) and not wizard.controller.running)
        engine.environment = EnvironmentFacts("unfinished", "environment.unfinished", {"path": VENV})
        wizard.back()
        await until(lambda: "interrupted" in part(wizard, "maintenanceStateLabel").text())
        assert first_button(wizard) == "repairButton"

    play(engine, scene)


def test_what_changes_a_workspace_of_another_account_is_not_offered_and_what_reads_it_is(play: Play) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", "environment.ready", python="3.11.2", packages=106)
    engine.write_refusal = RefusedError("AML_ROOT_NOT_YOURS", path="/srv/aml", owner="mei")
    engine.can_undo = True

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        assert "belongs to mei" in part(wizard, "maintenanceBusyLabel").text()
        for name in CHANGING:
            assert not part(wizard, name).isEnabled(), name
        for name in ("openJupyterButton", "verifyButton", "makeBundleButton", "otherFolderButton"):
            assert part(wizard, name).isEnabled(), name
        engine.write_refusal = None
        await at_maintenance(wizard)
        assert part(wizard, "maintenanceBusyLabel").text() == ""
        for name in CHANGING:
            assert part(wizard, name).isEnabled(), name

    play(engine, scene)


def test_no_tool_is_offered_for_a_workspace_that_cannot_be_changed(play: Play) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", "environment.ready", python="3.11.2", packages=106)
    engine.write_refusal = RefusedError("AML_ROOT_NOT_YOURS", path="/srv/aml", owner="mei")

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        page = wizard.page(PageId.UV)
        assert "belongs to mei" in part(page, "uvStateLabel").text()
        assert part(page, "installUvButton").isHidden()
        engine.write_refusal = None
        await at_maintenance(wizard)
        assert not part(page, "installUvButton").isHidden()

    play(engine, scene)


def test_a_refusal_of_the_plan_that_says_the_same_is_told_once(play: Play) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("stale", "environment.stale", python="3.11.2", packages=106)
    engine.refusal = engine.write_refusal = RefusedError("AML_ROOT_NOT_YOURS", path="/srv/aml", owner="mei")

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.refusal is not None)
        shown = [part(wizard, name).text() for name in ("rootNoteLabel", "startBusyLabel")]
        assert "".join(shown).count("belongs to mei") == 1
        assert not part(wizard, "setupButton").isEnabled()
        wizard.start_page.maintain.emit()
        shown = [part(wizard, name).text() for name in ("maintenanceStateLabel", "maintenanceBusyLabel")]
        assert "".join(shown).count("belongs to mei") == 1
        assert not part(wizard, "installButton").isEnabled()

    play(engine, scene)
