"""Logins that the system's keyring keeps: asked for where a host or a proxy wants one, and sent to that one alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import AmlError
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from tests.net.conftest import QUICK
from tests.net.support import ignore, right
from tests.support.index_server import Fault, IndexServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amlwizard.core.fetching import Download
    from tests.support.certificates import Authority

LOGIN = ("mei", "p@ss:w/rd")


class FakeLogins:
    """A store that notes what it is asked."""

    def __init__(self, kept: dict[str, tuple[str, str]], problem: Phrase | None = None) -> None:
        self._kept = kept
        self._problem = problem
        self.asked: list[str] = []

    def problem(self) -> Phrase | None:
        return self._problem

    def read(self, origin: str) -> tuple[str, str] | None:
        self.asked.append(origin)
        return self._kept.get(origin)

    def keep(self, origin: str, user: str, password: str) -> None:
        raise NotImplementedError

    def forget(self, origin: str) -> None:
        raise NotImplementedError


def fetcher_with(store: FakeLogins, ca_file: Path | None = None, **environ: str) -> HttpFetcher:
    return HttpFetcher(NetworkPolicy.from_environment(environ, ca_file=ca_file, kept=store), QUICK)


async def test_the_login_of_a_host_is_asked_for_once_by_all_who_need_it(
    make: Callable[..., Download], server: IndexServer
) -> None:
    server.fault("*", Fault(auth=LOGIN))
    store = FakeLogins({server.url: LOGIN})
    fetcher = fetcher_with(store)
    downloads = [make(f"{number}-1-py3-none-any.whl") for number in range(12)]
    await fetcher.fetch(downloads, ignore)
    assert all(map(right, downloads))
    assert store.asked == [server.url]
    assert fetcher.kept_logins() == {server.url: LOGIN}
    assert fetcher.kept_problem() is None
    assert LOGIN[1] not in repr(fetcher)


async def test_nobody_is_asked_where_no_sign_in_is_wanted(make: Callable[..., Download], server: IndexServer) -> None:
    store = FakeLogins({server.url: LOGIN}, Phrase("logins.none"))
    fetcher = fetcher_with(store)
    await fetcher.fetch([make()], ignore)
    assert store.asked == []
    assert (fetcher.kept_logins(), fetcher.kept_problem()) == ({}, None)
    assert [request.headers.get("authorization") for request in server.requests()] == [None]


@pytest.mark.parametrize("kept_for", ["another port", "another scheme", "another host"])
async def test_a_login_of_another_origin_is_never_sent(
    make: Callable[..., Download], server: IndexServer, kept_for: str
) -> None:
    others = {
        "another port": "http://127.0.0.1",
        "another scheme": f"https://127.0.0.1:{server.port}",
        "another host": f"http://localhost:{server.port}",
    }
    server.fault("*", Fault(auth=LOGIN))
    store = FakeLogins({others[kept_for]: LOGIN}, Phrase("logins.silent"))
    fetcher = fetcher_with(store)
    with pytest.raises(AmlError, match="AML_NET_UNAUTHORIZED"):
        await fetcher.fetch([make()], ignore)
    assert store.asked == [server.url]
    assert all("authorization" not in request.headers for request in server.requests())
    assert fetcher.kept_problem() == Phrase("logins.silent")


async def test_a_redirect_takes_no_login_along(files: Path, server: IndexServer) -> None:
    (files / "a.json").write_text("{}")
    with IndexServer(files=files) as elsewhere:
        server.fault("*", Fault(auth=LOGIN, redirect=f"{elsewhere.url}/files/a.json"))
        fetcher = fetcher_with(FakeLogins({server.url: LOGIN}))
        assert await fetcher.read(f"{server.url}/files/a.json") == b"{}"
        assert "authorization" not in elsewhere.requests()[0].headers


async def test_a_login_that_is_known_and_wrong_stays(make: Callable[..., Download], server: IndexServer) -> None:
    server.fault("*", Fault(auth=LOGIN))
    store = FakeLogins({server.url: LOGIN})
    policy = NetworkPolicy.from_environment({}, credentials={server.url: ("mei", "wrong")}, kept=store)
    with pytest.raises(AmlError, match="AML_NET_LOGIN_REFUSED"):
        await HttpFetcher(policy, QUICK).fetch([make()], ignore)
    assert store.asked == []


async def test_a_kept_login_that_is_wrong_is_tried_once(make: Callable[..., Download], server: IndexServer) -> None:
    server.fault("*", Fault(auth=LOGIN))
    store = FakeLogins({server.url: ("mei", "old")})
    with pytest.raises(AmlError, match="AML_NET_LOGIN_REFUSED"):
        await fetcher_with(store).fetch([make()], ignore)
    assert [request.status for request in server.requests()] == [401, 401]


async def test_a_proxy_gets_its_login_for_plain_addresses(files: Path) -> None:
    (files / "a.json").write_text("{}")
    with IndexServer(files=files) as proxy:
        proxy.fault("*", Fault(proxy_auth=LOGIN))
        store = FakeLogins({proxy.url: LOGIN})
        fetcher = fetcher_with(store, HTTP_PROXY=proxy.url)
        assert await fetcher.read("http://files.example.org/files/a.json") == b"{}"
        assert [request.status for request in proxy.requests()] == [407, 200]
        assert store.asked == [proxy.url]
        assert fetcher.proxy_for("http://files.example.org/") == f"127.0.0.1:{proxy.port}"
        told = fetcher.child_environment({"HTTP_PROXY": proxy.url})
        assert told["HTTP_PROXY"] == f"http://mei:p%40ss%3Aw%2Frd@127.0.0.1:{proxy.port}"


async def test_a_proxy_gets_its_login_for_tunnels_and_the_host_behind_it_its_own(files: Path, authority: Authority) -> None:
    (files / "a.json").write_text("{}")
    with IndexServer(files=files, tunnel_tls=authority.server_context("files.example.org")) as proxy:
        proxy.fault("files.example.org:443", Fault(proxy_auth=LOGIN))
        proxy.fault("/files/*", Fault(auth=("li", "other")))
        store = FakeLogins({proxy.url: LOGIN, "https://files.example.org": ("li", "other")})
        fetcher = fetcher_with(store, authority.certificate, HTTPS_PROXY=proxy.url)
        assert await fetcher.read("https://files.example.org/files/a.json") == b"{}"
        assert store.asked == [proxy.url, "https://files.example.org"]
        inside = [request for request in proxy.requests() if request.method == "GET"]
        assert all("proxy-authorization" not in request.headers for request in inside)


async def test_a_login_for_the_run_reaches_a_proxy_as_well(files: Path) -> None:
    (files / "a.json").write_text("{}")
    with IndexServer(files=files) as proxy:
        proxy.fault("*", Fault(proxy_auth=LOGIN))
        policy = NetworkPolicy.from_environment({}, proxy=proxy.url, credentials={proxy.url: LOGIN})
        assert await HttpFetcher(policy, QUICK).read("http://files.example.org/files/a.json") == b"{}"
        assert policy.child_variables()["HTTPS_PROXY"].startswith("http://mei:p%40ss")


async def test_a_proxy_that_wants_another_kind_of_sign_in_is_asked_once_more(files: Path) -> None:
    with IndexServer(files=files) as proxy:
        proxy.fault("*", Fault(status=407, headers=(("Proxy-Authenticate", "Negotiate, NTLM"),)))
        with pytest.raises(AmlError) as raised:
            await fetcher_with(FakeLogins({proxy.url: LOGIN}), HTTP_PROXY=proxy.url).read("http://files.example.org/a")
        assert (raised.value.code, raised.value.arguments["kinds"]) == ("AML_NET_PROXY_NO_BASIC", "NTLM, Negotiate")
        assert len(proxy.requests()) == 2


async def test_a_cancel_does_not_wait_for_the_keyring(make: Callable[..., Download], server: IndexServer) -> None:
    import threading

    server.fault("*", Fault(auth=LOGIN))
    asked, go_on = threading.Event(), threading.Event()

    class SilentLogins(FakeLogins):
        def read(self, origin: str) -> tuple[str, str] | None:
            asked.set()
            go_on.wait()
            return super().read(origin)

    task = asyncio.ensure_future(fetcher_with(SilentLogins({})).fetch([make()], ignore))
    await asyncio.to_thread(asked.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
