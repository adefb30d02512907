"""Logins that the system's keyring keeps, by the real library with a backend of the tests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import keyring
import pytest
from keyring.backends import chainer, fail, null

from amlwizard.core.catalogue import LANGUAGES, Phrase, error_texts, text
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.logins import SYSTEM_KEYRINGS, SystemLogins, login_origin
from tests.support.fake_keyrings import FakeKeyring, FakeLockedKeyring, FakeSilentKeyring

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyring.backend import KeyringBackend

ORIGIN = "https://index.example.org"
SECRET = "s3cr3t:with@signs"
OURS = SYSTEM_KEYRINGS | {FakeKeyring.__module__}


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[KeyringBackend], None]:
    """Let a backend be the one that is set up on this computer."""
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    return keyring.set_keyring


def refused(store: SystemLogins) -> AmlError:
    """Return why nothing is kept; it is said in words and without the secret."""
    with pytest.raises(AmlError) as caught:
        store.keep(ORIGIN, "mei", SECRET)
    for language in LANGUAGES:
        said = " ".join(error_texts(caught.value, language))
        assert "{" not in said
        assert SECRET not in said
    return caught.value


def reason(error: AmlError) -> str:
    """Return the key of the reason."""
    phrase = error.arguments["reason"]
    assert isinstance(phrase, Phrase)
    return phrase.key


def test_a_login_is_kept_read_replaced_and_forgotten(use: Callable[[KeyringBackend], None]) -> None:
    backend = FakeKeyring()
    use(backend)
    store = SystemLogins(OURS)
    assert store.problem() is None
    assert store.read(ORIGIN) is None
    store.forget(ORIGIN)
    store.keep(ORIGIN, "mei", "old")
    store.keep(ORIGIN, "mei", SECRET)
    assert backend.kept == {("amlwizard", ORIGIN): f"mei:{SECRET}"}
    assert store.read(ORIGIN) == ("mei", SECRET)
    assert store.read("https://other.example.org") is None
    assert store.read("http://index.example.org") is None
    store.forget(ORIGIN)
    assert store.read(ORIGIN) is None


def test_an_entry_of_somebody_else_is_no_login(use: Callable[[KeyringBackend], None]) -> None:
    backend = FakeKeyring()
    backend.kept["amlwizard", ORIGIN] = "no colon in it"
    use(backend)
    assert SystemLogins(OURS).read(ORIGIN) is None


@pytest.mark.parametrize("backend", [null.Keyring, fail.Keyring])
def test_no_keyring_keeps_nothing_and_says_so(use: Callable[[KeyringBackend], None], backend: type[KeyringBackend]) -> None:
    use(backend())
    store = SystemLogins()
    assert store.read(ORIGIN) is None
    assert store.problem() == Phrase("logins.none")
    assert reason(refused(store)) == "logins.none"


def test_nothing_is_given_to_a_keyring_that_is_not_the_systems(use: Callable[[KeyringBackend], None]) -> None:
    """It may be one that writes plain files."""
    backend = FakeKeyring()
    use(backend)
    store = SystemLogins()
    backend.kept["amlwizard", ORIGIN] = "mei:secret"
    assert store.read(ORIGIN) is None
    error = refused(store)
    assert reason(error) == "logins.foreign"
    assert "tests.support.fake_keyrings.FakeKeyring" in error_texts(error, "en")[0]
    with pytest.raises(AmlError, match="AML_LOGIN_NOT_FORGOTTEN"):
        store.forget(ORIGIN)
    assert backend.kept == {("amlwizard", ORIGIN): "mei:secret"}
    assert backend.asked == []


def test_of_several_keyrings_the_systems_own_is_used(
    use: Callable[[KeyringBackend], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign, own = type("Foreign", (FakeKeyring,), {"__module__": "elsewhere"})(), FakeKeyring()
    monkeypatch.setattr(chainer.ChainerBackend, "backends", [foreign, own])
    use(chainer.ChainerBackend())
    SystemLogins(OURS).keep(ORIGIN, "mei", SECRET)
    assert (foreign.kept, own.kept) == ({}, {("amlwizard", ORIGIN): f"mei:{SECRET}"})


def test_without_the_library_logins_are_for_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    store = SystemLogins()
    assert store.read(ORIGIN) is None
    assert store.problem() == Phrase("logins.no_library")
    error = refused(store)
    assert "not installed" in error_texts(error, "en")[0]
    assert "forgotten at its end" in error_texts(error, "en")[1]


def test_a_locked_keyring_is_said_in_its_own_words(use: Callable[[KeyringBackend], None]) -> None:
    use(FakeLockedKeyring())
    store = SystemLogins(OURS)
    assert store.read(ORIGIN) is None
    assert "the keyring is locked" in error_texts(refused(store), "en")[0]


def test_a_keyring_that_waits_for_somebody_keeps_nobody_waiting(use: Callable[[KeyringBackend], None]) -> None:
    backend = FakeSilentKeyring()
    backend.kept["amlwizard", ORIGIN] = "mei:secret"
    use(backend)
    store = SystemLogins(OURS, seconds=0.01)
    assert store.read(ORIGIN) is None
    assert store.problem() == Phrase("logins.silent")
    assert reason(refused(store)) == "logins.silent"  # as the first question is not answered yet
    backend.go_on.set()
    thread = store._left
    assert thread is not None
    thread.join()
    assert SystemLogins(OURS).read(ORIGIN) == ("mei", "secret")
    store._read_seconds = 10.0
    assert store.read(ORIGIN) == ("mei", "secret")  # and the same store asks again


def test_a_user_with_a_colon_is_refused(use: Callable[[KeyringBackend], None]) -> None:
    use(FakeKeyring())
    with pytest.raises(AmlError, match="AML_LOGIN_NOT_KEPT"):
        SystemLogins(OURS).keep(ORIGIN, "me:i", "secret")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://index.example.org:443/simple/", "https://index.example.org"),
        ("http://proxy.example.org:3128", "http://proxy.example.org:3128"),
        ("proxy.example.org:3128", "http://proxy.example.org:3128"),
        ("https://[::1]:8443/x", "https://[::1]:8443"),
    ],
)
def test_a_login_belongs_to_an_origin(url: str, origin: str) -> None:
    assert login_origin(url) == origin


def test_what_is_no_address_has_no_origin() -> None:
    with pytest.raises(RefusedError):
        login_origin("https://")


def test_every_reason_has_words() -> None:
    for name in ("no_library", "none", "silent", "colon"):
        assert all(text(f"logins.{name}", language) for language in LANGUAGES)
