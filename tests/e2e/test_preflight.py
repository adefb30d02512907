"""What a run learns of the network before its long part, and the text for IT."""

from __future__ import annotations

import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.engine import Engine
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.facts import Facts
from amlwizard.core.host import host_facts
from amlwizard.core.paths import Workspace
from amlwizard.wiring import make_fetcher
from tests.net.support import closed_port
from tests.support.certificates import Authority
from tests.support.index_server import Fault, IndexServer
from tests.support.recording_runner import RecordingRunner
from tests.support.strange_proxies import strange_proxy
from tests.support.wheels import sha256_of

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer, Result
    from tests.support.interpreter_archives import InterpreterArchive

pytestmark = pytest.mark.e2e

NTLM = Fault(status=407, headers=(("Proxy-Authenticate", "Negotiate, NTLM"),))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def lines_of(result: Result) -> list[str]:
    return [event["line"] for event in result.events if event["event"] == "log" and event["step"] == ""]


def stopped_early(result: Result) -> bool:
    """Tell whether no step was begun."""
    return result.code == 1 and not result.states()


@pytest.mark.parametrize(
    ("fault", "code", "word"),
    [
        ("name", "AML_INDEX_NAME", "index.invalid"),
        ("refused", "AML_INDEX_REFUSED", "127.0.0.1:"),
        ("proxy asks", "AML_NET_PROXY_NO_BASIC", "NTLM, Negotiate"),
        ("tunnel asks", "AML_NET_PROXY_NO_BASIC", "NTLM, Negotiate"),
        ("no proxy", "AML_PROXY_UNREACHABLE", "127.0.0.1:"),
        ("certificate", "AML_INDEX_TLS", "issued by Example Inspection CA"),
        ("sign-in", "AML_NET_NOT_AN_INDEX", "sign-in page"),
        ("auth", "AML_INDEX_UNAUTHORIZED", "401"),
        ("403", "AML_INDEX_FORBIDDEN", "403"),
    ],
)
def test_what_keeps_the_index_away_is_said_before_anything_is_begun(
    computer: Computer, authority: Authority, fault: str, code: str, word: str
) -> None:
    index = computer.index
    with IndexServer(computer.wheels, tls=authority.server_context()) as secure:
        if fault in ("proxy asks", "tunnel asks"):
            index.fault("*", NTLM)
            computer.extra |= {"ALL_PROXY": index.url}
        elif fault == "no proxy":
            computer.extra |= {"ALL_PROXY": f"http://127.0.0.1:{closed_port()}"}
        elif fault not in ("name", "refused", "certificate"):
            index.fault("/simple/*", fault)
        scheme = "https" if fault == "tunnel asks" else "http"
        unknown = f"{scheme}://index.invalid/simple/"
        addresses = {"refused": f"http://127.0.0.1:{closed_port()}/simple/", "certificate": secure.index_url}
        addresses |= dict.fromkeys(("name", "proxy asks", "tunnel asks", "no proxy"), unknown)
        computer.extra["AML_INDEX_URL"] = addresses.get(fault, index.index_url)
        computer.hurried = True
        # with uv, and with pip alone where that is quick
        methods = ["auto"] if code in {"AML_INDEX_NAME", "AML_INDEX_REFUSED", "AML_PROXY_UNREACHABLE"} else ["auto", "none"]
        wanted = ("--requirements", computer.requirements("tinya\n"))
        results = [computer.run("install", *wanted, "--uv-method", method) for method in methods]
    for result in results:
        assert stopped_early(result), result.events
        assert result.finished["code"] == code
    result = results[0]
    assert word in result.finished["message"]
    assert any(result.finished["message"] in line for line in lines_of(result))
    if code == "AML_NET_PROXY_NO_BASIC":
        assert "HTTPS_PROXY" not in result.finished["hint"]
        assert "local proxy" in result.finished["hint"]
    if code not in ("AML_NET_NOT_AN_INDEX", "AML_INDEX_UNAUTHORIZED"):
        assert "amlwizard diagnose" in result.finished["hint"]


