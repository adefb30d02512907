"""Reaching hosts before anything is fetched: one result each, over real connections on loopback."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest

from amlwizard.core.errors import AmlError
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from amlwizard.net.session import Limits
from tests.net.conftest import IMPATIENT, QUICK
from tests.net.support import closed_port, ignore, right
from tests.support.index_server import SIGN_IN, Fault, IndexServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amlwizard.core.fetching import Download
    from tests.support.certificates import Authority
    from tests.support.index_server import Request

NTLM = Fault(status=407, headers=(("Proxy-Authenticate", "Negotiate, NTLM"),))


async def reached(fetcher: HttpFetcher, *urls: str, seconds: float = 30.0) -> list[AmlError | bytes]:
    return await fetcher.reach(urls, accept="*/*", seconds=seconds)


async def fault_of(fetcher: HttpFetcher, url: str) -> AmlError:
    (answer,) = await reached(fetcher, url)
    assert isinstance(answer, AmlError)
    assert "?" not in str(answer)  # every word of its sentence is known
    return answer


async def test_an_answer_is_asked_for_without_its_body(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    assert await reached(fetcher, make().urls[0]) == [b""]
    assert [(each.method, each.sent) for each in server.requests()] == [("HEAD", 0)]


@pytest.mark.parametrize("refusal", [400, 401, 403, 404, 405, 501])
async def test_a_server_that_refuses_head_is_asked_for_a_small_part(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, refusal: int
) -> None:
    download = make(size=300_000)
    server.fault("*", Fault(status=refusal, times=1))
    assert await reached(fetcher, download.urls[0]) == [b""]
    first, second = server.requests()
    assert (first.method, second.method, second.range) == ("HEAD", "GET", "bytes=0-65535")
    assert second.sent <= 65536


@pytest.mark.parametrize(
    ("fault", "code"),
    [("auth", "AML_NET_UNAUTHORIZED"), ("403", "AML_NET_FORBIDDEN"), ("404", "AML_NET_NOT_FOUND")],
)
async def test_a_refusal_is_what_a_fetch_would_say(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, fault: str, code: str
) -> None:
    url = make().urls[0]
    server.fault("*", fault)
    assert (await fault_of(fetcher, url)).code == code


async def test_a_page_in_the_place_of_a_file_is_shown(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    url = make().urls[0]
    server.fault("*", "sign-in")
    assert await reached(fetcher, url) == [SIGN_IN]


async def test_a_name_that_nobody_knows(fetcher: HttpFetcher) -> None:
    error = await fault_of(fetcher, "http://files.invalid/a.whl")
    assert error.code == "AML_NET_NAME"
    assert error.arguments["reason"]


async def test_a_port_at_which_nobody_listens(fetcher: HttpFetcher) -> None:
    error = await fault_of(fetcher, f"http://127.0.0.1:{closed_port()}/a.whl")
    assert (error.code, error.arguments["attempts"]) == ("AML_NET_REFUSED", QUICK.attempts)
    assert "refused" in str(error.arguments["reason"]).lower()


async def test_a_server_that_never_answers(server: IndexServer, make: Callable[..., Download]) -> None:
    """By its own limit, and by that of all together."""
    url = make().urls[0]
    server.fault("*", "ok", delay=60.0)
    for limits, seconds in ((IMPATIENT, 60.0), (Limits(), 0.2)):
        (answer,) = await reached(HttpFetcher(NetworkPolicy(), limits), url, seconds=seconds)
        assert isinstance(answer, AmlError)
        assert answer.code == "AML_NET_STALLED"
        assert "?" not in str(answer)


@pytest.mark.linux  # elsewhere a full queue refuses
async def test_a_host_that_takes_no_connection() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        held = [socket.socket() for _ in range(3)]
        try:
            for each in held:  # until the queue is full, after which the system drops what comes
                each.setblocking(False)
                each.connect_ex(("127.0.0.1", port))
            limits = replace(QUICK, connect=0.1)
            error = await fault_of(HttpFetcher(NetworkPolicy(), limits), f"http://127.0.0.1:{port}/a.whl")
            assert error.code == "AML_NET_TIMEOUT"
        finally:
            for each in held:
                each.close()


async def test_what_failed_last_is_known_when_the_time_is_over() -> None:
    patient = HttpFetcher(NetworkPolicy(), replace(QUICK, attempts=2, pause=60.0, longest_pause=60.0))
    (answer,) = await reached(patient, f"http://127.0.0.1:{closed_port()}/a.whl", seconds=2.0)
    assert isinstance(answer, AmlError)
    assert answer.code == "AML_NET_REFUSED"


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_asks_for_sign_in_tells_in_which_ways(server: IndexServer, scheme: str) -> None:
    server.fault("*", NTLM)
    error = await fault_of(HttpFetcher(NetworkPolicy({"all": server.url}), QUICK), f"{scheme}://files.invalid/a.whl")
    assert error.code == "AML_NET_PROXY_NO_BASIC"
    assert error.arguments["kinds"] == "NTLM, Negotiate"
    server.fault("*", "407")
    error = await fault_of(HttpFetcher(NetworkPolicy({"all": server.url}), QUICK), f"{scheme}://files.invalid/a.whl")
    assert (error.code, error.arguments["kinds"]) == ("AML_NET_PROXY_AUTH", "Basic")


async def test_a_proxy_that_is_not_there() -> None:
    proxy = f"127.0.0.1:{closed_port()}"
    error = await fault_of(HttpFetcher(NetworkPolicy({"all": f"http://{proxy}"}), QUICK), "https://files.invalid/a.whl")
    assert (error.code, error.arguments["proxy"]) == ("AML_NET_PROXY", proxy)


async def test_a_certificate_that_is_not_trusted(files: Path, authority: Authority) -> None:
    with IndexServer(files=files, tls=authority.server_context()) as secure:
        error = await fault_of(HttpFetcher(NetworkPolicy(), QUICK), f"{secure.url}/files/a.whl")
        assert (error.code, error.arguments["issuer"]) == ("AML_NET_CERTIFICATE", "Example Inspection CA")
        assert not secure.requests()


class _Gathering(IndexServer):
    """Answers nobody before so many have asked."""

    def __init__(self, files: Path, number: int) -> None:
        super().__init__(files=files)
        self._all = threading.Barrier(number)

    def record(self, request: Request) -> Fault:
        self._all.wait(60)
        return super().record(request)


async def test_all_are_reached_at_once(files: Path) -> None:
    (files / "a.json").write_text("{}")
    number = 12  # more than are fetched at a time
    with _Gathering(files, number) as server:
        found = await reached(HttpFetcher(NetworkPolicy(), QUICK), *[f"{server.url}/files/a.json"] * number)
    assert found == [b""] * number


async def test_a_fetch_goes_on_with_the_connection(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    await reached(fetcher, download.urls[0])
    assert server.connections == 1
    await fetcher.fetch([download], ignore)
    assert right(download)
    assert server.connections == 1


async def test_a_login_that_is_learnt_afterwards_is_used(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    server.fault("*", "auth")
    assert (await fault_of(fetcher, download.urls[0])).code == "AML_NET_UNAUTHORIZED"
    fetcher.learn_logins({server.url: ("user", "secret")})
    await fetcher.fetch([download], ignore)
    assert right(download)


def connections_to(server: IndexServer) -> int:
    """Return how many connections of this process lead to a server."""
    connections = psutil.Process().net_connections("tcp")
    return sum(bool(each.raddr) and each.raddr.port == server.port for each in connections)


async def test_connections_that_know_no_login_are_closed_when_one_is_learnt(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    await reached(fetcher, download.urls[0])
    fetcher.learn_logins({})
    assert connections_to(server) == 1
    _held = list(fetcher._kept)  # so that nothing but closing them closes them
    fetcher.learn_logins({server.url: ("user", "secret")})
    assert connections_to(server) == 0
    await reached(fetcher, download.urls[0])
    fetcher.learn_logins({server.url: ("user", "secret")})
    assert connections_to(server) == 1
