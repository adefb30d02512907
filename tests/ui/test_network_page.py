"""The page with the settings of the network, driven by clicks and keys."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from amlwizard.core.catalogue import LANGUAGES, Phrase, window_text
from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.facts import EnvironmentFacts
from amlwizard.core.network_settings import Found
from amlwizard.core.preflight import Address, Reached
from amlwizard.ui.services import Defaults, Login
from amlwizard.ui.step_list import PageId
from tests.support.fake_engine import FakeEngine
from tests.support.fake_network import MIRROR
from tests.support.fake_programs import fake_programs
from tests.support.played_window import at_maintenance, click, part
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QComboBox

    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play

INDEX = "https://index.example.org/simple"
FINE = Reached(Address("https://files.example.org/numpy.whl", "fetch"), None, None)
REFUSED = Reached(
    Address(f"{INDEX}/numpy/", "resolve", index=INDEX),
    None,
    AmlError("AML_INDEX_REFUSED", host="index.example.org", url=INDEX, package="numpy"),
)


async def opened(wizard: SetupWizard) -> None:
    """Go to the page by the link on the start page."""
    wizard.survey()
    await until(lambda: not wizard.controller.surveying)
    click(wizard, "networkButton")
    assert wizard.currentId() == PageId.NETWORK
    await idle(wizard)


async def idle(wizard: SetupWizard) -> None:
    await until(lambda: wizard.controller.network.settings is not None and not wizard.controller.network.busy)


async def set_up(wizard: SetupWizard) -> None:
    """Set up from the start page, to whatever end."""
    wizard.survey()
    await until(lambda: bool(part(wizard, "setupButton").isEnabled()))
    click(wizard, "setupButton")
    await until(lambda: not wizard.controller.running)


def said(wizard: SetupWizard) -> str:
    return str(part(wizard, "networkStateLabel").text())


def test_the_link_leads_there_and_back_leads_back(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        assert wizard.side.states()["start"] == "current"
        wizard.back()
        assert wizard.currentId() == PageId.START
        click(wizard, "customiseButton")
        assert wizard.currentId() == PageId.CHECK

    play(FakeEngine(), scene)


def test_the_page_of_an_environment_leads_there_and_what_is_saved_serves_its_jobs(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.environment = EnvironmentFacts("ready", python="3.11.2", packages=106)
    engine.defaults = Defaults(Choices(root=tmp_path, index_url="https://old.example.org/simple"))

    async def scene(wizard: SetupWizard) -> None:
        await at_maintenance(wizard)
        click(wizard, "maintenanceNetworkButton")
        await idle(wizard)
        part(wizard, "indexUrlEdit").setText(INDEX)
        click(wizard, "saveNetworkButton")
        await idle(wizard)
        wizard.back()
        assert wizard.currentId() == PageId.MAINTENANCE
        await until(lambda: bool(part(wizard, "rebuildButton").isEnabled()))
        click(wizard, "rebuildButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)
    rebuilds = [choices.index_url for name, choices in engine.calls if name == "rebuild"]
    assert rebuilds == [None]  # the fake service has no index when it is read again


def test_escape_leads_back_and_does_not_close_the_window(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        QTest.keyClick(part(wizard, "proxyEdit"), Qt.Key.Key_Escape)
        assert wizard.currentId() == PageId.START
        assert wizard.isVisible()

    play(FakeEngine(), scene)


def test_what_is_filled_in_is_saved_and_serves_from_then_on(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.defaults = Defaults(Choices(root=tmp_path, index_url="https://old.example.org/simple"))

    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        assert not part(wizard, "saveNetworkButton").isEnabled()
        part(wizard, "indexUrlEdit").setText(INDEX)
        part(wizard, "proxyEdit").setText("http://proxy.example.org:8080")
        assert said(wizard) == "Not saved yet."
        part(wizard, "loginBox").setCurrentText("http://proxy.example.org:8080")
        part(wizard, "userEdit").setText("mei")
        part(wizard, "passwordEdit").setText("hunter2")
        click(wizard, "keepLoginBox")
        click(wizard, "saveNetworkButton")
        await idle(wizard)
        assert said(wizard) == "Saved."
        assert wizard.focusWidget() is part(wizard, "checkNetworkButton")
        assert not part(wizard, "passwordEdit").text()
        assert not part(wizard, "saveNetworkButton").isEnabled()
        wizard.back()
        assert wizard.start_page.choices() == Choices(root=tmp_path)  # those that the service gave when it was asked again
        await until(lambda: wizard.controller.surveyed == Choices(root=tmp_path) and not wizard.controller.surveying)

    play(engine, scene)
    assert engine.network.settings.values["indexUrl"] == INDEX
    login = Login("http://proxy.example.org:8080", "mei", "hunter2", keep=True)
    assert engine.network.logins == engine.network.kept == [login]


def test_a_mirror_fills_in_the_fields_and_is_known_again(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        box: QComboBox = part(wizard, "mirrorBox")
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Down)
        assert part(wizard, "indexUrlEdit").text() == MIRROR.index_url
        assert part(wizard, "pythonMirrorEdit").text() == MIRROR.python_mirror
        click(wizard, "saveNetworkButton")
        await idle(wizard)
        assert box.currentText() == "Example University"
        wizard.words.set_language("zh_CN")
        assert box.currentText() == "示例大学"
        QTest.keyClick(box, Qt.Key.Key_Up)
        assert part(wizard, "indexUrlEdit").text() == part(wizard, "pythonMirrorEdit").text() == ""
        part(wizard, "indexUrlEdit").setText(INDEX)
        assert box.currentText() == "其他地址"

    play(FakeEngine(), scene)


def test_what_the_organisation_set_is_shown_and_cannot_be_changed(play: Play) -> None:
    engine = FakeEngine()
    settings = engine.network.settings
    engine.network.settings = replace(
        settings,
        values={**settings.values, "indexUrl": INDEX},
        fixed={
            "indexUrl": Phrase("network.organisation"),
            "caFile": Phrase("network.organisation"),
            "proxy": Phrase("network.variable", {"name": "AML_PROXY_NAME"}),
        },
    )

    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        for name in ("indexUrlEdit", "caFileEdit", "proxyEdit", "chooseCaFileButton", "mirrorBox"):
            assert not part(wizard, name).isEnabled(), name
        assert part(wizard, "indexUrlEdit").text() == INDEX
        for key in ("indexUrl", "caFile"):
            assert part(wizard, f"{key}FixedLabel").isVisible()
            assert part(wizard, f"{key}FixedLabel").text() == "Set by your organisation"
            assert part(wizard, f"{key}Edit").accessibleDescription() == "Set by your organisation"
        assert part(wizard, "proxyFixedLabel").text() == "Set by AML_PROXY_NAME"
        assert part(wizard, "pythonMirrorEdit").isEnabled()
        assert not part(wizard, "pythonMirrorFixedLabel").isVisible()

    play(engine, scene)


def test_what_was_found_is_offered_with_its_place(play: Play) -> None:
    engine = FakeEngine()
    engine.network.settings = replace(
        engine.network.settings,
        found=(
            Found("indexUrl", INDEX, "/etc/pip.conf"),
            Found("extraIndexUrls", "https://a.example.org", "PIP_EXTRA_INDEX_URL"),
            Found("extraIndexUrls", "https://b.example.org", "PIP_EXTRA_INDEX_URL"),
            Found("proxy", "http://proxy.example.org:8080", Phrase("network.system")),
        ),
    )

    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        found = part(wizard, "networkFoundLabel")
        assert f"Package index: {INDEX} (in /etc/pip.conf)" in found.text()
        assert "Proxy: http://proxy.example.org:8080 (in the system's settings)" in found.text()
        assert part(wizard, "indexUrlEdit").placeholderText() == f"{INDEX} (from /etc/pip.conf)"
        assert part(wizard, "loginBox").currentText() == "https://index.example.org"
        click(wizard, "useFoundButton")
        assert part(wizard, "extraIndexUrlsEdit").text() == "https://a.example.org https://b.example.org"
        assert not found.isVisible()
        assert not part(wizard, "useFoundButton").isVisible()

    play(engine, scene)


def test_a_check_saves_first_and_tells_each_host_and_its_text_can_be_copied(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine(pause=0.05)
    engine.reached = (FINE, REFUSED)
    assert REFUSED.error is not None
    message, hint = (
        window_text(f"AML_INDEX_REFUSED.{part}", "en", REFUSED.error.arguments) for part in ("message", "hint")
    )

    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        part(wizard, "indexUrlEdit").setText(INDEX)
        assert not part(wizard, "copyForItButton").isEnabled()
        click(wizard, "checkNetworkButton")
        await until(lambda: said(wizard) == "Reaching the hosts that are needed…")
        assert not part(wizard, "checkNetworkButton").isEnabled()
        await until(lambda: said(wizard) == "1 of 2 hosts cannot be used.")
        assert wizard.focusWidget() is part(wizard, "checkNetworkButton")
        view = part(wizard, "hostsView")
        assert view.isVisible()
        rows = [[view.topLevelItem(row).text(column) for column in (0, 1)] for row in range(view.topLevelItemCount())]
        assert rows == [
            ["files.example.org:443", "It answers."],
            ["index.example.org:443", f"{message}\n{hint}"],
        ]
        part(wizard, "indexUrlEdit").setText(f"{INDEX}/other")
        assert not view.isVisible()
        assert not part(wizard, "copyForItButton").isEnabled()
        part(wizard, "indexUrlEdit").setText(INDEX)
        click(wizard, "checkNetworkButton")
        await until(view.isVisible)
        await idle(wizard)
        click(wizard, "copyForItButton")
        assert QGuiApplication.clipboard().text() == "Allow files.example.org:443."
        assert said(wizard) == "The text for IT is on the clipboard."
        wizard.words.set_language("zh_CN")
        assert view.topLevelItem(0).text(1) == "可以访问。"
        engine.reached = (FINE,)
        wizard.words.set_language("en")
        click(wizard, "checkNetworkButton")
        await until(lambda: said(wizard) == "Everything can be reached: 1 host.")

    play(engine, scene)
    assert engine.network.settings.values["indexUrl"] == INDEX
    checked = [choices for name, choices in engine.calls if name == "check_network"]
    assert [choices.root for choices in checked] == [tmp_path] * 3


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (
            RefusedError("AML_URL_INVALID", url="x", place=Phrase("network.place", {"field": "F"}), schemes="http"),
            "x (from",
        ),
        (OSError(28, "No space left on device"), "No space left on device"),
        (ValueError("something odd"), "amlwizard itself failed: ValueError: something odd"),
        (AmlError("AML_LOGIN_NOT_KEPT", origin="O", reason=Phrase("logins.none")), "no keyring that can be used"),
    ],
)
def test_what_cannot_be_saved_is_said_and_what_was_filled_in_stays(play: Play, refusal: Exception, words: str) -> None:
    engine = FakeEngine()
    engine.network.refusal = refusal

    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        part(wizard, "proxyEdit").setText("proxy")
        click(wizard, "checkNetworkButton")
        await until(lambda: words in said(wizard))
        await idle(wizard)
        assert words in said(wizard)

    play(engine, scene)


def test_a_sign_in_can_be_removed_and_is_for_this_run_where_no_keyring_is(play: Play) -> None:
    engine = FakeEngine()
    settings = engine.network.settings
    engine.network.settings = replace(
        settings, values={**settings.values, "indexUrl": INDEX}, no_keyring=Phrase("logins.none")
    )

    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        assert not part(wizard, "keepLoginBox").isVisible()
        assert "until the window is closed: this system has no keyring" in part(wizard, "keepLoginLabel").text()
        part(wizard, "proxyEdit").setText("http://proxy.example.org:8080")
        click(wizard, "forgetLoginButton")
        await until(lambda: engine.network.forgotten == ["https://index.example.org"])
        await idle(wizard)
        assert part(wizard, "proxyEdit").text()  # what was not saved yet is still there

    play(engine, scene)


def test_a_failed_run_leads_to_the_page_and_its_retry_goes_by_the_new_settings(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine(fail_at="fetch")
    engine.fails_with, engine.log = "AML_NET_REFUSED", str(tmp_path / "run.log")
    engine.defaults = Defaults(Choices(root=tmp_path, index_url="https://old.example.org/simple"))

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        for name in ("retryButton", "networkSettingsButton", "runCopyForItButton", "openLogButton", "copyReportButton"):
            assert part(wizard, name).isVisible(), name
        click(wizard, "runCopyForItButton")
        await until(lambda: part(wizard, "runRemarkLabel").text() == "The text for IT is on the clipboard.")
        assert QGuiApplication.clipboard().text() == "Allow files.example.org:443."
        click(wizard, "networkSettingsButton")
        await idle(wizard)
        part(wizard, "indexUrlEdit").setText(INDEX)
        click(wizard, "saveNetworkButton")
        await idle(wizard)
        wizard.back()
        assert wizard.currentId() == PageId.RUN
        engine.fail_at = ""
        click(wizard, "retryButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)
    installs = [choices.index_url for name, choices in engine.calls if name == "install"]
    assert installs == ["https://old.example.org/simple", None]  # the fake service has no index when it is read again


def test_the_settings_are_read_although_the_hosts_were_still_being_reached_when_the_page_was_opened(
    play: Play, tmp_path: Path
) -> None:
    engine = FakeEngine(fail_at="fetch")
    engine.fails_with, engine.log = "AML_NET_REFUSED", str(tmp_path / "run.log")

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        click(wizard, "runCopyForItButton")
        click(wizard, "networkSettingsButton")
        await until(lambda: bool(part(wizard, "indexUrlEdit").isEnabled()))
        assert QGuiApplication.clipboard().text() == "Allow files.example.org:443."

    play(engine, scene)


def test_the_log_of_a_failed_run_can_be_opened(play: Play, tmp_path: Path) -> None:
    engine = FakeEngine(fail_at="fetch")
    engine.log = str(tmp_path / "run.log")

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        click(wizard, "openLogButton")
        assert opened == [engine.log]
        assert not part(wizard, "runRemarkLabel").isVisible()

    with fake_programs() as opened:
        play(engine, scene)


def test_a_remark_of_before_is_gone_when_the_page_is_shown_anew(play: Play) -> None:
    engine = FakeEngine(fail_at="fetch")
    engine.fails_with = "AML_NET_REFUSED"

    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        click(wizard, "runCopyForItButton")
        await until(lambda: "on the clipboard" in part(wizard, "runRemarkLabel").text())
        click(wizard, "networkSettingsButton")
        wizard.back()
        assert part(wizard, "runCopyForItButton").isVisible()
        assert not part(wizard, "runRemarkLabel").isVisible()

    play(engine, scene)


def test_other_failures_offer_no_network_and_no_log_where_there_is_none(play: Play) -> None:
    async def scene(wizard: SetupWizard) -> None:
        await set_up(wizard)
        for name in ("networkSettingsButton", "runCopyForItButton", "openLogButton"):
            assert not part(wizard, name).isVisible(), name
        assert part(wizard, "copyReportButton").isVisible()

    play(FakeEngine(fail_at="fetch"), scene)


def test_closing_during_a_check_ends_it(play: Play) -> None:
    engine = FakeEngine(pause=600)

    async def scene(wizard: SetupWizard) -> None:
        await opened(wizard)
        click(wizard, "checkNetworkButton")
        await until(lambda: any(name == "check_network" for name, _ in engine.calls))
        wizard.close()
        await until(lambda: not wizard.isVisible())
        assert not wizard.interrupted

    play(engine, scene)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_of_it_fits_a_small_screen(play: Play, language: str) -> None:
    engine = FakeEngine()
    settings = engine.network.settings
    place = "/home/somebody/.config/pip/pip.conf"
    engine.network.settings = replace(
        settings,
        values={**settings.values, "indexUrl": INDEX},
        fixed={"indexUrl": Phrase("network.organisation"), "caFile": Phrase("network.organisation")},
        found=(
            Found("extraIndexUrls", "https://a.example.org/a/rather/long/address/simple", place),
            Found("pythonMirror", "https://b.example.org/a/rather/long/address/python", "UV_PYTHON_INSTALL_MIRROR"),
            Found("proxy", "http://proxy.example.org:8080", "HTTPS_PROXY"),
            Found("caFile", "/usr/local/share/ca-certificates/company.pem", place),
        ),
        no_keyring=Phrase("logins.foreign", {"name": "some.where.Keyring"}),
    )
    engine.reached = (FINE, REFUSED, FINE, REFUSED, FINE)

    async def scene(wizard: SetupWizard) -> None:
        wizard.words.set_language(language)
        await opened(wizard)
        click(wizard, "checkNetworkButton")
        await until(lambda: wizard.controller.network.check is not None)
        await idle(wizard)
        wizard.resize(1024, 640)
        await until(wizard.network_page.view.isVisible)
        size = wizard.minimumSizeHint()
        assert (size.width() <= 1024, size.height() <= 640) == (True, True), size
        assert (wizard.width(), wizard.height()) == (1024, 640)
        note = part(wizard, "keepLoginLabel")
        await until(lambda: note.height() >= note.heightForWidth(note.width()))  # the page scrolls rather than cuts it

    play(engine, scene)