def test_the_host_that_an_index_leads_on_to_is_named_as_well(computer: Computer) -> None:
    target = f"127.0.0.1:{closed_port()}"
    computer.index.fault("/simple/*", Fault(redirect=f"http://{target}/simple/"))
    computer.hurried = True
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert result.finished["code"] == "AML_INDEX_REFUSED"
    assert f"127.0.0.1:{computer.index.port} (which leads on to {target})" in result.finished["message"]


def test_the_issuer_is_told_where_only_uv_meets_the_certificate(computer: Computer, authority: Authority) -> None:
    with IndexServer(computer.wheels, tls=authority.server_context()) as secure:
        computer.hurried = True
        wanted = ("--requirements", computer.requirements("tinya\n"))
        result = computer.run("install", *wanted, "--extra-index-url", secure.index_url)
    assert result.finished["code"] == "AML_INDEX_TLS"
    assert "issued by Example Inspection CA" in result.finished["message"]


@pytest.mark.parametrize("how", ["garbage", "closes", "nonsense"])
def test_what_is_no_proxy_is_named_before_anything_is_begun(computer: Computer, how: str) -> None:
    computer.extra |= {"AML_INDEX_URL": "https://index.invalid/simple/", "NO_PROXY": "", "no_proxy": ""}
    computer.hurried = True
    with strange_proxy(how) as proxy:
        computer.extra["ALL_PROXY"] = f"http://{proxy}"
        wanted = ("--requirements", computer.requirements("tinya\n"))
        results = [computer.run("install", *wanted, "--uv-method", method) for method in ("auto", "none")]
    for result in results:
        assert stopped_early(result), result.events
        assert result.finished["code"] == "AML_INDEX_PROXY"
        assert f"The proxy {proxy} does not lead to the package index at index.invalid: " in result.finished["message"]


@pytest.mark.usefixtures("with_ready_pip")
def test_a_further_index_that_fails_is_a_remark(computer: Computer) -> None:
    with IndexServer(computer.wheels) as second:
        second.fault("*", "403")
        given = ("--extra-index-url", second.index_url, "--uv-method", "none")  # pip goes on without it
        result = computer.run("install", "--requirements", computer.requirements("tinya\n"), *given)
        assert result.code == 0, result.finished
        assert f"127.0.0.1:{computer.index.port} (reached directly): It answers." in lines_of(result)
        refused = f"The package index at 127.0.0.1:{second.port} does not allow access (403)."
        assert f"127.0.0.1:{second.port} (reached directly): {refused}" in lines_of(result)


def test_the_host_of_the_files_that_a_lock_names_is_reached_first(computer: Computer) -> None:
    computer.hurried = True
    wheel = computer.wheels / "tinya-2.0-py3-none-any.whl"
    lock = computer.folder / "pylock.toml"
    for number, port in enumerate((closed_port(), computer.index.port)):
        lock.write_text(
            'lock-version = "1.0"\ncreated-by = "hand"\n[[packages]]\nname = "tinya"\nversion = "2.0"\n'
            f'wheels = [{{name = "{wheel.name}", url = "http://127.0.0.1:{port}/packages/{wheel.name}", '
            f'size = {wheel.stat().st_size}, hashes = {{sha256 = "{sha256_of(wheel)}"}}}}]\n'
        )
        result = computer.run("install", "--requirements", lock)
        if number == 0:
            assert stopped_early(result)
            assert result.finished["code"] == "AML_NET_REFUSED"
            assert wheel.name in result.finished["message"]
    assert result.code == 0, result.finished
    assert [each.method for each in computer.index.requests("/packages/*")] == ["HEAD", "GET"]
    assert computer.index.connections == 1  # which the fetch went on with
    computer.index.forget()
    assert computer.run("rebuild").code == 0
    assert computer.index.requests() == []  # the store holds everything


def test_an_installer_script_that_is_not_there_is_said_first(computer: Computer) -> None:
    settings = Path(computer.environ["HOME"]) / ".config" / "amlwizard" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"uvInstallerUrl": f"{computer.index.url}/files/install.sh"}))
    computer.extra["XDG_CONFIG_HOME"] = str(settings.parent.parent)
    wanted = computer.requirements("tinya\n")
    result = computer.run("install", "--requirements", wanted, "--uv-method", "script", "--python", sys.executable)
    assert stopped_early(result)
    assert result.finished["code"] == "AML_UV_INSTALL_FAILED"
    assert f"script: 127.0.0.1:{computer.index.port} does not have install.sh (404)." in result.finished["message"]


