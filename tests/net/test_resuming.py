"""What an interruption leaves is gone on with: after kill -9, a sleep of the machine, a drop-out, and in the next run."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from amlwizard.net.crew import Stop
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from tests.net.conftest import IMPATIENT, QUICK, limits_for
from tests.net.support import closed_port, failing, ignore, partial_size, right, wait_until
from tests.support.fetch_files import write_order
from tests.support.index_server import IndexServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amlwizard.core.fetching import Download
    from amlwizard.net.session import Limits

IN_FLIGHT = 1024 * 1024
"""What may be lost of an open file: it was sent, and nobody was there to write it."""


def started(order: Path, *downloads: Download, **limits: float) -> subprocess.Popen[str]:
    return subprocess.Popen(write_order(order, downloads, **limits), stdout=subprocess.PIPE, text=True)


def outcome(child: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = child.communicate(timeout=60)
    told: dict[str, Any] = json.loads(out)
    return told


async def broken_off(limits: Limits, *downloads: Download) -> None:
    """Make a first run that has one attempt and fails."""
    await failing(HttpFetcher(NetworkPolicy(), replace(limits, attempts=1)), *downloads)


@pytest.mark.posix
async def test_b52_after_kill_9_the_next_run_fetches_only_what_is_missing(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, tmp_path: Path
) -> None:
    downloads = [make(f"f{number}-1-py3-none-any.whl", 3_000_000) for number in range(4)]
    server.fault("/files/*", "slow", rate=4_000_000)
    with started(tmp_path / "order", *downloads) as child:
        wait_until(lambda: all(partial_size(each) > 500_000 for each in downloads))
        child.kill()
    kept = sum(partial_size(each) for each in downloads)
    first = server.sent()
    server.heal()
    server.forget()
    await fetcher.fetch(downloads, ignore)
    assert all(right(each) for each in downloads)
    assert server.sent() == 12_000_000 - kept
    assert first + server.sent() - 12_000_000 <= IN_FLIGHT * len(downloads)


@pytest.mark.posix
@pytest.mark.parametrize("dropped", [True, False])
def test_a_process_that_slept_goes_on(
    make: Callable[..., Download], server: IndexServer, tmp_path: Path, *, dropped: bool
) -> None:
    """The machine's sleep as the process sees it: no time passes for it, and what it was connected to may be gone."""
    download = make(size=4_000_000)
    server.fault("/files/*", "slow", rate=4_000_000)
    with started(tmp_path / "order", download) as child:
        wait_until(lambda: partial_size(download) > 1_100_000)
        process = psutil.Process(child.pid)
        os.kill(child.pid, signal.SIGSTOP)
        wait_until(lambda: process.status() == psutil.STATUS_STOPPED)
        if dropped:
            server.drop_connections()
        server.heal()
        os.kill(child.pid, signal.SIGCONT)
        assert outcome(child)["code"] is None
    assert right(download)
    assert server.sent() <= 4_000_000 + IN_FLIGHT
    assert len(server.requests()) == (2 if dropped else 1)


