"""An interpreter archive whose hash uv alone knows: later runs go on with it, and it is kept when uv has found it right."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import url2pathname

import pytest

from amlwizard.core.catalogue import error_texts
from amlwizard.core.choices import Choices
from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.errors import AmlError
from amlwizard.core.python_install import PythonArchive, find_archive, install_python, keep_archive
from amlwizard.core.unchecked_archives import fetch_for_uv
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from amlwizard.net.session import Limits
from tests.support.index_server import IndexServer
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.core.context import RunContext

SIZE = 3_000_000


def begun(folder: Path, name: str, **choices: str) -> RunContext:
    """Return a run with a temporary folder of its own, which makes one attempt at anything."""
    wish = Choices(folder / "aml", requirements=folder / "requirements.txt", **choices)  # type: ignore[arg-type]
    run = new_run(wish, folder / name, uv=find_bundled_uv())
    run.fetcher = HttpFetcher(NetworkPolicy(), Limits(attempts=1))
    return run


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IndexServer]:
    (tmp_path / "requirements.txt").write_text("tinya\n")
    (tmp_path / "served").mkdir()
    with IndexServer(files=tmp_path / "served") as serving:
        yield serving


async def offered(run: RunContext, server: IndexServer) -> PythonArchive:
    """Return an archive of uv's own list, with another content and on another host than the real one."""
    named = await find_archive(run, "3.12")
    assert named is not None
    assert named.sha256 is None
    file = run.workspace.root.parent / "served" / named.build / named.filename
    file.parent.mkdir()
    file.write_bytes(os.urandom(SIZE))
    return replace(named, url=f"{server.url}/files/{named.build}/{named.filename.replace('+', '%2B')}")


def look_at(archive: PythonArchive, mirror: str) -> tuple[str, ...]:
    """Return a command that accepts an archive which lies where uv would look for it."""
    place = Path(url2pathname(mirror.removeprefix("file://"))) / archive.build / archive.filename
    return (sys.executable, "-c", f"import os, sys; sys.exit(os.path.getsize({str(place)!r}) != {SIZE})")


async def test_the_next_run_goes_on_with_it(server: IndexServer, tmp_path: Path) -> None:
    first, second = begun(tmp_path, "first"), begun(tmp_path, "second")
    archive = await offered(first, server)
    server.fault("/files/*", "truncate", after=2_000_000, times=1)
    with pytest.raises(AmlError, match="AML_NET_RESET"):
        await fetch_for_uv(first, archive, lambda mirror: look_at(archive, mirror))
    server.forget()
    file = await fetch_for_uv(second, archive, lambda mirror: look_at(archive, mirror))
    keep_archive(second.workspace, replace(archive, entry=None), file)
    assert [(each.status, each.sent) for each in server.requests()] == [(206, SIZE - 2_000_000)]
    stored = second.workspace.downloads / archive.filename
    assert list(second.workspace.downloads.rglob("*")) == [stored]
    assert stored.read_bytes() == (tmp_path / "served" / archive.build / archive.filename).read_bytes()


async def test_what_was_fetched_and_not_yet_looked_at_is_not_fetched_again(server: IndexServer, tmp_path: Path) -> None:
    first, second = begun(tmp_path, "first"), begun(tmp_path, "second")
    archive = await offered(first, server)
    full = (sys.executable, "-c", "raise SystemExit('error: No space left on device (os error 28)')")
    with pytest.raises(AmlError, match="AML_NO_SPACE"):
        await fetch_for_uv(first, archive, lambda _: full)
    await fetch_for_uv(second, archive, lambda mirror: look_at(archive, mirror))
    assert len(server.requests()) == 1


async def test_b54_one_that_uv_refuses_is_fetched_anew_once_and_not_kept(server: IndexServer, tmp_path: Path) -> None:
    run = begun(tmp_path, "run")
    archive = await offered(run, server)
    uv = run.uv_cli()
    with pytest.raises(AmlError) as caught:
        await fetch_for_uv(run, archive, lambda mirror: uv.python_install(str(archive.version), mirror=mirror))
    assert caught.value.code == "AML_UV_PYTHON_FAILED"  # it is not even an archive
    assert "extract" in str(caught.value.arguments["cause"])
    assert [each.sent for each in server.requests()] == [SIZE, SIZE]
    assert not list(run.workspace.downloads.iterdir())
    assert not list(run.workspace.interpreters.glob("cpython-*"))


async def test_b47_a_list_of_downloads_out_of_reach_is_named_with_the_ways_around_it(
    server: IndexServer, tmp_path: Path
) -> None:
    address = f"{server.url}/list.json"
    host = f"127.0.0.1:{server.port}"
    server.close()
    run = begun(tmp_path, "run", python_downloads_json=address)
    with pytest.raises(AmlError, match="AML_PYTHON_UNREACHABLE") as caught:
        await install_python(run, "3.12")
    message, hint = error_texts(caught.value, "en")
    assert host in message
    assert "list.json" in message
    assert "--python PATH" in hint
