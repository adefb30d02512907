"""Fetches files in a process of its own, to be killed, stopped or measured: ``python -m tests.support.fetch_files ORDER``.

ORDER is a file that ``write_order`` made. The process ends with one line of JSON: ``code`` (None where all went well) and
``arguments`` of the error, ``seconds`` of the fetch alone, and ``peak_kib``, the most memory that it ever held (Linux).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amlwizard.core.errors import AmlError
from amlwizard.core.fetching import Download
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from amlwizard.net.session import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amlwizard.core.fetching import FetchProgress


def write_order(file: Path, downloads: Sequence[Download], **limits: float) -> list[str]:
    """Write an order and return the command that carries it out; the limits are those of ``Limits`` that differ."""
    wanted = [
        {"urls": each.urls, "target": str(each.target), "sha256": each.sha256, "size": each.size} for each in downloads
    ]
    file.write_text(json.dumps({"downloads": wanted, "limits": limits}), encoding="utf-8")
    return [sys.executable, "-m", "tests.support.fetch_files", str(file)]


def _read_order(file: Path) -> tuple[list[Download], Limits]:
    order = json.loads(file.read_text(encoding="utf-8"))
    downloads = [
        Download(tuple(each["urls"]), Path(each["target"]), each["sha256"], each["size"]) for each in order["downloads"]
    ]
    return downloads, Limits(**order["limits"])


def _ignore(progress: FetchProgress) -> None:
    """Nobody looks at it."""


def _peak_kib() -> int | None:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return None


def _main(file: Path) -> None:
    downloads, limits = _read_order(file)
    told: dict[str, Any] = {"code": None, "arguments": {}}
    began = time.perf_counter()
    try:
        asyncio.run(HttpFetcher(NetworkPolicy(), limits).fetch(downloads, _ignore))
    except AmlError as error:
        told = {"code": error.code, "arguments": error.arguments}
    told |= {"seconds": time.perf_counter() - began, "peak_kib": _peak_kib()}
    sys.stdout.write(f"{json.dumps(told)}\n")


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
