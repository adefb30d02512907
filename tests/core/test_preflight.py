"""What is asked of the network before the long part, and what is made of the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import error_texts
from amlwizard.core.choices import Choices, UvMethod
from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.errors import AmlError
from amlwizard.core.events import Event, LogEvent
from amlwizard.core.preflight import Address, addresses, by_host, preflight, reach
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from amlwizard.net.session import Limits
from tests.net.support import NO_HTTP, answering, closed_port
from tests.support.index_server import Fault, IndexServer
from tests.support.run_contexts import new_run
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.preflight import Reached

QUICK = HttpFetcher(NetworkPolicy(), Limits(attempts=2, pause=0.01))
IMPATIENT = replace(QUICK, limits=replace(QUICK.limits, idle=0.15))
"""For servers that are silent."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexServer]:
    make_wheel(tmp_path / "wheels", "tinya", "1.0")
    with IndexServer(tmp_path / "wheels", files=tmp_path / "wheels") as server:
        yield server


def of_index(server: IndexServer, package: str = "tinya", *, needed: bool = True) -> Address:
    url = server.index_url
    return Address(f"{url}{package}/" if package else url, "resolve", needed, url, package)


async def judged(address: Address, fetcher: HttpFetcher = QUICK) -> Reached:
    (found,) = await reach(fetcher, [address])
    return found


# -- what is made of the answers


@pytest.mark.parametrize("accept", ["application/vnd.pypi.simple.v1+json", "text/html"])
async def test_an_index_with_the_package_is_fine_whatever_its_list_is(
    index: IndexServer, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    monkeypatch.setattr("amlwizard.core.preflight._ACCEPT", accept)  # the server has both forms
    index.fault("/simple/", "404")
    assert (await judged(of_index(index))).error is None
    assert [each.method for each in index.requests()] == (["HEAD"] if "json" in accept else ["HEAD", "GET"])


async def test_an_index_that_lacks_the_package_is_one_all_the_same(index: IndexServer) -> None:
    found = await judged(of_index(index, "absent"))
    assert (found.error, found.stops) == (None, False)
    index.fault("/simple/", "403")  # its list is for nobody
    assert (await judged(of_index(index, "absent"))).error is None


async def test_an_address_that_is_no_index_is_named_and_left_to_the_resolver(index: IndexServer) -> None:
    index.fault("/simple/*", "404")
    found = await judged(of_index(index))
    assert found.error is not None
    assert (found.error.code, found.stops) == ("AML_INDEX_NOT_FOUND", False)
    assert found.error.arguments["package"] == "tinya"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("auth", "AML_INDEX_UNAUTHORIZED"),
        ("403", "AML_INDEX_FORBIDDEN"),
        ("407", "AML_INDEX_PROXY_AUTH"),
        ("sign-in", "AML_NET_NOT_AN_INDEX"),
    ],
)
@pytest.mark.parametrize("needed", [True, False])
async def test_a_refusal_stops_only_what_cannot_do_without(index: IndexServer, fault: str, code: str, needed: bool) -> None:
    index.fault("*", fault)
    found = await judged(of_index(index, needed=needed))
    assert found.error is not None
    assert (found.error.code, found.stops) == (code, needed)
    assert found.to_json()["code"] == code


@pytest.mark.parametrize("fault", ["broken", "busy", "reset"])
async def test_what_may_pass_stops_nothing(index: IndexServer, fault: str) -> None:
    kinds = {
        "broken": Fault(status=502),
        "busy": Fault(status=503),
        "reset": Fault(silent=True),
    }
    index.fault("*", kinds[fault])
    found = await judged(of_index(index))
    assert found.error is not None
    codes = {"broken": "SERVER", "busy": "SERVER", "reset": "UNREACHABLE"}
    assert (found.error.code, found.stops) == (f"AML_INDEX_{codes[fault]}", False)


async def test_an_index_that_does_not_answer_stops_and_a_silent_place_of_a_file_does_not(index: IndexServer) -> None:
    index.fault("*", Fault(delay=60.0))
    found = await judged(of_index(index), IMPATIENT)
    assert found.error is not None
    assert (found.error.code, found.stops) == ("AML_INDEX_TIMEOUT", True)
    file = await judged(Address(f"{index.url}/files/tinya-1.0-py3-none-any.whl", "fetch", needed=True), IMPATIENT)
    assert file.error is not None
    assert (file.error.code, file.stops) == ("AML_NET_STALLED", False)


