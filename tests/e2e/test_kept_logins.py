"""Logins of the system's keyring in whole runs: for our own requests, for uv, and for pip."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.net.support import closed_port
from tests.support.index_server import Fault

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e

LOGIN = ("mei", "k3pt:s3cr3t@word")


def keep(computer: Computer, *origins: str) -> None:
    """Keep the login for these origins."""
    computer.keyring = computer.folder / "keyring.json"
    computer.keyring.write_text(json.dumps({origin: ":".join(LOGIN) for origin in origins}))


@pytest.mark.parametrize("method", ["auto", "none"])
def test_an_index_that_wants_a_sign_in_gets_what_is_kept(computer: Computer, method: str) -> None:
    computer.index.fault("/*", Fault(auth=LOGIN))
    wanted = ("--requirements", computer.requirements("tinyb\n"), "--uv-method", method)
    keep(computer, "http://index.example.org")
    refused = computer.run("install", *wanted)
    assert (refused.code, refused.finished["code"]) == (1, "AML_INDEX_UNAUTHORIZED")
    keep(computer, computer.index.url)
    result = computer.run("install", *wanted)
    assert result.code == 0, result.finished
    assert computer.installed("tinyb") == "1.0"
    changed = computer.run("plan", *wanted, "--refresh")  # which resolves, and installs nothing
    assert changed.code == 0, changed.finished


@pytest.mark.parametrize("method", ["auto", "none"])
def test_a_proxy_that_wants_a_sign_in_gets_what_is_kept(computer: Computer, method: str) -> None:
    proxy = computer.index
    proxy.fault("/*", Fault(proxy_auth=LOGIN))
    computer.extra |= {"HTTP_PROXY": proxy.url, "AML_INDEX_URL": f"http://localhost:{closed_port()}/simple/"}
    wanted = ("--requirements", computer.requirements("tinyb\n"), "--uv-method", method)
    keep(computer, proxy.url)
    result = computer.run("install", *wanted)
    assert result.code == 0, result.finished
    assert computer.installed("tinyb") == "1.0"
    assert all(request.proxied for request in proxy.requests())


def test_a_keyring_that_cannot_tell_is_named(computer: Computer) -> None:
    """Without the fake one: this computer's own, if it has any, has nothing for this port."""
    computer.extra["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    computer.index.fault("/*", "auth")
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert (result.code, result.finished["code"]) == (1, "AML_INDEX_UNAUTHORIZED")
    lines = [event["line"] for event in result.events if event["event"] == "log"]
    assert "No stored sign-in could be read: this system has no keyring that can be used." in lines
