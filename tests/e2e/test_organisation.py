"""A machine-wide settings file in whole runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.index_server import Fault, IndexServer

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer, Result
    from tests.support.interpreter_archives import InterpreterArchive

pytestmark = [pytest.mark.e2e, pytest.mark.linux]


def settle(computer: Computer, **record: object) -> Path:
    """Write the machine-wide settings file."""
    computer.machine_folder = computer.folder / "etc" / "amlwizard"
    file = computer.machine_folder / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record))
    return file


def lines(result: Result) -> list[str]:
    return [event["line"] for event in result.events if event["event"] == "log"]


def refusal(result: Result, file: Path) -> str:
    """Return the code of a refusal that names the organisation's file."""
    assert (result.code, result.finished["state"]) == (2, "refused"), result.finished
    assert f"set by your organisation in {file}" in result.finished["message"]
    return str(result.finished["code"])


def test_where_only_bundles_may_be_installed(computer: Computer, interpreter_archive: InterpreterArchive) -> None:
    listed = interpreter_archive.downloads_json(computer.folder / "downloads.json").as_uri()
    wanted = computer.requirements("tinyb\n")
    out = computer.folder / "tiny.amlbundle"
    making = ("bundle", "create", out, "--requirements", wanted, "--python-downloads-json", listed)
    assert computer.run(*making).code == 0
    shutil.rmtree(computer.root, ignore_errors=True)
    file = settle(computer, bundleOnly=True)
    computer.index.forget()
    for command in (("install",), ("plan", "--requirements", wanted), ("install", "--requirements", wanted), making):
        assert refusal(computer.run(*command), file) == "AML_BUNDLE_ONLY"
    assert not (computer.root / "runtime").exists()
    said = f"Set by your organisation ({file}): bundleOnly."
    settings = computer.run("detect").events[0]["settings"]
    assert (settings["locked"], settings["locked_by"]) == (["bundleOnly"], str(file))
    result = computer.run("install", "--bundle", out)
    assert result.code == 0, result.finished
    assert said in lines(result)
    assert computer.run("install").finished["code"] == "AML_ALREADY_READY"
    assert computer.run("rebuild").code == 0  # of what came from a bundle
    shutil.rmtree(computer.root / ".venv")
    assert computer.run("repair").code == 0
    assert refusal(computer.run("rebuild", "--requirements", computer.requirements("tinya==1.0\n")), file)
    assert computer.index.requests() == []


def test_folders_and_addresses_that_are_fixed(computer: Computer) -> None:
    fixed = ["caFile", "indexUrl", "proxy", "pythonMirror"]
    record = {"allowedRoots": ["$HOME/allowed"], "indexUrl": computer.index.index_url, "locked": fixed}
    file = settle(computer, **record)
    computer.extra["AML_INDEX_URL"] = ""
    wanted = ("--requirements", computer.requirements("tinya\n"))
    for command in ("plan", "install"):
        assert refusal(computer.run(command, *wanted), file) == "AML_ROOT_NOT_ALLOWED"
    assert not computer.root.exists()
    root = Path(computer.environ["HOME"]) / "allowed" / "aml"
    planned = computer.run("plan", "--root", root, *wanted)
    assert planned.code == 0, planned.finished
    assert f"Set by your organisation ({file}): {', '.join(['allowedRoots', *fixed])}." in lines(planned)
    for option in ("--index-url", "--proxy"):
        other = computer.run("plan", "--root", root, *wanted, option, "http://127.0.0.1:9")
        assert refusal(other, file) == "AML_SETTING_LOCKED"
        assert option in other.finished["message"]
    assert computer.run("install", "--root", root, *wanted).code == 0


