"""The fetcher against a real server that misbehaves in every way it should bear."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.errors import AmlError
from amlwizard.net.crew import Stop
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from amlwizard.net.session import Limits
from amlwizard.net.transfer import Transfer
from tests.net.conftest import QUICK, limits_for
from tests.net.support import closed_port, failing, ignore, right, wait_until
from tests.support.index_server import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.core.fetching import Download, FetchProgress
    from amlwizard.net.session import Session
    from tests.support.index_server import IndexServer

PATIENT = Limits(connect=3600.0, idle=3600.0)
"""With these, whoever waits for the server instead of stopping waits for longer than a test may last."""


async def test_files_arrive_verified_and_progress_is_exact(fetcher: HttpFetcher, make: Callable[..., Download]) -> None:
    downloads = [make(f"f{number}-1-py3-none-any.whl", 50_000 * (number + 1)) for number in range(20)]
    seen: list[FetchProgress] = []
    loop_thread = threading.get_ident()

    def look(progress: FetchProgress) -> None:
        assert threading.get_ident() == loop_thread
        seen.append(progress)

    await fetcher.fetch(downloads, look)
    assert all(right(each) for each in downloads)
    total = sum(each.size for each in downloads)
    assert (seen[-1].done_bytes, seen[-1].total_bytes, seen[-1].files_done) == (total, total, 20)
    assert [each.done_bytes for each in seen] == sorted(each.done_bytes for each in seen)


async def test_what_is_there_is_not_fetched_again(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    good, damaged = make("good.whl"), make("damaged.whl")
    await fetcher.fetch([good, damaged], ignore)
    damaged.target.write_bytes(b"x" * damaged.size)
    server.forget()
    await fetcher.fetch([good, damaged], ignore)
    assert [each.path for each in server.requests()] == ["/files/damaged.whl"]
    assert right(damaged)


@pytest.mark.parametrize("fault", ["truncate", "stall", "reset"])
@pytest.mark.parametrize("size", [300_000, 3_000_000])
async def test_a_broken_transfer_goes_on_where_it_stopped(
    make: Callable[..., Download], server: IndexServer, fault: str, size: int
) -> None:
    download = make(size=size)
    server.fault("/files/*", fault, after=200_000, times=1)
    await HttpFetcher(NetworkPolicy(), limits_for(fault)).fetch([download], ignore)
    assert right(download)
    first, second = server.requests()
    assert second.headers["range"] == f"bytes={size - second.sent}-"
    assert second.sent < size
    assert first.sent == 200_000


async def test_two_breaks_then_the_end_of_patience(make: Callable[..., Download], server: IndexServer) -> None:
    server.fault("/files/*", "stall", after=1000)
    error = await failing(HttpFetcher(NetworkPolicy(), replace(QUICK, idle=0.05)), make())
    assert error.code == "AML_NET_STALLED"
    assert error.arguments["attempts"] == 3
    assert error.arguments["host"] == f"127.0.0.1:{server.port}"
    assert error.arguments["file"] == "a-1-py3-none-any.whl"


async def test_steady_progress_renews_patience(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make(size=8_000_000)
    server.fault("/files/*", "truncate", after=1_500_000, times=5)
    await fetcher.fetch([download], ignore)
    assert right(download)


async def test_the_next_run_resumes_with_the_validator(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make(size=3_000_000)
    server.fault("/files/*", "truncate", after=2_000_000, times=1)
    await failing(HttpFetcher(NetworkPolicy(), replace(QUICK, attempts=1)), download)
    server.forget()
    await fetcher.fetch([download], ignore)
    (request,) = server.requests()
    assert request.status == 206
    assert "if-range" in request.headers
    assert request.sent == 1_000_000
    assert right(download)


async def test_a_file_that_changed_starts_anew(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, files: Path
) -> None:
    old = make(size=3_000_000)
    server.fault("/files/*", "truncate", after=2_000_000, times=1)
    await failing(HttpFetcher(NetworkPolicy(), replace(QUICK, attempts=1)), old)
    new = make(size=3_000_000)
    server.forget()
    await fetcher.fetch([new], ignore)
    assert right(new)
    assert [each.range for each in server.requests()] == [None]


async def test_a_server_whose_file_changed_answers_whole(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make(size=3_000_000)
    server.fault("/files/*", "truncate", after=2_000_000, times=1, etag='"old"')
    await fetcher.fetch([download], ignore)
    assert [each.status for each in server.requests()] == [200, 200]
    assert right(download)


async def test_a_server_without_ranges_starts_anew(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    server.fault("/files/*", "no-ranges")
    server.fault("/files/*", "truncate", ranges=False, times=1)
    await fetcher.fetch([download], ignore)
    assert [each.status for each in server.requests()] == [200, 200]
    assert right(download)


async def test_a_damaged_partial_file_costs_one_clean_retry(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    download.target.parent.mkdir()
    download.target.with_name(f"{download.target.name}.part").write_bytes(b"damaged" * 1000)
    await fetcher.fetch([download], ignore)
    assert [each.range for each in server.requests()] == ["bytes=7000-", None]
    assert right(download)


async def test_a_complete_partial_file_needs_no_request(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, files: Path
) -> None:
    download = make()
    download.target.parent.mkdir()
    content = (files / download.target.name).read_bytes()
    download.target.with_name(f"{download.target.name}.part").write_bytes(content)
    await fetcher.fetch([download], ignore)
    assert not server.requests()
    assert right(download)


async def test_b54_corrupt_bytes_are_never_kept(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    server.fault("/files/*", "corrupt")
    error = await failing(fetcher, download)
    assert error.code == "AML_HASH_MISMATCH"
    assert error.arguments["expected"] == download.sha256
    assert error.arguments["actual"] != download.sha256
    assert len(server.requests()) == 2
    assert not list(download.target.parent.iterdir())


async def test_b54_corrupt_once_is_cured_by_one_clean_retry(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    server.fault("/files/*", "corrupt", times=1)
    await fetcher.fetch([download], ignore)
    assert right(download)


@pytest.mark.parametrize(
    ("fault", "code", "requests"),
    [
        ("auth", "AML_NET_UNAUTHORIZED", 1),
        ("403", "AML_NET_FORBIDDEN", 1),
        ("404", "AML_NET_NOT_FOUND", 1),
        ("407", "AML_NET_PROXY_AUTH", 1),
        ("sign-in", "AML_NET_SIGN_IN", 1),
        ("gone", "AML_NET_NOT_FOUND", 1),
        ("portal", "AML_NET_SIGN_IN", 1),
    ],
)
async def test_b49_a_refusal_is_named_at_once(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, fault: str, code: str, requests: int
) -> None:
    server.fault("/files/*", {"gone": Fault(status=410), "portal": Fault(status=511)}.get(fault, fault))
    error = await failing(fetcher, make())
    assert error.code == code
    assert error.arguments["host"] == f"127.0.0.1:{server.port}"
    assert error.arguments["file"] == "a-1-py3-none-any.whl"
    assert len(server.requests()) == requests


@pytest.mark.parametrize("status", ["429", "503"])
async def test_a_busy_server_is_given_the_time_it_asks_for(
    make: Callable[..., Download], server: IndexServer, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    download = make()
    server.fault("/files/*", status)
    pauses: list[float] = []
    monkeypatch.setattr(Stop, "pause", lambda _stop, seconds: pauses.append(seconds))
    await HttpFetcher(NetworkPolicy(), replace(QUICK, longest_retry_after=2)).fetch([download], ignore)
    assert pauses == [1.0]
    assert right(download)


async def test_a_server_that_asks_for_too_much_time_is_a_failure(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    server.fault("/files/*", "503", headers=(("Retry-After", "3600"),), times=None)
    error = await failing(fetcher, make())
    assert (error.code, error.arguments["status"]) == ("AML_NET_BUSY", 503)
    assert len(server.requests()) == 1


async def test_a_server_error_is_tried_again(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    server.fault("/files/*", "ok", status=502, times=2)
    await fetcher.fetch([download], ignore)
    assert right(download)


@pytest.mark.parametrize(
    ("header", "pauses"), [("Thu, 01 Jan 2026 00:00:00 GMT", [0.01]), ("soon", [0.01]), ("0", [0.01]), (None, [0.01])]
)
async def test_a_time_that_is_over_or_makes_no_sense_is_no_time_to_wait_for(
    make: Callable[..., Download],
    server: IndexServer,
    monkeypatch: pytest.MonkeyPatch,
    header: str | None,
    pauses: list[float],
) -> None:
    download = make()
    server.fault("/files/*", "503", headers=(("Retry-After", header),) if header else (), times=1)
    asked: list[float] = []
    monkeypatch.setattr(Stop, "pause", lambda _stop, seconds: asked.append(seconds))
    await HttpFetcher(NetworkPolicy(), QUICK).fetch([download], ignore)
    assert asked == pauses
    assert right(download)


async def test_a_date_far_ahead_is_a_failure(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    server.fault("/files/*", "429", headers=(("Retry-After", "Fri, 31 Dec 2999 23:59:59 GMT"),), times=None)
    error = await failing(fetcher, make())
    assert (error.code, error.arguments["status"]) == ("AML_NET_BUSY", 429)
    assert len(server.requests()) == 1


async def test_pauses_grow(make: Callable[..., Download], server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.fault("/files/*", "ok", status=500)
    pauses: list[float] = []
    monkeypatch.setattr(Stop, "pause", lambda _stop, seconds: pauses.append(seconds))
    await failing(HttpFetcher(NetworkPolicy(), Limits()), make())
    assert pauses == [0.5, 1.0, 2.0, 4.0]


async def test_a_connection_that_ends_without_an_answer_is_made_again(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    first, second = make("first.whl"), make("second.whl")
    server.fault("/files/second.whl", "ok", silent=True, times=2)
    await replace(fetcher, threads=1).fetch([first, second], ignore)  # the second on a connection that was kept
    assert right(second)
    server.fault("/files/second.whl", "ok", silent=True)
    second.target.unlink()
    error = await failing(fetcher, second)
    assert (error.code, error.arguments["file"]) == ("AML_NET_RESET", "second.whl")


@pytest.mark.parametrize("size", [299_999, 300_001])
@pytest.mark.parametrize("told", [True, False])
async def test_a_wrong_length_is_refused(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, size: int, *, told: bool
) -> None:
    server.fault("/files/*", "ok", length=told)
    download = replace(make(), size=size)
    error = await failing(fetcher, download)
    assert (error.code, error.arguments["expected"]) == ("AML_NET_SIZE", size)
    assert error.arguments["actual"] == 300_000 or (size < 300_000 and not told)
    assert (error.arguments["host"], error.arguments["file"]) == (f"127.0.0.1:{server.port}", download.target.name)
    assert not download.target.exists()


async def test_addresses_are_tried_in_turn(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    good = make("good.whl")
    download = replace(good, urls=(f"{server.url}/files/gone.whl", f"http://127.0.0.1:{closed_port()}/x", *good.urls))
    await fetcher.fetch([download], ignore)
    assert right(good)


async def test_b47_a_refused_connection_names_the_host(fetcher: HttpFetcher, make: Callable[..., Download]) -> None:
    port = closed_port()
    error = await failing(fetcher, replace(make(), urls=(f"http://127.0.0.1:{port}/a.whl",)))
    assert (error.code, error.arguments["host"]) == ("AML_NET_REFUSED", f"127.0.0.1:{port}")


async def test_an_unknown_name_is_said_to_be_unknown(fetcher: HttpFetcher, make: Callable[..., Download]) -> None:
    error = await failing(fetcher, replace(make(), urls=("http://no-such-host.invalid/a.whl",)))
    assert (error.code, error.arguments["host"]) == ("AML_NET_NAME", "no-such-host.invalid")


async def test_a_redirect_to_another_origin_drops_the_credentials(
    make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    asked = f"http://localhost:{server.port}/files/moved.whl"
    server.fault("/files/moved.whl", "ok", redirect=download.urls[0])
    policy = NetworkPolicy(credentials={f"http://localhost:{server.port}": ("user", "secret")})
    await HttpFetcher(policy, QUICK).fetch([replace(download, urls=(asked,))], ignore)
    first, second = server.requests()
    assert "authorization" in first.headers
    assert "authorization" not in second.headers
    assert right(download)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "where", ["{url}/files/a-1-py3-none-any.whl?signed=1", "/files/a-1-py3-none-any.whl", "a-1-py3-none-any.whl"]
)
async def test_what_lies_elsewhere_is_fetched_and_resumed_there(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, status: int, where: str
) -> None:
    download = make(size=3_000_000)
    location = where.format(url=server.url.replace("127.0.0.1", "localhost"), name=download.target.name)
    server.fault("/files/moved.whl", Fault(status=status, headers=(("Location", location),)))
    server.fault("/files/a-*", "truncate", after=2_000_000, times=1)
    await fetcher.fetch([replace(download, urls=(f"{server.url}/files/moved.whl",))], ignore)
    assert right(download)
    assert [each.status for each in server.requests()] == [status, 200, status, 206]
    assert server.sent("/files/a-*") == 3_000_000


async def test_a_redirect_to_something_else_than_the_web_is_not_followed(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, files: Path
) -> None:
    download = make()
    server.fault("/files/*", "ok", redirect=(files / download.target.name).as_uri())
    assert (await failing(fetcher, download)).code == "AML_NET_REDIRECTS"


@pytest.mark.parametrize("location", ["http://[::1/x", "http://h:port/x", "http://h:99999/x"])
async def test_a_redirect_to_no_address_is_not_followed(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, location: str
) -> None:
    server.fault("/files/*", Fault(status=302, headers=(("Location", location),)))
    assert (await failing(fetcher, make())).code == "AML_NET_REDIRECTS"


async def test_a_redirect_loop_ends(fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer) -> None:
    server.fault("/files/*", "ok", redirect="/files/again.whl")
    assert (await failing(fetcher, make())).code == "AML_NET_REDIRECTS"


async def test_credentials_reach_their_own_origin(make: Callable[..., Download], server: IndexServer) -> None:
    download = make()
    server.fault("/files/*", "auth")
    policy = NetworkPolicy(credentials={server.url: ("user", "secret")})
    await HttpFetcher(policy, QUICK).fetch([download], ignore)
    assert right(download)


async def test_file_addresses_are_copied_and_hashed(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, files: Path
) -> None:
    download = make("a b-é.whl")
    local = replace(download, urls=((files / "a b-é.whl").as_uri(),))
    await HttpFetcher(NetworkPolicy(offline=True), QUICK).fetch([local], ignore)
    assert right(local)
    missing = replace(local, urls=((files / "gone.whl").as_uri(),), target=local.target.with_name("gone.whl"))
    assert (await failing(fetcher, missing)).code == "AML_NET_LOCAL"
    spoiled = replace(local, sha256="0" * 64, target=local.target.with_name("spoiled.whl"))
    error = await failing(fetcher, spoiled)
    assert (error.code, error.arguments["host"]) == ("AML_HASH_MISMATCH", str(files / "a b-é.whl"))
    assert not server.requests()


async def test_offline_opens_no_connection(make: Callable[..., Download], server: IndexServer) -> None:
    offline = HttpFetcher(NetworkPolicy(offline=True), QUICK)
    error = await failing(offline, make("needed.whl"))
    assert (error.code, error.arguments["file"]) == ("AML_OFFLINE", "needed.whl")
    with pytest.raises(AmlError, match="AML_OFFLINE"):
        await offline.read(f"{server.url}/files/needed.whl")
    assert not server.requests()


@pytest.mark.linux
async def test_a_full_disk_is_named(fetcher: HttpFetcher, make: Callable[..., Download]) -> None:
    download = make()
    download.target.parent.mkdir()
    download.target.with_name(f"{download.target.name}.part").symlink_to("/dev/full")
    error = await failing(fetcher, download)
    assert error.code == "AML_DISK_FULL"


@pytest.mark.skipif(os.name == "nt", reason="named pipes in folders")
async def test_pipes_in_the_place_of_partial_files_are_not_waited_for(
    fetcher: HttpFetcher, make: Callable[..., Download]
) -> None:
    download = make(size=3_000_000)
    download.target.parent.mkdir()
    for ending in (".part", ".resume.part"):
        os.mkfifo(download.target.with_name(f"{download.target.name}{ending}"))
    await asyncio.wait_for(fetcher.fetch([download], ignore), 30)
    assert right(download)


@pytest.mark.parametrize("held", [2, 100])
async def test_a_file_that_a_scanner_holds_is_waited_for(
    fetcher: HttpFetcher, make: Callable[..., Download], monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    """As on Windows, where nothing that another program has open can be renamed."""
    download = make()
    attempts: list[Path] = []
    replace_really = Path.replace

    def fake_windows_replace(path: Path, target: Path) -> Path:
        attempts.append(path)
        if len(attempts) <= held:
            raise PermissionError(13, "The process cannot access the file because it is being used by another process")
        return replace_really(path, target)

    monkeypatch.setattr(Path, "replace", fake_windows_replace)
    monkeypatch.setattr(Stop, "pause", lambda _stop, _seconds: None)
    if held == 2:
        await fetcher.fetch([download], ignore)
        assert right(download)
    else:
        error = await failing(fetcher, download)
        assert (error.code, error.arguments["file"]) == ("AML_NET_WRITE", download.target.name)
        assert len(attempts) == 6
    assert download.target.exists() == (held == 2)


async def test_cancel_stops_at_once_and_keeps_what_arrived(make: Callable[..., Download], server: IndexServer) -> None:
    downloads = [make(f"f{number}.whl", 3_000_000) for number in range(10)]
    server.fault("/files/*", "stall", after=1_200_000)
    patient = HttpFetcher(NetworkPolicy(), PATIENT)
    moving = asyncio.Event()

    def look(progress: FetchProgress) -> None:
        if progress.done_bytes > 2_000_000:
            moving.set()

    task = asyncio.create_task(patient.fetch(downloads, look))
    await asyncio.wait_for(moving.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for thread in [each for each in threading.enumerate() if each.name == "fetch"]:
        thread.join(60)
        assert not thread.is_alive()
    kept = sum(each.stat().st_size for each in downloads[0].target.parent.glob("*.whl.part"))
    assert kept > 2_000_000
    server.heal()
    server.forget()
    await patient.fetch(downloads, ignore)
    assert all(right(each) for each in downloads)
    assert server.sent() == 30_000_000 - kept


async def test_cancel_does_not_wait_for_an_answer_that_does_not_come(
    make: Callable[..., Download], server: IndexServer
) -> None:
    server.fault("/files/*", "ok", delay=3600.0)
    task = asyncio.create_task(HttpFetcher(NetworkPolicy(), PATIENT).fetch([make()], ignore))
    await asyncio.to_thread(arrived, server)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_first_failure_ends_the_call(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    slow, gone = make("slow.whl", 3_000_000), make("gone.whl")
    server.fault("/files/slow.whl", "slow")
    server.fault("/files/gone.whl", "404")
    assert (await failing(fetcher, slow, gone)).arguments["file"] == "gone.whl"
    assert not slow.target.exists()


async def test_an_unknown_total_is_unknown_until_it_is_known(fetcher: HttpFetcher, make: Callable[..., Download]) -> None:
    seen: list[FetchProgress] = []
    download = make(known=False)
    await fetcher.fetch([download], seen.append)
    assert seen[-1].total_bytes == 300_000
    assert right(download)


async def test_a_document_is_read(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, files: Path
) -> None:
    (files / "index.json").write_text('{"a": 1}')
    assert await fetcher.read(f"{server.url}/files/index.json") == b'{"a": 1}'
    with pytest.raises(AmlError, match="AML_NET_NOT_FOUND"):
        await fetcher.read(f"{server.url}/files/none.json")
    server.fault("*", "sign-in")
    with pytest.raises(AmlError, match="AML_NET_SIGN_IN"):
        await fetcher.read(f"{server.url}/files/index.json", accept="application/json")


async def test_a_document_beyond_its_limit_is_refused(fetcher: HttpFetcher, make: Callable[..., Download]) -> None:
    with pytest.raises(AmlError, match="AML_NET_SIZE"):
        await fetcher.read(make().urls[0], limit=1000)


async def test_sizes_are_asked_for_without_bodies(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    urls = [make("a.whl", 1234).urls[0], f"{server.url}/files/none.whl"]
    assert await fetcher.sizes(urls) == [1234, None]
    assert server.sent() == 0


async def test_sizes_are_asked_for_one_after_the_other_by_one_connection(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    urls = [make(f"{number}.whl", 1000 + number).urls[0] for number in range(20)]
    assert await replace(fetcher, threads=1).sizes(urls) == [1000 + number for number in range(20)]
    assert server.connections == 1


async def test_a_size_that_nobody_tells_is_unknown_and_no_failure(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, but nobody listens
        deaf = f"http://127.0.0.1:{closed.getsockname()[1]}/files/b.whl"
        server.fault("/files/c.whl", "503")
        urls = [make("a.whl", 1234).urls[0], deaf, f"{server.url}/files/c.whl"]
        assert await fetcher.sizes(urls) == [1234, None, None]


async def test_the_total_is_known_from_the_start_where_sizes_were_told(
    fetcher: HttpFetcher, make: Callable[..., Download]
) -> None:
    first, second = make("a.whl", 1000), make("b.whl", 2000)
    seen: list[FetchProgress] = []
    told = [replace(first, size=None, told_size=1000), replace(second, size=None, told_size=5)]
    await replace(fetcher, threads=1).fetch(told, seen.append)
    assert seen[-1].total_bytes == 3000  # what comes counts, not what was told
    assert None not in {progress.total_bytes for progress in seen}


async def test_no_file_is_moved_on_the_event_loop(
    fetcher: HttpFetcher, make: Callable[..., Download], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    run = Transfer.run

    def run_and_tell(transfer: Transfer, session: Session, stop: Stop) -> None:
        threads.append(threading.get_ident())
        run(transfer, session, stop)

    monkeypatch.setattr(Transfer, "run", run_and_tell)
    await fetcher.fetch([make(f"f{number}.whl") for number in range(6)], ignore)
    assert len(threads) == 6
    assert threading.get_ident() not in threads


async def test_memory_is_flat(fetcher: HttpFetcher, make: Callable[..., Download]) -> None:
    import tracemalloc

    download = make(size=64 * 1024 * 1024)
    await fetcher.fetch([make("warm.whl")], ignore)
    tracemalloc.start()
    try:
        await fetcher.fetch([download], ignore)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 1024 * 1024
    assert download.target.stat().st_size == download.size


def arrived(server: IndexServer) -> None:
    """Wait until a request has arrived, answered or not."""
    wait_until(lambda: bool(server.requests()))