@pytest.mark.parametrize(
    ("fault", "code"),
    [("refused", "AML_INDEX_REFUSED"), ("auth", "AML_INDEX_UNAUTHORIZED"), ("sign-in", "AML_NET_NOT_AN_INDEX")],
)
def test_what_keeps_the_index_away_is_said_before_a_bundle_is_begun(
    computer: Computer, interpreter_archive: InterpreterArchive, fault: str, code: str
) -> None:
    if fault == "refused":
        computer.hurried = True
        computer.extra["AML_INDEX_URL"] = f"http://127.0.0.1:{closed_port()}/simple/"
    else:
        computer.index.fault("/simple/*", fault)
    out = computer.folder / "a.amlbundle"
    listed = interpreter_archive.downloads_json(computer.folder / "list.json").as_uri()
    wanted = ("--requirements", computer.requirements("tinya\n"), "--python-downloads-json", listed)
    result = computer.run("bundle", "create", out, *wanted)
    assert stopped_early(result), result.events
    assert result.finished["code"] == code
    assert any(result.finished["message"] in line for line in lines_of(result))
    assert not out.exists()


def test_what_a_bundle_of_the_workspace_lacks_is_looked_for_first(
    installed: Computer, interpreter_archive: InterpreterArchive
) -> None:
    out, listed = installed.folder / "a.amlbundle", installed.folder / "list.json"
    interpreter_archive.downloads_json(listed)
    own = json.loads(listed.read_text())
    with IndexServer(files=installed.folder) as elsewhere:
        elsewhere.fault("/files/*", "403")
        for entry in own.values():
            entry["url"] = f"{elsewhere.url}/files/{Path(entry['url']).name}"
        (installed.folder / "elsewhere.json").write_text(json.dumps(own))
        given = ("--python-downloads-json", (installed.folder / "elsewhere.json").as_uri())
        refused = installed.run("bundle", "create", out, *given)
        assert stopped_early(refused), refused.events
        assert refused.finished["code"] == "AML_BUNDLE_NO_PYTHON"
        assert f"127.0.0.1:{elsewhere.port}" in refused.finished["message"]
        given = ("--python-downloads-json", f"{elsewhere.url}/files/list.json")
        refused = installed.run("bundle", "create", out, *given)
        assert stopped_early(refused)
        assert refused.finished["code"] == "AML_NET_FORBIDDEN"
        assert installed.run("bundle", "create", out, "--python-downloads-json", listed.as_uri()).code == 0
        elsewhere.forget()
        assert installed.run("bundle", "create", out, *given).code == 0  # now the store has all of it
        assert elsewhere.requests() == installed.index.requests() == []


def test_a_bundle_for_another_platform_needs_uv_from_the_index(
    computer: Computer, interpreter_archive: InterpreterArchive
) -> None:
    computer.index.fault("/simple/uv/", "403")
    listed = interpreter_archive.downloads_json(computer.folder / "list.json").as_uri()
    wanted = ("--platform", "windows-x86_64", "--python-version", "3.12", "--python-downloads-json", listed)
    file = computer.requirements("tinya\n")
    result = computer.run("bundle", "create", computer.folder / "a.amlbundle", "--requirements", file, *wanted)
    assert stopped_early(result), result.events
    assert result.finished["code"] == "AML_INDEX_FORBIDDEN"


def text_for_it(computer: Computer, name: str = "report.zip") -> str:
    result = computer.run("diagnose", "--out", computer.folder / name)
    assert result.code == 0, result.finished
    with zipfile.ZipFile(computer.folder / name) as report:
        return report.read("network.txt").decode()


