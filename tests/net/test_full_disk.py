"""A disk that is full, really: a small file system in memory."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.fetch_files import write_order
from tests.support.namespaces import SmallFileSystem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amlwizard.core.fetching import Download
    from tests.support.index_server import IndexServer
    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.linux
ROOM = 1024 * 1024
PAGE = 4096


def fetched(
    circumstances: type[Circumstances], tmp_path: Path, download: Download, then: str = ""
) -> tuple[list[dict[str, Any]], str]:
    """Fetch a file to a file system of a megabyte, do something there, and fetch it again where that was asked for.

    Returns:
        What each fetch told, and the files that are there in the end, with their sizes.
    """
    folder = download.target.parent
    folder.mkdir()
    fetch = shlex.join(write_order(tmp_path / "order", [download]))
    again = f"{then}; {fetch}" if then else ""
    listing = f"find {shlex.quote(str(folder))} -type f -printf '%f %s\\n' | sort"
    command = circumstances(file_systems=[SmallFileSystem(folder, ROOM)]).command(
        ["/bin/sh", "-ec", f"{fetch}; {again}\necho ---; {listing}"]
    )
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told, _, left = done.stdout.partition("---\n")
    return [json.loads(line) for line in told.splitlines()], left


@pytest.mark.parametrize("beyond", [1, 100, PAGE, 700_000])
def test_a_full_disk_is_named_and_nothing_cut_off_is_kept_as_the_file(
    circumstances: type[Circumstances], make: Callable[..., Download], tmp_path: Path, beyond: int
) -> None:
    """The last piece may fit in part: the system then writes what fits, and says how much that was without an error."""
    download = make(size=ROOM + beyond)
    (told,), left = fetched(circumstances, tmp_path, download)
    assert told["code"] == "AML_DISK_FULL"
    assert told["arguments"]["file"] == download.target.name
    assert told["arguments"]["path"] == str(download.target.parent)
    assert [line.split()[0] for line in left.splitlines()] == [
        f"{download.target.name}{end}" for end in (".part", ".resume.part")
    ]


def test_a_file_that_just_fits_is_whole(
    circumstances: type[Circumstances], make: Callable[..., Download], tmp_path: Path
) -> None:
    download = make(size=ROOM)
    (told,), left = fetched(circumstances, tmp_path, download)
    assert (told["code"], left) == (None, f"{download.target.name} {ROOM}\n")


def test_when_there_is_room_again_what_had_arrived_is_not_fetched_again(
    circumstances: type[Circumstances], make: Callable[..., Download], server: IndexServer, tmp_path: Path
) -> None:
    download = make(size=3_000_000)
    more = f"mount -o remount,size=8m {shlex.quote(str(download.target.parent))}"
    (first, second), left = fetched(circumstances, tmp_path, download, more)
    assert (first["code"], second["code"]) == ("AML_DISK_FULL", None)
    assert left == f"{download.target.name} 3000000\n"
    last = server.requests()[-1]
    assert last.range == f"bytes={3_000_000 - last.sent}-"
    assert last.sent == 3_000_000 - (ROOM - PAGE)
