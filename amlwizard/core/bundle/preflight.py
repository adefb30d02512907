"""Reaches every host that making a bundle needs once, before its long part, as an installation does."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from packaging.pylock import Pylock

from amlwizard.core.bundle.targets import Target, wheels_for
from amlwizard.core.catalogue import message_phrase
from amlwizard.core.errors import AmlError
from amlwizard.core.index_urls import PROXY_SCHEMES
from amlwizard.core.preflight import Address, by_host, of_requirements, reach_and_tell, uv_addresses, uv_failure
from amlwizard.core.python_install import OUT_OF_REACH, described_archives, find_archive
from amlwizard.core.simple_index import project_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.core.bundle.gathering import Source
    from amlwizard.core.context import RunContext
    from amlwizard.core.python_install import PythonArchive

_ARCHIVE: Final = "archive"
"""What is asked for the interpreter; for everything else an address names the step."""


async def preflight_of_bundle(run: RunContext, source: Source) -> None:
    """Reach what the making of a bundle needs, tell how that went, and stop where it cannot go on.

    Raises:
        AmlError: what the step would have raised that needs a host in vain.
    """
    if run.choices.offline:
        return
    stopped = await reach_and_tell(run, by_host(await _addresses(run, source)))
    if stopped is None:
        return
    address, error = stopped
    if address.step == _ARCHIVE and error.code in OUT_OF_REACH:
        raise AmlError("AML_BUNDLE_NO_PYTHON", python=source.target.minor, cause=message_phrase(error))
    raise uv_failure(run, error) if address.step == "install_uv" else error


async def _addresses(run: RunContext, source: Source) -> list[Address]:
    target, with_network = source.target, source.recorded is None
    here = target.platform == run.facts.host.platform
    host = run.facts.host if here else target.host
    stored = partial(described_archives, run.workspace, host=host)
    if not with_network and await asyncio.to_thread(lambda: bool(stored(target.python) or stored(target.minor))):
        return []
    found = list(uv_addresses(run)) if with_network and run.uv is None else []
    listed = (run.choices.python_downloads_json or "").startswith(PROXY_SCHEMES)
    archive = None
    if run.uv is not None or listed:
        with suppress(AmlError):  # the step says what is wrong with the list
            archive = await find_archive(run, target.python, None if here else host)
    if archive is not None and not await asyncio.to_thread(stored, str(archive.version)):
        found.append(Address(archive.url, _ARCHIVE, needed=True))
    elif archive is None and listed:
        found.append(Address(run.choices.python_downloads_json or "", "gather", needed=True))
    if with_network:
        found += await asyncio.to_thread(lambda: list(_of_network(run, target, archive)))
    return found


def _of_network(run: RunContext, target: Target, archive: PythonArchive | None) -> Iterator[Address]:
    """Give the hosts of uv for another platform, and of the packages; blocks for a moment."""
    if target.platform != run.facts.host.platform:
        with suppress(AmlError):
            index = run.index_url()
            yield Address(project_url(index, "uv"), "gather", True, index, "uv")
    content = run.wish.content
    if not isinstance(content, Pylock):
        yield from of_requirements(run, content)
    elif archive is not None:
        exact = Target(target.platform, str(archive.version))
        with suppress(AmlError):  # the step says what is wrong with the lock
            files = wheels_for(content, exact, path=run.wish.folder / "pylock.toml")
            fetched = (file for file in files if file.url and file.sha256 and not run.place(file).is_file())
            yield from (Address(file.url or "", "gather", needed=True) for file in fetched)