def test_the_text_for_it_says_what_to_allow(installed: Computer, authority: Authority) -> None:
    with IndexServer(tls=authority.server_context()) as secure, IndexServer() as proxy:
        proxy.fault("*", NTLM)
        wanted = f"--extra-index-url https://bob:s3cr3tTOK@index.invalid/simple\n--find-links {secure.url}/links\ntinya\n"
        installed.extra |= {"HTTPS_PROXY": proxy.url.replace("//", "//bob:pr0xyTOK@"), "NO_PROXY": "127.0.0.1"}
        installed.extra["SSL_CERT_DIR"] = str(installed.folder / "home")
        installed.requirements(wanted)
        told = text_for_it(installed)
    assert "s3cr3tTOK" not in told
    assert "pr0xyTOK" not in told
    assert "bob" not in told
    assert str(installed.folder / "home") not in told
    assert f"127.0.0.1, port {installed.index.port}, reached directly\n   Result: It answers.\n" in told
    assert (
        f"index.invalid, port 443, by the proxy 127.0.0.1:{proxy.port}\n   Result: The proxy lets nothing through" in told
    )
    assert "(AML_NET_PROXY_NO_BASIC)" in told
    assert f"127.0.0.1, port {secure.port}, reached directly\n   Result: The certificate of 127.0.0.1" in told
    assert "   Certificate issued by: Example Inspection CA\n" in told
    assert (
        f"All hosts that are needed: 127.0.0.1:{installed.index.port}, index.invalid:443, 127.0.0.1:{secure.port}" in told
    )


def test_the_host_that_the_files_of_an_index_come_from_is_named_before_anything_is_fetched(computer: Computer) -> None:
    with IndexServer(computer.wheels) as files:
        computer.index.files_at = files.url
        hosts = [f"127.0.0.1:{computer.index.port}", f"127.0.0.1:{files.port}"]
        plan = computer.run("plan", "--requirements", computer.requirements("tinya\n"))
        assert plan.finished["hosts"] == hosts
        result = computer.run("plan", "--requirements", computer.requirements("absent\n"))
        assert result.finished["hosts"] == hosts[:1]


async def test_the_text_for_it_names_the_host_of_the_files_as_well(computer: Computer) -> None:
    with IndexServer(computer.wheels) as files:
        computer.index.files_at = files.url
        listed = computer.folder / "list.json"
        listed.write_text("{}")
        choices = Choices(
            computer.root,
            requirements=computer.requirements("tinya\n"),
            index_url=computer.index.index_url,
            python_downloads_json=listed.as_uri(),
        )
        facts = Facts(host_facts(), (), None, None, inspect_environment(Workspace(choices.root), None))
        check = await Engine(RecordingRunner, make_fetcher).check_network(choices, facts)
        assert [(each.place[1], each.error) for each in check.hosts] == [(computer.index.port, None), (files.port, None)]
        assert f"needed: 127.0.0.1:{computer.index.port}, 127.0.0.1:{files.port}" in check.for_it
        assert [each.method for each in files.requests()] == ["HEAD"]


async def test_the_window_gets_the_same_text(tmp_path: Path) -> None:
    port = closed_port()
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tinya\n")
    choices = Choices(tmp_path / "aml", requirements=requirements, index_url=f"http://127.0.0.1:{port}/simple")
    facts = Facts(host_facts(), (), None, None, inspect_environment(Workspace(choices.root), None))
    without_python = replace(choices, python_downloads_json=f"http://127.0.0.1:{port}/list.json")
    check = await Engine(RecordingRunner, make_fetcher, "zh_CN").check_network(without_python, facts)
    assert [each.error.code for each in check.hosts if each.error is not None] == ["AML_NET_REFUSED"]
    told = check.for_it
    assert f"1. 127.0.0.1，端口 {port}，直接连接\n" in told
    assert "系统报告的原文：" in told
    assert f"需要访问的全部主机：127.0.0.1:{port}\n" in told
    assert not choices.root.exists()


def test_a_proxy_of_a_kind_that_cannot_be_used_ends_a_run_before_it_begins(computer: Computer) -> None:
    computer.extra |= {"ALL_PROXY": f"socks5://127.0.0.1:{closed_port()}", "AML_INDEX_URL": "http://index.invalid/simple/"}
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert stopped_early(result)
    assert result.finished["code"] == "AML_NET_PROXY_KIND"
