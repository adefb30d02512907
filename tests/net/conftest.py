"""A folder of files behind a real server, and a fetcher with short limits."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.fetching import Download
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from amlwizard.net.session import Limits
from tests.support.certificates import Authority
from tests.support.index_server import IndexServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

QUICK = Limits(attempts=3, pause=0.01, longest_pause=0.02, longest_retry_after=0.5, drop_out=0.0)
IMPATIENT = replace(QUICK, idle=1.5 if os.name == "nt" else 0.3)  # an answer takes longer there, under Wine above all
"""For servers that fall silent, and for no others: a server whose machine is busy is silent for a while as well."""


def limits_for(fault: str) -> Limits:
    """Return the limits for a server with a fault."""
    return IMPATIENT if fault == "stall" else QUICK


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "served"
    folder.mkdir()
    return folder


@pytest.fixture
def server(files: Path) -> Iterator[IndexServer]:
    with IndexServer(files=files) as serving:
        yield serving


@pytest.fixture
def fetcher() -> HttpFetcher:
    return HttpFetcher(NetworkPolicy(), QUICK)


@pytest.fixture
def make(files: Path, server: IndexServer, tmp_path: Path) -> Callable[..., Download]:
    """Make a file on the server and return its download."""

    def make_download(name: str = "a-1-py3-none-any.whl", size: int = 300_000, *, known: bool = True) -> Download:
        content = os.urandom(size)
        (files / name).write_bytes(content)
        url = f"{server.url}/files/{name}"
        sha256 = hashlib.sha256(content).hexdigest()
        return Download((url,), tmp_path / "downloads" / name, sha256, size if known else None)

    return make_download


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))
