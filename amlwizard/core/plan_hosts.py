"""Which hosts a plan reaches: nothing is named that lies on this computer, or that nobody is going to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.pylock import Pylock

from amlwizard.core.index_check import indexes
from amlwizard.core.preflight import python_addresses, uv_addresses
from amlwizard.core.urls import host_of, is_remote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from amlwizard.core.context import RunContext
    from amlwizard.core.plan import Work
    from amlwizard.core.requirements import RequirementsClosure


async def tool_hosts(run: RunContext, work: Work) -> tuple[str, ...]:
    """Return the hosts of uv and of the interpreter, as far as they are to be installed."""
    uv = uv_addresses(run) if work.install_uv else ()
    python = await python_addresses(run) if work.install_python else ()
    return distinct_hosts(address.url for address in (*uv, *python))


def package_hosts(run: RunContext) -> tuple[str, ...]:
    """Return the hosts that are asked for packages where those are still to be chosen, or some may be."""
    content = run.wish.content
    if not isinstance(content, Pylock):
        return distinct_hosts([*indexes(run, content), *_pages(run, content), *_direct(content)])
    chosen = run.choices
    indexed = [chosen.index_url or run.default_index or "", *chosen.extra_index_urls, *chosen.find_links]
    return distinct_hosts([*_of_lock(content), *(indexed if run.wish.added else ())])


def distinct_hosts(urls: Iterable[str | None]) -> tuple[str, ...]:
    """Return the hosts of addresses, each once, with the port where an address names one; files have none."""
    return tuple(dict.fromkeys(host for host in map(_host, urls) if host))


def _pages(run: RunContext, content: RequirementsClosure) -> Iterator[str]:
    yield from run.choices.find_links
    yield from (option.value for option in content.options if option.name == "--find-links")


def _direct(content: RequirementsClosure) -> Iterator[str | None]:
    yield from (entry.url for entry in content.requirements)


def _of_lock(lock: Pylock) -> Iterator[str | None]:
    for package in lock.packages:
        sources = (*(package.wheels or ()), package.sdist, package.archive, package.vcs)
        yield from (source.url for source in sources if source is not None)


def _host(url: str | None) -> str:
    host = host_of(url) if url is not None and is_remote(url) else ""  # whoever asks what is no address says so
    return "" if "$" in host else host
