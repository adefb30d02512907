"""A proxy that answers with anything but a way to the host: its fault, told in time, by every part that goes through it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.errors import AmlError
from amlwizard.core.fetching import Download
from amlwizard.core.preflight import Address, reach
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from amlwizard.net.session import Limits
from tests.net.support import failing
from tests.support.strange_proxies import ENDLESS, QUICK, strange_proxy

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = Limits(connect=0.5, idle=0.5, longest_idle=0.5, attempts=2, pause=0.01, drop_out=0.0)
INDEX = "https://index.invalid/simple/"


def fetcher(proxy: str) -> HttpFetcher:
    return HttpFetcher(NetworkPolicy({"all": f"http://{proxy}"}), LIMITS)


@pytest.mark.parametrize("how", [*QUICK, *ENDLESS])
async def test_it_is_named_before_the_long_part_and_the_run_stops(how: str) -> None:
    wanted = [
        Address(f"{INDEX}tinya/", "resolve", needed=True, index=INDEX, package="tinya"),
        Address("https://files.invalid/a.whl", "fetch", needed=True),
    ]
    with strange_proxy(how) as proxy:
        found = await reach(fetcher(proxy), wanted)
    assert [each.error.code if each.error else "" for each in found] == ["AML_INDEX_PROXY", "AML_NET_PROXY"]
    assert all(each.stops for each in found)
    for each, host in zip(found, ("index.invalid", "files.invalid"), strict=True):
        for language in LANGUAGES:
            assert each.error is not None
            message, hint = error_texts(each.error, language)
            assert proxy in message
            assert host in message
            assert "?" not in message
            assert "NO_PROXY" in hint


@pytest.mark.parametrize("how", [*QUICK, *ENDLESS])
async def test_a_fetch_ends_and_names_it(tmp_path: Path, how: str) -> None:
    download = Download(("https://files.invalid/a.whl",), tmp_path / "a.whl", "0" * 64)
    with strange_proxy(how) as proxy:
        error = await failing(fetcher(proxy), download)
    assert (error.code, error.arguments["proxy"], error.arguments["host"]) == ("AML_NET_PROXY", proxy, "files.invalid")
    assert not download.target.exists()


@pytest.mark.parametrize("how", ["garbage", "bytes", "closes"])
async def test_what_is_no_proxy_is_named_without_a_tunnel_as_well(how: str) -> None:
    with strange_proxy(how) as proxy:
        (answer,) = await fetcher(proxy).reach(["http://files.invalid/a.whl"], accept="*/*", seconds=30.0)
    assert isinstance(answer, AmlError)
    assert (answer.code, answer.arguments["proxy"]) == ("AML_NET_PROXY", proxy)


@pytest.mark.parametrize("how", ["drops", "line"])
async def test_an_answer_in_drops_is_not_waited_for_without_an_end(tmp_path: Path, how: str) -> None:
    """Each piece comes in time, and the head never ends."""
    with strange_proxy(how) as server:
        error = await failing(
            HttpFetcher(NetworkPolicy(), LIMITS), Download((f"http://{server}/a.whl",), tmp_path / "a.whl", None)
        )
    assert error.code == "AML_NET_STALLED"


@pytest.mark.parametrize("how", ["garbage", "closes", "nonsense"])
async def test_what_answers_wrongly_for_good_is_not_asked_again(how: str) -> None:
    """But for what closes a connection, which may pass."""
    with strange_proxy(how) as proxy:
        (answer,) = await fetcher(proxy).reach(["https://files.invalid/a.whl"], accept="*/*", seconds=30.0)
    assert isinstance(answer, AmlError)
    assert answer.arguments["attempts"] == (2 if how == "closes" else 1)
