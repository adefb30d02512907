"""Decisions about proxies, certificates and credentials, and what children are told."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.errors import RefusedError
from amlwizard.core.urls import origin_of, split_credentials
from amlwizard.net import policy
from amlwizard.net.exceptions import ProxyExceptions
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import GOVERNED_VARIABLES, NetworkPolicy, found_proxy
from amlwizard.net.system_proxy import SystemProxy, from_macos, from_windows
from tests.net.support import closed_port
from tests.support.index_server import IndexServer
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("entries", "host", "port", "covered"),
    [
        ("*", "a.example.org", 80, True),
        ("example.org", "example.org", 443, True),
        ("example.org", "a.example.org", 443, True),
        ("example.org", "badexample.org", 443, False),
        (".example.org", "a.example.org", 443, True),
        ("*.example.org", "A.Example.org.", 443, True),
        ("example.org:8080", "example.org", 8080, True),
        ("example.org:8080", "example.org", 443, False),
        ("10.0.0.0/8", "10.1.2.3", 80, True),
        ("10.0.0.0/8", "11.1.2.3", 80, False),
        ("10.0.0.0/8", "ten.example.org", 80, False),
        ("127.0.0.1", "127.0.0.1", 80, True),
        ("[::1]:80", "::1", 80, True),
        ("[::1]:80", "::1", 81, False),
        ("fd00::/8", "[fd12::1]", 80, True),
        ("a, b;c d", "d", 80, True),
        ("intern.example.org, *", "a.example.org", 443, True),
        ("fd00::/8", "fe80::1", 80, False),
        ("fd00::/8", "10.0.0.1", 80, False),
        ("::/0", "fd12::1%eth0", 80, True),
        ("10.0.0.0/8", "::ffff:10.0.0.1", 80, False),
        ("2001:db8::1", "2001:DB8:0:0::1", 443, True),
        ("2001:db8::1", "2001:db8::2", 443, False),
        ("[2001:db8::1]", "2001:db8::1", 443, True),
        ("192.168.1.10/32", "192.168.1.10", 443, True),
        ("192.168.1.10/24", "192.168.1.99", 443, True),
        ("10.0.0.1:8080", "10.0.0.1", 8080, True),
        ("10.0.0.1:8080", "10.0.0.1", 443, False),
        (".example.org:8443", "a.example.org", 8443, True),
        (".example.org:8443", "a.example.org", 443, False),
        ("127.0.0.1", "localhost", 80, False),
        ("localhost", "localhost", 80, True),
        ("host*.example.org", "host7.example.org", 80, True),
        ("host*.example.org", "ghost7.example.org", 80, False),
        ("10.*.1.*", "10.9.1.3", 80, True),
        ("10.*.1.*", "10.9.2.3", 80, False),
        ("*corp*", "a.corp.example.org", 80, True),
        ("10.0.0.0/bad", "10.1.2.3", 80, False),
        ("", "a.example.org", 80, False),
    ],
)
def test_exceptions(entries: str, host: str, port: int, *, covered: bool) -> None:
    assert ProxyExceptions.parse(entries).cover(host, port) is covered


def test_both_spellings_are_read_and_the_lower_one_wins() -> None:
    policy = NetworkPolicy.from_environment(
        {
            "HTTP_PROXY": "http://upper.example.org:1",
            "http_proxy": "lower.example.org:2",
            "ALL_PROXY": "http://all.example.org:3",
        }
    )
    assert policy.proxy_for("http://x.example.org/") == "http://lower.example.org:2"
    assert policy.proxy_for("https://x.example.org/") == "http://all.example.org:3"


def test_the_chosen_proxy_comes_first_and_an_empty_choice_means_none() -> None:
    environment = {"HTTPS_PROXY": "http://env.example.org:1", "NO_PROXY": "intern.example.org"}
    chosen = NetworkPolicy.from_environment(environment, proxy="mine.example.org:8080")
    assert chosen.proxy_for("https://x.example.org/") == "http://mine.example.org:8080"
    assert chosen.proxy_for("https://intern.example.org/") is None
    assert NetworkPolicy.from_environment(environment, proxy="").proxy_for("https://x.example.org/") is None


@pytest.mark.parametrize("proxy", ["ftp://a:1", "http://", "http://a:port", "http://user:secret@"])
def test_a_malformed_proxy_is_refused_without_its_secret(proxy: str) -> None:
    with pytest.raises(RefusedError) as raised:
        NetworkPolicy.from_environment({}, proxy=proxy)
    assert raised.value.code == "AML_NET_PROXY_URL"
    assert "secret" not in str(raised.value)


def test_windows_settings_on_simulated_facts() -> None:
    found = from_windows(
        {"http": "http://p:1", "https": "http://p:1", "ftp": "http://p:2"}, "10.*;192.168.1.*;*.intern.example.org;<local>"
    )
    assert found.proxies == {"http": "http://p:1", "https": "http://p:1"}
    assert found.exceptions.cover("10.2.3.4", 80)
    assert found.exceptions.cover("192.168.1.9", 80)
    assert not found.exceptions.cover("192.168.2.9", 80)
    assert found.exceptions.cover("a.intern.example.org", 443)
    assert found.exceptions.cover("fileserver", 443)
    assert not found.exceptions.cover("files.example.org", 443)
    assert found.exceptions.cover("127.0.0.1", 443)
    assert found.exceptions.cover("::1", 443)


def test_windows_may_send_this_computers_own_addresses_through_the_proxy() -> None:
    found = from_windows({"http": "http://p:1"}, " 10.*.7.*; <-loopback> ;")
    assert found.exceptions.entries == ("10.*.7.*",)
    assert not found.exceptions.cover("localhost", 443)
    assert from_windows({"http": "http://p:1"}, "").exceptions.cover("localhost", 443)


@pytest.mark.parametrize("system", ["windows", "macos"])
def test_the_systems_proxy_serves_where_no_variable_names_one(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    """Simulated: the settings of a system that this one need not be."""
    proxies = {"http": "p.example.org:1", "https": "http://p.example.org:2", "socks": "socks://p.example.org:3"}
    found = (
        from_windows(proxies, "*.intern.example.org;<local>")
        if system == "windows"
        else from_macos(proxies, ["*.intern.example.org"], exclude_simple=True)
    )
    monkeypatch.setattr("amlwizard.net.policy.system_proxy", lambda: found)
    policy = NetworkPolicy.from_environment({"NO_PROXY": "b.example.org"})
    assert policy.proxy_for("http://a.example.org/") == "http://p.example.org:1"
    assert policy.proxy_for("https://a.example.org/") == "http://p.example.org:2"
    for host in ("x.intern.example.org", "fileserver", "b.example.org", "localhost", "127.0.0.1", "[::1]"):
        assert policy.proxy_for(f"https://{host}/") is None
    told = policy.child_variables()
    assert told["HTTPS_PROXY"] == "http://p.example.org:2"
    asked = "127.0.0.1,fileserver,x.intern.example.org"
    assert told["NO_PROXY"] == f"b.example.org,.intern.example.org,localhost,127.0.0.0/8,::1,{asked}"
    chosen = NetworkPolicy.from_environment({"HTTPS_PROXY": "http://env.example.org:1"})
    assert chosen.proxy_for("https://x.intern.example.org/") == "http://env.example.org:1"  # its exceptions go with it


def test_macos_settings_on_simulated_facts() -> None:
    found = from_macos({"https": "http://p:1"}, ["*.local", "169.254/16"], exclude_simple=True)
    assert found.exceptions.cover("printer.local", 80)
    assert found.exceptions.cover("169.254.3.4", 80)
    assert found.exceptions.cover("host", 80)
    assert found.exceptions.cover("localhost", 80)
    assert str(found.exceptions) == ".local,169.254.0.0/16,localhost,127.0.0.0/8,::1"


@pytest.mark.parametrize(
    ("url", "clean", "found"),
    [
        ("https://u:p@a.example.org/x?y#z", "https://a.example.org/x?y#z", ("u", "p")),
        ("https://to%40ken@a.example.org:1/", "https://a.example.org:1/", ("to@ken", "")),
        ("https://a.example.org/@b", "https://a.example.org/@b", None),
        ("https://u:p@ss@a.example.org/", "https://a.example.org/", ("u", "p@ss")),
    ],
)
def test_credentials_are_taken_out_of_addresses(url: str, clean: str, found: tuple[str, str] | None) -> None:
    assert split_credentials(url) == (clean, found)


def test_credentials_from_every_source_stay_with_their_origin(tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine netrc.example.org login n password np\ndefault login d password dp\n")
    environment = {
        "HOME": str(tmp_path),
        "UV_INDEX": "corp=https://corp.example.org/simple https://u:p@other.example.org/simple",
        "UV_INDEX_CORP_USERNAME": "c",
        "UV_INDEX_CORP_PASSWORD": "cp",
    }
    policy = NetworkPolicy.from_environment(environment, credentials={"https://index.example.org": ("a", "ap")})
    assert policy.credentials_for("https://corp.example.org/f") == ("c", "cp")
    assert policy.credentials_for("https://other.example.org:443/f") == ("u", "p")
    assert policy.credentials_for("https://index.example.org/f") == ("a", "ap")
    assert policy.credentials_for("https://netrc.example.org/f") == ("n", "np")
    assert policy.credentials_for("http://corp.example.org/f") is None
    assert policy.credentials_for("https://corp.example.org:444/f") is None
    assert policy.credentials_for("https://files.example.org/f") is None
    assert "ap" not in repr(policy)
    assert origin_of("https://[::1]:443/x") == "https://[::1]"


@pytest.mark.parametrize(
    ("entry", "told"), [("10.*", "10.0.0.0/8"), ("10.1.*.*", "10.1.0.0/16"), ("10.1.2.*", "10.1.2.0/24"), ("*.a.b", ".a.b")]
)
def test_children_are_told_exceptions_in_the_form_that_they_know(entry: str, told: str) -> None:
    assert str(ProxyExceptions.parse(f"x,{entry}")) == f"x,{told}"


@pytest.mark.parametrize("tool", ["uv", "pip"])
@pytest.mark.parametrize("exceptions", ["*", "127.0.0.1:PORT", "127.0.0.*", "127.*.0.1", "127.0.0.1"])
def test_uv_and_pip_go_past_the_proxy_where_we_do(tmp_path: Path, tool: str, exceptions: str) -> None:
    make_wheel(tmp_path / "wheels", "tinya", "1.0")
    (tmp_path / "r.txt").write_text("tinya\n")
    with IndexServer(tmp_path / "wheels") as server:
        policy = NetworkPolicy.from_environment(
            {"HTTP_PROXY": f"http://127.0.0.1:{closed_port()}", "NO_PROXY": exceptions.replace("PORT", str(server.port))}
        )
        assert policy.proxy_for(server.index_url) is None
        if tool == "uv":
            argv = [str(find_bundled_uv()), "pip", "compile", "--no-cache", "--python", sys.executable]
            argv += ["--index-url", server.index_url, "r.txt"]
        else:
            argv = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--retries", "0"]
            argv += ["--index-url", server.index_url, "-r", "r.txt"]
        environment = {name: value for name, value in os.environ.items() if name not in GOVERNED_VARIABLES}
        variables = {"UV_HTTP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull, **environment, **policy.child_variables()}
        done = subprocess.run(argv, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_chosen_proxy_gets_the_login_that_a_variable_has_for_it(name: str) -> None:
    environment = {name: "http://mei:s%40cret@p.example.org:3128"}
    policy = NetworkPolicy.from_environment(environment, proxy="http://p.example.org:3128")
    assert policy.proxy_for("https://index.example.org/") == "http://mei:s%40cret@p.example.org:3128"
    assert policy.child_variables()["HTTPS_PROXY"] == "http://mei:s%40cret@p.example.org:3128"
    other = NetworkPolicy.from_environment(environment, proxy="http://p.example.org:3129")
    assert other.proxy_for("https://index.example.org/") == "http://p.example.org:3129"


def test_children_are_told_the_same(tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text("x")
    told = NetworkPolicy.from_environment(
        {"https_proxy": "http://p.example.org:1", "NO_PROXY": "a,b"}, ca_file=bundle, offline=True
    ).child_variables()
    assert told["HTTPS_PROXY"] == "http://p.example.org:1"
    assert told["NO_PROXY"] == "a,b"
    if os.name != "nt":
        assert told["https_proxy"] == told["HTTPS_PROXY"]
    assert {told[name] for name in ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO")} == {str(bundle)}
    assert "UV_SYSTEM_CERTS" not in told
    assert told["UV_OFFLINE"] == "1"
    assert NetworkPolicy().child_variables().keys() <= GOVERNED_VARIABLES
    assert NetworkPolicy().child_variables()["UV_SYSTEM_CERTS"] == "1"


@pytest.mark.parametrize(("system", "told"), [("linux", "/etc/ssl/cert.pem"), ("darwin", None), ("win32", None)])
def test_b46_pip_is_told_where_the_systems_certificates_are(
    monkeypatch: pytest.MonkeyPatch, system: str, told: str | None
) -> None:
    found = ssl.get_default_verify_paths()._replace(cafile="/etc/ssl/cert.pem")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: found)
    monkeypatch.setattr(sys, "platform", system)
    assert NetworkPolicy().child_variables().get("PIP_CERT") == told


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"])
def test_a_variable_that_names_a_file_without_certificates_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("<html>Sign in</html>")
    with pytest.raises(RefusedError) as raised:
        NetworkPolicy.from_environment({name: str(file)})
    assert (raised.value.code, raised.value.arguments) == ("AML_CA_FILE_INVALID", {"path": str(file), "place": name})


def test_the_proxy_of_an_address_is_told_without_its_login() -> None:
    policy = NetworkPolicy.from_environment(
        {"HTTPS_PROXY": "http://mei:secret@p.example.org:3128", "NO_PROXY": "intern.example.org"}
    )
    fetcher = HttpFetcher(policy)
    assert fetcher.proxy_for("https://index.example.org/simple") == "p.example.org:3128"
    assert fetcher.proxy_for("https://intern.example.org/simple") is None


@pytest.mark.parametrize("url", ["https://[::1/x", "https://h:port/", "https://h:99999/"])
def test_an_address_that_is_none_has_no_proxy(url: str) -> None:
    policy = NetworkPolicy.from_environment({"HTTPS_PROXY": "http://p.example.org:1"})
    assert policy.proxy_for(url) is None


@pytest.mark.parametrize("entry", ["h:" + "1" * 5000, "[::1]:" + "1" * 5000, "h:²", "[", "1/2/3", ":"])
def test_an_exception_that_none_can_be_covers_nothing(entry: str) -> None:
    assert not ProxyExceptions.parse(entry).cover("index.example.org", 443)


@pytest.mark.parametrize(
    ("variables", "system", "found"),
    [
        ({"HTTP_PROXY": "a:1", "https_proxy": "http://bob:secret@b:2"}, {}, ("http://b:2", "HTTPS_PROXY")),
        ({"ALL_PROXY": "http://a:1"}, {"https": "c:3"}, ("http://a:1", "ALL_PROXY")),
        ({"HTTP_PROXY": ""}, {"http": "bob:secret@c:3"}, ("http://c:3", "")),
        ({}, {"http": "c:3", "https": "d:4"}, ("http://d:4", "")),
        ({}, {}, None),
    ],
)
def test_the_proxy_that_is_used_where_none_is_chosen_is_told_without_its_login(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], system: dict[str, str], found: tuple[str, str] | None
) -> None:
    monkeypatch.setattr(policy, "system_proxy", lambda: SystemProxy(system))
    assert found_proxy(variables) == found
