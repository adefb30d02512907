"""Logins of the system's keyring in whole runs: for our own requests, for uv, and for pip."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.net.support import closed_port
from tests.support.index_server import Fault, IndexServer
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e

LOGIN = ("mei", "k3pt:s3cr3t@word")


def keep(computer: Computer, *origins: str) -> None:
    """Keep the login for these origins."""
    computer.keyring = computer.folder / "keyring.json"
    computer.keyring.write_text(json.dumps({origin: ":".join(LOGIN) for origin in origins}))


@pytest.mark.usefixtures("with_ready_pip")
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


@pytest.mark.usefixtures("with_ready_pip")
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


@pytest.mark.usefixtures("with_ready_pip")
@pytest.mark.parametrize(
    ("named", "method"), [("variable", "auto"), ("option", "none"), ("file", "auto"), ("file", "none")]
)
def test_a_page_with_archives_that_wants_a_sign_in_gets_it(computer: Computer, named: str, method: str) -> None:
    wheels = computer.folder / "more"
    make_wheel(wheels, "tinyl", "1.0")
    plain = computer.folder / "plain, with a comma"
    make_wheel(plain, "tinym", "1.0")
    computer.extra |= {"AML_INDEX_URL": "", "UV_DEFAULT_INDEX": computer.index.index_url}
    with IndexServer(wheels) as links:
        links.fault("/*", Fault(auth=LOGIN))
        page, lines, options = f"{links.index_url}tinyl/", "tinyl\ntinya\n", []
        if named == "variable":
            computer.extra["PIP_FIND_LINKS"] = page.replace("//", f"//{LOGIN[0]}:{quote(LOGIN[1], safe='')}@")
        else:
            keep(computer, links.url)
        if named == "option":
            options, lines = ["--find-links", page, "--find-links", str(plain)], f"{lines}tinym\n"
        elif named == "file":
            lines = f"--find-links {page}\n{lines}"
        wanted = ("--requirements", computer.requirements(lines), "--uv-method", method)
        result = computer.run("install", *wanted, *options)
    assert result.code == 0, result.finished
    assert computer.installed("tinyl") == "1.0"


def test_a_keyring_that_cannot_tell_is_named(computer: Computer) -> None:
    """Without the fake one: this computer's own, if it has any, has nothing for this port."""
    computer.extra["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    computer.index.fault("/*", "auth")
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert (result.code, result.finished["code"]) == (1, "AML_INDEX_UNAUTHORIZED")
    lines = [event["line"] for event in result.events if event["event"] == "log"]
    assert "No stored sign-in could be read: this system has no keyring that can be used." in lines


def test_a_kept_login_is_not_in_a_report(computer: Computer) -> None:
    computer.index.fault("/*", Fault(auth=LOGIN))
    keep(computer, computer.index.url)
    assert computer.run("install", "--requirements", computer.requirements("tinyb\n")).code == 0
    (log,) = (computer.root / "runtime" / "logs").glob("*-install-*.log")
    with log.open("a", encoding="utf-8") as file:
        file.write(f"2026-01-01T10:00:00Z resolve: bare {LOGIN[1]} here\n")
    out = computer.folder / "report.zip"
    assert computer.run("diagnose", "--out", out).code == 0
    with zipfile.ZipFile(out) as report:
        shown = "".join(report.read(name).decode() for name in report.namelist())
    assert " here\n" in shown
    assert LOGIN[1] not in shown