def test_nothing_wanted_leads_elsewhere_than_the_fixed_index(computer: Computer) -> None:
    fixed = ["extraIndexUrls", "findLinks", "indexUrl"]
    file = settle(computer, indexUrl=computer.index.index_url, locked=fixed)
    computer.extra["AML_INDEX_URL"] = ""
    with IndexServer(computer.wheels) as other:
        wheel = f"{other.url}/packages/tinya-2.0-py3-none-any.whl"
        led_away = {
            f"--index-url {other.index_url}": "indexUrl",
            f"--extra-index-url {other.index_url}": "extraIndexUrls",
            f"--find-links {computer.wheels}": "findLinks",
            f"tinya @ {wheel}": "indexUrl",
        }
        for line, key in led_away.items():
            wanted = computer.requirements(f"tinyb\n{line}\n")
            for command in ("plan", "install"):
                result = computer.run(command, "--requirements", wanted)
                assert refusal(result, file) == "AML_SETTING_LOCKED"
                assert f"{wanted}, line 2 (" in result.finished["message"]
                assert f"the setting {key} is" in result.finished["message"]
        assert not computer.root.exists()
        assert (computer.index.requests(), other.requests()) == ([], [])
        lock = computer.folder / "pylock.toml"
        file.write_text("{}")
        computer.install(f"--index-url {other.index_url}\ntinya\n")
        shutil.copy(computer.root / "runtime" / "pylock.toml", lock)
        file.write_text(json.dumps({"indexUrl": computer.index.index_url, "locked": fixed}))
        root = computer.folder / "second"
        assert refusal(computer.run("install", "--root", root, "--requirements", lock), file) == "AML_SETTING_LOCKED"
        assert not root.exists()
    same = f"-i {computer.index.index_url}\ntinyb\ntinya @ {computer.index.url}/packages/tinya-1.0-py3-none-any.whl\n"
    computer.install(same)


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [("proxy", "http://127.0.0.1:9", "--proxy"), ("indexUrl", "http://127.0.0.1:9/simple", "--index-url")],
)
def test_a_hint_does_not_name_what_is_fixed(computer: Computer, key: str, value: str, word: str) -> None:
    file = settle(computer, **{"indexUrl": computer.index.index_url, key: value, "locked": [key]})
    computer.extra |= {"AML_INDEX_URL": "", "NO_PROXY": "", "no_proxy": "", "HURRIED": "1"}
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert (result.code, result.finished["state"]) == (1, "failed"), result.finished
    assert word not in result.finished["hint"]
    assert f"Set by your organisation ({file}): {key}." in result.finished["hint"]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("ways", ['Basic realm="proxy"', "Negotiate, NTLM"])
def test_no_other_proxy_is_proposed_where_the_fixed_one_wants_a_sign_in(computer: Computer, scheme: str, ways: str) -> None:
    computer.index.fault("*", Fault(status=407, headers=(("Proxy-Authenticate", ways),)))
    address = f"{scheme}://index.invalid/simple/"
    file = settle(computer, indexUrl=address, proxy=computer.index.url, locked=["proxy"])
    computer.extra |= {"AML_INDEX_URL": "", "NO_PROXY": "", "no_proxy": ""}
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert (result.code, result.states()) == (1, {}), result.events
    hint = result.finished["hint"]
    assert "local proxy" not in hint
    assert "--proxy" not in hint
    assert f"Set by your organisation ({file}): proxy." in hint
    assert ("HTTPS_PROXY" in hint) == ways.startswith("Basic")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_login_for_the_fixed_proxy_is_taken_from_where_the_hint_says(computer: Computer, scheme: str) -> None:
    computer.index.fault("*", Fault(proxy_auth=("user", "secret")))
    settle(computer, indexUrl=f"{scheme}://index.invalid/simple/", proxy=computer.index.url, locked=["proxy"])
    login = computer.index.url.replace("//", "//user:secret@")
    computer.extra |= {"AML_INDEX_URL": "", "NO_PROXY": "", "no_proxy": "", "HTTPS_PROXY": login}
    computer.run("install", "--requirements", computer.requirements("tinya\n"))
    method = "CONNECT" if scheme == "https" else "GET"
    asked = computer.index.requests(method=method)
    assert asked[0].headers["proxy-authorization"].startswith("Basic ")
    assert all(each.status != 407 for each in asked)