@pytest.mark.parametrize("returns", [True, False])
async def test_a_network_that_worked_may_be_away_for_a_while(
    make: Callable[..., Download], files: Path, monkeypatch: pytest.MonkeyPatch, *, returns: bool
) -> None:
    """More attempts than are allowed find nobody; they do not count while the drop-out is short."""
    first = IndexServer(files=files).__enter__()
    port = first.port
    download = replace(make(size=3_000_000), urls=(f"{first.url}/files/a-1-py3-none-any.whl",))
    first.fault("/files/*", "truncate", after=2_000_000)
    second: list[IndexServer] = []
    pauses: list[float] = []

    def pause(_stop: Stop, seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 1:
            first.close()
        if len(pauses) == 8:
            second.append(IndexServer(files=files, port=port).__enter__())

    monkeypatch.setattr(Stop, "pause", pause)
    limits = replace(QUICK, pause=1.0, longest_pause=5.0, drop_out=3600.0 if returns else 0.0)
    fetcher = HttpFetcher(NetworkPolicy(), limits)
    if not returns:
        assert (await failing(fetcher, download)).code == "AML_NET_REFUSED"
        assert len(pauses) == QUICK.attempts - 1
        return
    try:
        await fetcher.fetch([download], ignore)
    finally:
        second[0].close()
    assert right(download)
    assert second[0].sent() == 1_000_000
    assert pauses == [1.0, 2.0, 4.0, 5.0, 5.0, 5.0, 5.0, 5.0]


async def test_a_network_that_never_worked_is_not_waited_for(fetcher: HttpFetcher, make: Callable[..., Download]) -> None:
    away = replace(make(), urls=(f"http://127.0.0.1:{closed_port()}/a.whl",))
    patient = replace(fetcher, limits=replace(QUICK, drop_out=3600.0))
    error = await failing(patient, away)
    assert (error.code, error.arguments["attempts"]) == ("AML_NET_REFUSED", QUICK.attempts)


@pytest.mark.parametrize("patient", [True, False])
async def test_b52_a_server_that_is_silent_at_first_gets_more_time(
    make: Callable[..., Download], server: IndexServer, *, patient: bool
) -> None:
    """As a proxy is that scans a large file before it passes the first byte on."""
    download = make()
    server.fault("/files/*", "ok", delay=0.4)
    limits = replace(QUICK, idle=0.1, attempts=6 if patient else 3, longest_idle=3600.0 if patient else 0.1)
    fetcher = HttpFetcher(NetworkPolicy(), limits)
    if patient:
        await fetcher.fetch([download], ignore)
        assert right(download)
        assert len(server.requests()) > 1
    else:
        assert (await failing(fetcher, download)).code == "AML_NET_STALLED"


async def test_b52_finished_files_are_not_fetched_again_after_a_stall(
    make: Callable[..., Download], server: IndexServer
) -> None:
    quick, slow = make("quick.whl", 1_000), make("slow.whl", 3_000_000)
    server.fault("/files/slow.whl", "stall", after=1_500_000)
    one_by_one = HttpFetcher(NetworkPolicy(), replace(IMPATIENT, attempts=1), threads=2)
    wait_for_quick = replace(slow, size=None)  # what has no known size is begun first; the other thread has the small one
    error = await failing(one_by_one, wait_for_quick, quick)
    assert (error.code, error.arguments["file"]) == ("AML_NET_STALLED", "slow.whl")
    assert right(quick)
    server.heal()
    server.forget()
    await HttpFetcher(NetworkPolicy(), QUICK).fetch([slow, quick], ignore)
    assert right(slow)
    assert [(each.path, each.sent) for each in server.requests()] == [("/files/slow.whl", 1_500_000)]


@pytest.mark.parametrize("known", [True, False])
async def test_a_file_that_was_complete_but_for_its_name_is_not_fetched_again(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, *, known: bool
) -> None:
    """Killed between the last byte and the rename; without a size only the server knows that nothing is missing."""
    download = make(size=2_000_000, known=known)
    server.fault("/files/*", "truncate", after=1_500_000, times=1)
    await broken_off(QUICK, download)
    part = download.target.with_name(f"{download.target.name}.part")
    content = (server.files or part.parent) / download.target.name
    part.write_bytes(content.read_bytes())
    server.forget()
    await fetcher.fetch([download], ignore)
    assert right(download)
    assert server.sent() == 0
    assert [each.status for each in server.requests()] == ([] if known else [416])


async def test_an_archive_without_a_known_hash_is_resumed_by_its_validator(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make(size=3_000_000)
    unknown = replace(download, sha256=None, size=None)
    server.fault("/files/*", "truncate", after=2_000_000, times=1)
    await broken_off(QUICK, unknown)
    server.forget()
    await fetcher.fetch([unknown], ignore)
    assert right(download)
    assert [(each.status, each.sent) for each in server.requests()] == [(206, 1_000_000)]


async def test_an_archive_without_a_known_hash_that_has_changed_starts_anew(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    server.fault("/files/*", "truncate", after=2_000_000, times=1)
    await broken_off(QUICK, replace(make(size=3_000_000), sha256=None, size=None))
    changed = make(size=3_000_000)
    server.forget()
    await fetcher.fetch([replace(changed, sha256=None, size=None)], ignore)
    assert right(changed)
    assert [(each.status, each.sent) for each in server.requests()] == [(200, 3_000_000)]


async def test_an_archive_without_a_known_hash_is_not_mixed_from_two_addresses(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer, files: Path
) -> None:
    other = make("other.whl", 3_000_000)
    server.fault("/files/other.whl", "truncate", after=2_000_000, times=1)
    await broken_off(QUICK, replace(other, sha256=None, size=None))
    same_name = replace(make("new.whl", 3_000_000), target=other.target)
    server.forget()
    await fetcher.fetch([replace(same_name, sha256=None, size=None)], ignore)
    assert right(same_name)
    assert [each.range for each in server.requests()] == [None]


async def test_without_ranges_the_next_run_starts_anew(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make(size=3_000_000)
    server.fault("/files/*", "truncate", after=2_000_000, ranges=False, times=1)
    await broken_off(QUICK, download)
    server.forget()
    server.fault("/files/*", "no-ranges")
    await fetcher.fetch([download], ignore)
    assert right(download)
    assert [(each.status, each.sent) for each in server.requests()] == [(200, 3_000_000)]


async def test_a_server_that_gives_less_than_was_asked_for_is_asked_again(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make(size=9_000_000)
    server.fault("/files/*", "ok", most=2_000_000)
    server.fault("/files/*", "truncate", after=1_500_000, times=1)
    await fetcher.fetch([download], ignore)
    assert right(download)
    assert server.sent() == 9_000_000


@pytest.mark.parametrize("fault", ["truncate", "reset", "stall"])
async def test_a_body_of_untold_length_is_resumed(make: Callable[..., Download], server: IndexServer, fault: str) -> None:
    download = make(size=3_000_000, known=False)
    server.fault("/files/*", fault, after=2_000_000, length=False, times=1)
    await HttpFetcher(NetworkPolicy(), limits_for(fault)).fetch([download], ignore)
    assert right(download)
    assert server.requests()[-1].sent == 3_000_000 - int((server.requests()[-1].range or "=0-").split("=")[1][:-1])


async def test_what_one_address_began_another_one_ends(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make(size=3_000_000)
    with IndexServer(files=server.files) as mirror:
        server.fault("/files/*", "reset", after=2_000_000)
        urls = (*download.urls, f"{mirror.url}/files/{download.target.name}")
        await fetcher.fetch([replace(download, urls=urls)], ignore)
        assert right(download)
        (request,) = mirror.requests()
        assert request.sent < 3_000_000
        assert request.range == f"bytes={3_000_000 - request.sent}-"
        assert "if-range" not in request.headers  # the validator is that of the other server


@pytest.mark.parametrize("fault", ["truncate", "reset", "stall", "corrupt", "403", "404", "auth", "sign-in", "429", "503"])
async def test_a_good_address_makes_up_for_a_bad_one(
    make: Callable[..., Download], server: IndexServer, fault: str
) -> None:
    download = make()
    with IndexServer(files=server.files) as mirror:
        server.fault("/files/*", fault, times=None)
        urls = (*download.urls, f"{mirror.url}/files/{download.target.name}")
        await HttpFetcher(NetworkPolicy(), limits_for(fault)).fetch([replace(download, urls=urls)], ignore)
        assert right(download)
        assert len(server.requests()) == 1


async def test_where_no_address_works_the_last_one_is_named(
    fetcher: HttpFetcher, make: Callable[..., Download], server: IndexServer
) -> None:
    download = make()
    with IndexServer() as mirror:
        server.fault("/files/*", "503", times=None, headers=())
        urls = (*download.urls, f"{mirror.url}/files/{download.target.name}")
        error = await failing(fetcher, replace(download, urls=urls))
        assert len(mirror.requests()) == 1  # what is not there is asked for once
        assert len(server.requests()) == QUICK.attempts
    assert (error.code, error.arguments["host"]) == ("AML_NET_BUSY", f"127.0.0.1:{server.port}")


async def test_b48_the_note_for_the_next_run_holds_no_address(make: Callable[..., Download], server: IndexServer) -> None:
    download = make(size=3_000_000)
    signed = replace(download, urls=(f"{download.urls[0]}?token=s3cr3tTOK",))
    server.fault("/files/*", "truncate", after=2_000_000, times=1)
    await broken_off(QUICK, signed)
    note = download.target.with_name(f"{download.target.name}.resume.part").read_text()
    assert "s3cr3tTOK" not in note
    assert json.loads(note)["address"] == hashlib.sha256(signed.urls[0].encode()).hexdigest()
