"""TLS and proxies, real ones on loopback."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import Phrase, error_texts
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.fetching import Download
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from tests.net.conftest import IMPATIENT, QUICK
from tests.net.support import NO_HTTP, answering
from tests.support.index_server import IndexServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.certificates import Authority


@pytest.fixture
def served(files: Path) -> Path:
    (files / "a.json").write_text("{}")
    return files


def policy(*, proxy: str | None = None, ca_file: Path | None = None, **environment: str) -> NetworkPolicy:
    return NetworkPolicy.from_environment(environment, proxy=proxy, ca_file=ca_file)


async def test_b46_an_own_authority_is_trusted_when_chosen(served: Path, authority: Authority) -> None:
    with IndexServer(files=served, tls=authority.server_context()) as server:
        url = f"{server.url}/files/a.json"
        assert await HttpFetcher(policy(ca_file=authority.certificate), QUICK).read(url) == b"{}"
        chosen_by_variable = policy(SSL_CERT_FILE=str(authority.certificate))
        assert await HttpFetcher(chosen_by_variable, QUICK).read(url) == b"{}"


async def test_b46_an_unknown_authority_is_named_and_never_trusted(served: Path, authority: Authority) -> None:
    with IndexServer(files=served, tls=authority.server_context()) as server:
        with pytest.raises(AmlError) as raised:
            await HttpFetcher(policy(), QUICK).read(f"{server.url}/files/a.json")
        assert raised.value.code == "AML_NET_CERTIFICATE"
        assert raised.value.arguments["issuer"] == "Example Inspection CA"
        assert not server.requests()


async def test_plain_http_behind_https_is_said_so(served: Path) -> None:
    with IndexServer(files=served) as server, pytest.raises(AmlError, match="AML_NET_TLS"):
        await HttpFetcher(policy(), QUICK).read(f"https://127.0.0.1:{server.port}/files/a.json")


async def test_a_certificate_for_another_name_is_told_with_its_names(served: Path, authority: Authority) -> None:
    fetcher = HttpFetcher(policy(ca_file=authority.certificate), QUICK)
    secure = IndexServer(files=served, tls=authority.server_context("other.example.org"))
    with secure as server, pytest.raises(AmlError, match="AML_NET_CERTIFICATE_NAME") as raised:
        await fetcher.read(f"https://localhost:{server.port}/a")
    assert "it is for other.example.org, 127.0.0.1" in error_texts(raised.value, "en")[0]


@pytest.mark.parametrize("by", ["address", "proxy"])
async def test_what_the_tls_library_says_of_plain_http_is_said_in_words(served: Path, by: str) -> None:
    with IndexServer(files=served) as server:
        place = f"https://127.0.0.1:{server.port}"
        proxy = place if by == "proxy" else None
        with pytest.raises(AmlError) as raised:
            await HttpFetcher(policy(proxy=proxy), QUICK).read(f"{place if proxy is None else 'http://x.invalid'}/a.json")
    assert "it does not speak HTTPS at this port" in error_texts(raised.value, "en")[0]


@pytest.mark.parametrize(
    ("answer", "is_http"),
    [(NO_HTTP, False), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", True), (b"", True)],
)
async def test_what_is_no_http_is_not_quoted(answer: bytes, is_http: bool) -> None:
    with answering(answer) as port, pytest.raises(AmlError) as raised:
        await HttpFetcher(policy(), replace(QUICK, attempts=1)).read(f"http://127.0.0.1:{port}/a.json")
    assert (raised.value.arguments["reason"] == Phrase("net.no_http")) is not is_http


async def test_a_document_never_comes_over_a_downgrade(served: Path, authority: Authority) -> None:
    with IndexServer(files=served) as plain, IndexServer(files=served, tls=authority.server_context()) as secure:
        secure.fault("*", "ok", redirect=f"{plain.url}/files/a.json")
        with pytest.raises(AmlError, match="AML_NET_REDIRECTS"):
            await HttpFetcher(policy(ca_file=authority.certificate), QUICK).read(f"{secure.url}/files/a.json")
        assert not plain.requests()


async def test_a_login_does_not_come_along_over_a_downgrade(served: Path, authority: Authority, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login user password secret\n")
    content = (served / "a.json").read_bytes()
    with IndexServer(files=served) as plain, IndexServer(files=served, tls=authority.server_context()) as secure:
        secure.fault("*", "ok", redirect=f"{plain.url}/files/a.json")
        fetcher = HttpFetcher(policy(ca_file=authority.certificate, NETRC=str(netrc)), QUICK)
        download = Download((f"{secure.url}/files/a.json",), tmp_path / "a.json", hashlib.sha256(content).hexdigest())
        await fetcher.fetch([download], lambda _: None)
        assert "authorization" in secure.requests()[0].headers
        assert "authorization" not in plain.requests()[0].headers


async def test_a_proxy_carries_plain_addresses(served: Path) -> None:
    with IndexServer(files=served) as proxy:
        proxy.fault("*", "ok", proxy_auth=("user", "p@ss"))
        fetcher = HttpFetcher(policy(HTTP_PROXY=f"http://user:p%40ss@127.0.0.1:{proxy.port}"), QUICK)
        assert await fetcher.read("http://files.example.org/files/a.json") == b"{}"
        (request,) = proxy.requests()
        assert (request.proxied, request.host) == (True, "files.example.org")


async def test_a_proxy_carries_secure_addresses_and_may_inspect_them(served: Path, authority: Authority) -> None:
    inspecting = authority.server_context("files.example.org")
    with IndexServer(files=served, tunnel_tls=inspecting) as proxy:
        address, url = f"http://127.0.0.1:{proxy.port}", "https://files.example.org/files/a.json"
        trusted = policy(proxy=address, ca_file=authority.certificate)
        assert await HttpFetcher(trusted, QUICK).read(url) == b"{}"
        with pytest.raises(AmlError) as raised:
            await HttpFetcher(policy(proxy=address), QUICK).read(url)
        assert raised.value.code == "AML_NET_CERTIFICATE"
        assert raised.value.arguments["issuer"] == "Example Inspection CA"


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_asks_for_sign_in(served: Path, scheme: str) -> None:
    with IndexServer(files=served) as proxy:
        proxy.fault("*", "407")
        with pytest.raises(AmlError, match="AML_NET_PROXY_AUTH") as raised:
            await HttpFetcher(policy(proxy=proxy.url), QUICK).read(f"{scheme}://files.example.org/files/a.json")
        assert raised.value.arguments["host"] == "files.example.org"


async def test_a_proxy_that_is_not_there(served: Path) -> None:
    with IndexServer(files=served) as gone:
        address = gone.url
    with pytest.raises(AmlError, match="AML_NET_PROXY") as raised:
        await HttpFetcher(policy(proxy=address), QUICK).read("http://files.example.org/a.json")
    assert raised.value.arguments["proxy"] == address.removeprefix("http://")


async def test_a_socks_proxy_is_refused_by_name() -> None:
    with pytest.raises(AmlError, match="AML_NET_PROXY_KIND"):
        await HttpFetcher(policy(ALL_PROXY="socks5://127.0.0.1:9"), QUICK).read("http://files.example.org/a.json")


@pytest.mark.parametrize(
    "proxy", ["http://[bad", "http://127.0.0.1:99999", "http://代理.example.org:1", "http://u:k3pt@[x"]
)
async def test_a_proxy_without_an_address_is_told_and_not_the_index(proxy: str) -> None:
    with pytest.raises(AmlError) as raised:
        await HttpFetcher(policy(HTTP_PROXY=proxy), QUICK).read("http://files.example.org/a.json")
    assert raised.value.code == "AML_NET_PROXY_URL"
    assert raised.value.arguments["proxy"] == proxy.replace("u:k3pt@", "")


async def test_an_exception_goes_straight(served: Path) -> None:
    with IndexServer(files=served) as server:
        fetcher = HttpFetcher(policy(HTTP_PROXY="http://127.0.0.1:9", NO_PROXY="127.0.0.0/8"), QUICK)
        assert await fetcher.read(f"{server.url}/files/a.json") == b"{}"


def test_a_file_without_certificates_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    with pytest.raises(RefusedError, match="AML_NET_CA_FILE"):
        policy(ca_file=empty).ssl_context()
    with pytest.raises(RefusedError, match="AML_NET_CA_FILE"):
        policy(ca_file=tmp_path / "missing.pem")


async def test_a_secure_transfer_is_resumed(served: Path, authority: Authority, tmp_path: Path) -> None:
    content = b"x" * 2_000_000
    (served / "big.whl").write_bytes(content)
    with IndexServer(files=served, tls=authority.server_context()) as server:
        download = Download((f"{server.url}/files/big.whl",), tmp_path / "big.whl", hashlib.sha256(content).hexdigest())
        server.fault("*", "stall", after=1_000_000, times=1)
        await HttpFetcher(policy(ca_file=authority.certificate), IMPATIENT).fetch([download], lambda _: None)
        assert download.target.read_bytes() == content