async def test_nobody_there_stops(index: IndexServer) -> None:
    gone = f"http://127.0.0.1:{closed_port()}/simple/"
    for url, code in ((gone, "AML_INDEX_REFUSED"), ("http://index.invalid/simple/", "AML_INDEX_NAME")):
        found = await judged(Address(f"{url}tinya/", "resolve", needed=True, index=url, package="tinya"))
        assert found.error is not None
        assert (found.error.code, found.stops) == (code, True)


async def test_an_index_that_speaks_no_http_stops_before_uv_asks_it(index: IndexServer) -> None:
    with answering(NO_HTTP) as port:
        url = f"http://127.0.0.1:{port}/simple/"
        found = await judged(Address(f"{url}tinya/", "resolve", needed=True, index=url, package="tinya"))
    assert found.error is not None
    assert found.stops
    assert "what it sends is no answer of a web server" in error_texts(found.error)[0]
    assert error_texts(found.error, "zh_CN")[0].endswith("它返回的内容不是 Web 服务器的应答。")


async def test_a_proxy_that_refuses_a_tunnel_is_told_from_one_that_is_not_there(index: IndexServer) -> None:
    index.fault("*", "403")
    by_proxy = HttpFetcher(NetworkPolicy({"all": index.url}), Limits(attempts=1))
    url = "https://index.invalid/simple/"
    (found,) = await reach(by_proxy, [Address(f"{url}tinya/", "resolve", needed=True, index=url, package="tinya")])
    assert found.error is not None
    assert (found.error.code, found.stops) == ("AML_INDEX_PROXY", True)
    assert "403" in str(found.error.arguments["cause"])
    assert found.proxy == f"127.0.0.1:{index.port}"
    assert found.place == ("index.invalid", 443)


async def test_a_page_in_the_place_of_a_file_stops_and_a_page_of_links_does_not(index: IndexServer) -> None:
    index.fault("*", "sign-in")
    file = await judged(Address(f"{index.url}/files/tinya-1.0-py3-none-any.whl", "fetch", needed=True))
    assert file.error is not None
    assert (file.error.code, file.stops) == ("AML_NET_SIGN_IN", True)
    page = await judged(Address(f"{index.url}/links/", "resolve", index=f"{index.url}/links/"))
    assert page.error is None


# -- what is asked


def test_each_host_is_asked_once_for_what_is_needed_of_it() -> None:
    optional = Address("https://index.example.org/extra/a/", "resolve", index="https://index.example.org/extra/")
    needed = Address(
        "https://index.example.org/simple/a/", "resolve", needed=True, index="https://index.example.org/simple/"
    )
    other = Address("https://index.example.org:8443/a.whl", "fetch", needed=True)
    local, unfilled = Address("file:///a.whl", "fetch"), Address("https://${HOST}/simple/", "resolve")
    assert by_host([optional, needed, other, local, unfilled]) == [needed, other]


def begun(folder: Path, text: str, **more: object) -> RunContext:
    file = folder / "requirements.txt"
    file.write_text(text)
    choices = Choices(folder / "aml", requirements=file, index_url="http://index.invalid/simple", **more)  # type: ignore[arg-type]
    return new_run(choices, folder / "tmp", uv=find_bundled_uv())


async def resolving(run: RunContext) -> list[tuple[str, bool]]:
    return [(each.url, each.needed) for each in await addresses(run) if each.step == "resolve"]


async def test_the_only_place_of_packages_is_needed(tmp_path: Path) -> None:
    asked = "http://index.invalid/simple/tinya/"
    assert await resolving(begun(tmp_path, "other ; python_version < '3'\ntinya\n")) == [(asked, True)]
    extra = "--extra-index-url http://more.invalid/simple\ntinya\n"
    assert await resolving(begun(tmp_path, extra)) == [(asked, False), ("http://more.invalid/simple/tinya/", False)]
    links = "--find-links http://user:secret@links.invalid/page\ntinya\n"
    assert await resolving(begun(tmp_path, links)) == [(asked, False), ("http://links.invalid/page", False)]


