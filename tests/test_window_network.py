"""The outside of the Network page: real settings files, and a keyring of our own in the place of the system's."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import Phrase
from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.network_settings import Found
from amlwizard.ui.services import Defaults, Login
from amlwizard.window_network import WindowNetwork

if TYPE_CHECKING:
    from collections.abc import Callable

INDEX = "https://index.example.org/simple"


class FakeStore:
    """Keeps logins in memory, unless ``reason`` tells why it cannot."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, str]] = {}
        self.reason: Phrase | None = None

    def problem(self) -> Phrase | None:
        return self.reason

    def read(self, origin: str) -> tuple[str, str] | None:
        return self.kept.get(origin)

    def keep(self, origin: str, user: str, password: str) -> None:
        if self.reason is not None:
            raise AmlError("AML_LOGIN_NOT_KEPT", origin=origin, reason=self.reason)
        self.kept[origin] = (user, password)

    def forget(self, origin: str) -> None:
        self.kept.pop(origin, None)


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def network(tmp_path: Path, store: FakeStore) -> Callable[..., WindowNetwork]:
    """Make the service for a home without settings."""

    def make(**variables: str) -> WindowNetwork:
        quiet = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
        return WindowNetwork({**quiet, **variables}, lambda: store, tmp_path / "user", tmp_path / "site")

    return make


def credentials(network: WindowNetwork) -> dict[str, tuple[str, str]]:
    return network.signed_in(Defaults(Choices(Path("/aml")))).choices.credentials


def test_what_is_saved_is_read_again_and_no_login_is_in_the_file(
    network: Callable[..., WindowNetwork], store: FakeStore, tmp_path: Path
) -> None:
    (tmp_path / "user").mkdir()
    file = tmp_path / "user" / "settings.json"
    file.write_text('{"language": "zh_CN"}')
    service = network()
    before = service.read()
    values = {**before.values, "indexUrl": "https://mei:hunter2@index.example.org/simple"}
    login = Login("http://proxy.example.org:8080", "bob", "s3cr3t", keep=True)
    service.save(before, values, login)
    service.keep(login)
    assert service.read().values["indexUrl"] == INDEX
    assert json.loads(file.read_text())["language"] == "zh_CN"
    assert "hunter2" not in file.read_text()
    assert "s3cr3t" not in file.read_text()
    assert store.kept == {"http://proxy.example.org:8080": ("bob", "s3cr3t")}
    assert credentials(service) == {
        "https://index.example.org": ("mei", "hunter2"),
        "http://proxy.example.org:8080": ("bob", "s3cr3t"),
    }


def test_a_login_that_cannot_be_kept_serves_for_this_run(network: Callable[..., WindowNetwork], store: FakeStore) -> None:
    store.reason = Phrase("logins.none")
    service = network()
    before = service.read()
    assert before.no_keyring == Phrase("logins.none")
    service.save(before, before.values, Login(INDEX, "mei", "hunter2"))
    login = Login(INDEX, "mei", "other", keep=True)
    service.save(before, {**before.values, "indexUrl": INDEX}, login)
    with pytest.raises(AmlError) as lost:
        service.keep(login)
    assert lost.value.code == "AML_LOGIN_NOT_KEPT"
    assert service.read().values["indexUrl"] == INDEX
    assert credentials(service) == {"https://index.example.org": ("mei", "other")}


def test_a_login_is_forgotten_everywhere(network: Callable[..., WindowNetwork], store: FakeStore) -> None:
    service = network()
    before = service.read()
    login = Login(INDEX, "mei", "hunter2", keep=True)
    service.save(before, before.values, login)
    service.keep(login)
    service.forget(INDEX)
    assert (store.kept, credentials(service)) == ({}, {})


def test_nothing_is_changed_where_a_value_cannot_be_used(
    network: Callable[..., WindowNetwork], store: FakeStore, tmp_path: Path
) -> None:
    service = network()
    before = service.read()
    with pytest.raises(RefusedError):
        service.save(before, {**before.values, "proxy": "socks5://x"}, Login(INDEX, "mei", "hunter2", keep=True))
    assert (store.kept, credentials(service)) == ({}, {})
    assert not (tmp_path / "user").exists()


def test_a_proxy_of_a_variable_is_found_without_its_login(network: Callable[..., WindowNetwork]) -> None:
    found = network(HTTPS_PROXY="http://bob:s3cr3t@proxy.example.org:8080").read().found
    assert found == (Found("proxy", "http://proxy.example.org:8080", "HTTPS_PROXY"),)
