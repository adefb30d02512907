"""Logins that are sent and refused: told apart from missing ones, with the place in which they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.errors import AmlError
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from tests.net.conftest import QUICK
from tests.support.index_server import Fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amlwizard.core.fetching import Download
    from tests.support.index_server import IndexServer

PROXY_LOGIN = Fault(proxy_auth=("user", "secret"))


async def fault_of(policy: NetworkPolicy, url: str, **logins: tuple[str, str]) -> AmlError:
    fetcher = HttpFetcher(policy, QUICK)
    fetcher.learn_logins(logins)
    (answer,) = await fetcher.reach([url], accept="*/*", seconds=30)
    assert isinstance(answer, AmlError)
    for language in LANGUAGES:
        message, hint = error_texts(answer, language)
        assert hint
        assert "wrong" not in message
        assert "?" not in message
    return answer


def origin(url: str) -> str:
    return f"http://{urlsplit(url).netloc}"


@pytest.mark.parametrize(
    "place", ["UV_DEFAULT_INDEX", "UV_INDEX_OURS_PASSWORD", "pip.conf", "netrc", "entered", "requirements"]
)
async def test_a_login_that_an_index_refuses_is_told_with_its_place(
    make: Callable[..., Download], server: IndexServer, tmp_path: Path, place: str
) -> None:
    url = make().urls[0]
    server.fault("*", "auth")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login user password wrong\n")
    told = {"netrc": str(netrc), "entered": "what was entered", "requirements": "the requirements file"}.get(place, place)
    variables = {
        "UV_DEFAULT_INDEX": {place: url.replace("//", "//user:wrong@")},
        "UV_INDEX_OURS_PASSWORD": {"UV_INDEX": f"ours={url}", "UV_INDEX_OURS_USERNAME": "user", place: "wrong"},
        "netrc": {"NETRC": str(netrc)},
    }.get(place, {})
    policy = NetworkPolicy.from_environment(
        variables,
        credentials={origin(url): ("user", "wrong")} if place in ("pip.conf", "entered") else {},
        login_places={origin(url): place} if place == "pip.conf" else {},
    )
    learnt = {origin(url): ("user", "wrong")} if place == "requirements" else {}
    error = await fault_of(policy, url, **learnt)
    assert error.code == "AML_NET_LOGIN_REFUSED"
    assert f"which come from {told} (401)" in error_texts(error, "en")[0]


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_login_that_a_proxy_refuses_is_told_with_its_variable(server: IndexServer, scheme: str) -> None:
    server.fault("*", PROXY_LOGIN)
    policy = NetworkPolicy.from_environment({"ALL_PROXY": server.url.replace("//", "//user:wrong@")})
    error = await fault_of(policy, f"{scheme}://index.invalid/simple/")
    assert error.code == "AML_NET_PROXY_LOGIN_REFUSED"
    message = error_texts(error, "en")[0]
    assert f"127.0.0.1:{server.port} refused the user and password" in message
    assert "which come from ALL_PROXY (407; ways it offers: Basic)" in message


async def test_a_proxy_that_takes_no_login_of_this_kind_does_not_refuse_it(server: IndexServer) -> None:
    server.fault("*", Fault(status=407, headers=(("Proxy-Authenticate", "Negotiate, NTLM"),)))
    policy = NetworkPolicy.from_environment({"ALL_PROXY": server.url.replace("//", "//user:wrong@")})
    assert (await fault_of(policy, "http://index.invalid/simple/")).code == "AML_NET_PROXY_NO_BASIC"


def test_a_netrc_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login user password secret\nmachin b\n")
    problem = NetworkPolicy.from_environment({"HOME": str(tmp_path)}).kept_problem()
    assert problem is not None
    assert (problem.key, problem.arguments) == ("logins.netrc_line", {"file": str(netrc), "line": 2})
    netrc.write_bytes(b"\xff\xfe")
    problem = NetworkPolicy.from_environment({"HOME": str(tmp_path)}).kept_problem()
    assert problem is not None
    assert problem.arguments["file"] == str(netrc)