async def test_where_no_package_is_sure_to_be_asked_for_nothing_is_needed(tmp_path: Path) -> None:
    run = begun(tmp_path, "tinya ; python_version < '3'\n")
    assert await resolving(run) == [("http://index.invalid/simple/", False)]
    assert await resolving(begun(tmp_path, "--no-index\ntinya\n")) == []


@pytest.mark.parametrize(
    ("method", "url"),
    [
        (UvMethod.INDEX, "http://index.invalid/simple/uv/"),
        (UvMethod.PIP_TARGET, "http://index.invalid/simple/uv/"),
        (UvMethod.SCRIPT, "http://script.invalid/install.sh"),
        (UvMethod.BUNDLED, ""),
        (UvMethod.NONE, ""),
    ],
)
async def test_uv_is_asked_for_where_it_is_to_come_from(tmp_path: Path, method: UvMethod, url: str) -> None:
    run = begun(tmp_path, "tinya\n", uv_method=method, uv_installer_url="http://script.invalid/install.sh")
    assert [each.url for each in await addresses(run) if each.step == "install_uv"] == ([url] if url else [])


async def test_the_host_of_the_interpreter_is_asked_where_none_was_found(tmp_path: Path) -> None:
    run = begun(tmp_path, "tinya\n", python_downloads_json="http://list.invalid/list.json")
    found = [each for each in await addresses(run) if each.step == "install_python"]
    assert [(each.url, each.needed) for each in found] == [("http://list.invalid/list.json", True)]
    of_uv = begun(tmp_path, "tinya\n")  # whose own list says where the archive is
    (archive,) = (each for each in await addresses(of_uv) if each.step == "install_python")
    assert archive.url.startswith("https://")
    assert "cpython-3.11" in archive.url
    mirrored = begun(tmp_path, "tinya\n", python_mirror="https://files.example.org/python/")
    (there,) = (each for each in await addresses(mirrored) if each.step == "install_python")
    assert there.url == "/".join(("https://files.example.org/python", *archive.url.split("/")[-2:]))
    named = {"python_mirror": "https://files.example.org/x", "python_downloads_json": "http://list.invalid/list.json"}
    assert "http://list.invalid/list.json" in [each.url for each in await addresses(begun(tmp_path, "tinya\n", **named))]


# -- a run


async def test_what_is_silent_is_told_and_the_run_goes_on(tmp_path: Path, index: IndexServer) -> None:
    index.fault("*", Fault(delay=60.0))
    heard: list[Event] = []
    run = begun(tmp_path, "tinya\n", until="resolve")
    run.choices = replace(run.choices, uv_method=UvMethod.NONE, python_downloads_json=f"{index.url}/files/list.json")
    run.wish = replace(run.wish, content=begun(tmp_path, "--no-index\ntinya\n").wish.content)
    run.fetcher, run.emit = IMPATIENT, heard.append
    await preflight(run)
    (line,) = (event for event in heard if isinstance(event, LogEvent) and event.remark)
    assert line.line.startswith(f"127.0.0.1:{index.port} (reached directly): ")


async def test_nobody_is_reached_offline_or_for_a_later_step(tmp_path: Path, index: IndexServer) -> None:
    for more in ({"offline": True}, {"until": "install_uv"}):
        run = begun(tmp_path, "tinya\n", **more)
        run.choices = replace(run.choices, index_url=index.index_url)
        run.fetcher = QUICK
        await preflight(run)
    assert index.requests() == []


async def test_the_step_that_would_fail_first_gives_the_error(tmp_path: Path) -> None:
    run = begun(tmp_path, "tinya\n", python_downloads_json=f"http://127.0.0.1:{closed_port()}/list.json")
    run.choices = replace(run.choices, index_url=f"http://127.0.0.1:{closed_port()}/simple", uv_method=UvMethod.NONE)
    run.fetcher = QUICK
    with pytest.raises(AmlError, match="AML_PYTHON_UNREACHABLE"):
        await preflight(run)
    run.choices = replace(run.choices, uv_method=UvMethod.INDEX)
    with pytest.raises(AmlError, match="AML_UV_INSTALL_FAILED"):
        await preflight(run)
