"""Reaches every host that a run needs once, all at the same time, before the long part: nobody waits for what must fail.

Only a failure that is sure to stop the run stops it here, with the error that its step would have ended with. What the run
may do without, what may pass, and what only the resolver can judge is told, and the run goes on.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from packaging.pylock import Pylock

from amlwizard.core.catalogue import Phrase, error_texts, text
from amlwizard.core.choices import UvMethod
from amlwizard.core.detection.bundled import find_bundled_uv, uv_at_hand
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.events import LogEvent
from amlwizard.core.index_check import index_error, indexes
from amlwizard.core.index_urls import PROXY_SCHEMES, split_url
from amlwizard.core.plan import STEP_IDS
from amlwizard.core.python_install import described_archives, find_archive, of_archive, wanted_version
from amlwizard.core.simple_index import ACCEPT, parse_project_page, project_url
from amlwizard.core.storing import wanted_files
from amlwizard.core.urls import without_credentials
from amlwizard.core.uv_install import installer_url, way_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amlwizard.core.context import RunContext
    from amlwizard.core.fetching import Fetcher
    from amlwizard.core.requirements import RequirementsClosure

SECONDS: Final = 20.0
"""The limit for all hosts together; longer than that for one connection."""
_ACCEPT: Final = f"{ACCEPT}, */*;q=0.005"
_PAGE: Final = "application/vnd.pypi.simple.v1+html, text/html;q=0.9"
"""The form in which the beginning of a page tells something."""
_PASSING: Final = frozenset(
    f"AML_{name}" for name in ("NET_STALLED", "NET_RESET", "NET_BUSY", "NET_SERVER", "NET_URL", "NET_REDIRECTS")
)
"""What may be over by the time of the step, or does not hold for uv.

A proxy may be silent while it scans a file; an index that is, for longer than this takes, would be waited for in vain.
"""
_NO_HTTP: Final = Phrase("net.no_http")
"""Whatever answers like that is another server, now and later."""
_SIGN_INS: Final = frozenset(
    f"AML_{kind}" for kind in ("NET_UNAUTHORIZED", "NET_PROXY_AUTH", "INDEX_UNAUTHORIZED", "INDEX_PROXY_AUTH")
)
"""What a login helps against."""


@dataclass(frozen=True)
class Address:
    """What is asked of one host. ``step`` is the first that asks it; ``needed`` tells that this cannot do without.

    ``index`` is the address of an index, empty for a file; ``package`` what is asked of it, empty for its list.
    """

    url: str
    step: str
    needed: bool = False
    index: str = ""
    package: str = ""

    @property
    def host(self) -> str:
        """The host as it is shown, with its port where the address names one."""
        return urlsplit(self.url).netloc


@dataclass(frozen=True)
class Reached:
    """How one host was reached: by which proxy, if any, and what is wrong with it, if anything. ``stops`` ends a run."""

    address: Address
    proxy: str | None
    error: AmlError | None
    stops: bool = False

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.address.url)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def way(self) -> Phrase:
        """By which way, in words."""
        return Phrase("diagnose.way_proxy", {"proxy": self.proxy}) if self.proxy else Phrase("diagnose.way_direct")

    def result(self, language: str) -> str:
        """What came of it, in words."""
        return error_texts(self.error, language)[0] if self.error is not None else text("preflight.fine", language)

    def line(self, language: str) -> str:
        """The whole of it in one line."""
        return text("preflight.host", language, host=self.address.host, way=self.way, result=self.result(language))

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        host, port = self.place
        code = self.error.code if self.error is not None else ""
        return {"host": host, "port": port, "proxy": self.proxy, "code": code, "result": self.result("en")}


async def preflight(run: RunContext) -> None:
    """Reach what the plan needs, tell how that went, and stop where it cannot go on.

    Raises:
        AmlError: what the step would have raised that needs a host in vain.
    """
    if run.choices.offline or run.wish.bundle is not None:
        return
    last = STEP_IDS.index(run.choices.until or STEP_IDS[-1])
    wanted = [each for each in await addresses(run) if STEP_IDS.index(each.step) <= last]
    stopped = await reach_and_tell(run, wanted)
    if stopped is not None:
        raise _as_in_step(run, *stopped)


async def reach_and_tell(run: RunContext, wanted: Sequence[Address]) -> tuple[Address, AmlError] | None:
    """Reach hosts and tell how that went; return the first without which a run cannot go on, and what is wrong with it."""
    needed, others = ([each for each in wanted if each.needed is sure] for sure in (True, False))
    both = await asyncio.gather(reach(run.fetcher, needed), reach(run.fetcher, others, attempts=1))
    checked = [*both[0], *both[1]]
    for each in checked:
        run.emit(LogEvent("", each.line(run.language), remark=each.error is not None and not each.stops))
    stopping = [(each.address, each.error) for each in checked if each.stops and each.error is not None]
    if any(error.code in _SIGN_INS for _, error in stopping):
        problem = await asyncio.to_thread(run.fetcher.kept_problem)
        if problem is not None:
            run.emit(LogEvent("", text("logins.asked_in_vain", run.language, reason=problem), remark=True))
    return next(iter(stopping), None)


async def addresses(run: RunContext) -> list[Address]:
    """Return what the plan needs of the network, an address for each host."""
    found = [*uv_addresses(run), *await python_addresses(run), *await asyncio.to_thread(lambda: list(_of_packages(run)))]
    return by_host(found)


def by_host(wanted: Sequence[Address]) -> list[Address]:
    """Return one address for each host; of several the one that is needed."""
    found: dict[str, Address] = {}
    for each in wanted:
        with suppress(RefusedError):  # a file, or what the step itself says is wrong
            split = split_url(each.url, "", PROXY_SCHEMES)
            known = found.get(split.origin)
            if "$" not in split.origin and (known is None or (each.needed and not known.needed)):
                found[split.origin] = replace(each, url=split.clean)
    return list(found.values())


async def reach(fetcher: Fetcher, wanted: Sequence[Address], attempts: int | None = None) -> list[Reached]:
    """Reach hosts, all at once."""
    if not wanted:
        return []

    async def ask(urls: Sequence[str]) -> list[AmlError | bytes]:
        return await fetcher.reach(urls, accept=_ACCEPT, seconds=SECONDS, attempts=attempts)

    answers = await ask([each.url for each in wanted])
    lacking = [
        number
        for number, answer in enumerate(answers)
        if wanted[number].package and isinstance(answer, AmlError) and answer.code == "AML_NET_NOT_FOUND"
    ]
    if lacking:  # an index without the package is one all the same
        lists = await ask([f"{wanted[number].index.rstrip('/')}/" for number in lacking])
        for number, answer in zip(lacking, lists, strict=True):
            if not isinstance(answer, AmlError) or answer.code != "AML_NET_NOT_FOUND":
                answers[number] = b""
    pairs = zip(wanted, answers, strict=True)
    return [await asyncio.to_thread(_judged, address, answer, fetcher.proxy_for(address.url)) for address, answer in pairs]


async def file_addresses(fetcher: Fetcher, wanted: Sequence[Address], seconds: float = SECONDS) -> list[Address]:
    """Return where the pages of indexes lead for their files, one address for each host: it is often another one.

    An index that does not answer leads nowhere.
    """
    pages = [each for each in wanted if each.package]
    answers = await fetcher.reach([each.url for each in pages], accept=_PAGE, seconds=seconds, attempts=1) if pages else ()
    found = [Address(url, "fetch") for page, answer in zip(pages, answers, strict=True) for url in _links(page, answer)]
    return by_host(found)


def _links(page: Address, answer: AmlError | bytes) -> list[str]:
    if isinstance(answer, AmlError):
        return []
    try:
        return [file.url for file in parse_project_page(answer, page.url)]
    except ValueError:  # no page of an index, or one that is not made for browsers
        return []


def _judged(address: Address, answer: AmlError | bytes, proxy: str | None) -> Reached:
    error = answer if isinstance(answer, AmlError) else _of_page(address, answer)
    if error is None:
        return Reached(address, proxy, None)
    passing = error.code in _PASSING and error.arguments.get("reason") != _NO_HTTP
    if address.index:
        # that an index lacks a package is for the resolver to judge
        passing = (passing and error.code != "AML_NET_STALLED") or error.code == "AML_NET_NOT_FOUND"
        error = index_error(error, address.index, address.package)
    return Reached(address, proxy, error, stops=address.needed and not passing)


def _of_page(address: Address, page: bytes) -> AmlError | None:
    """Return what is wrong with a web page in the place of what was asked for."""
    host, url = address.host, address.url
    if address.package:
        try:
            parse_project_page(page or b"<a>", url)
        except ValueError:
            return AmlError("AML_NET_NOT_AN_INDEX", host=host, url=url)
    elif not address.index and page.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return AmlError("AML_NET_SIGN_IN", host=host, file=urlsplit(url).path.rpartition("/")[2])
    return None


def _as_in_step(run: RunContext, address: Address, error: AmlError) -> AmlError:
    """Return the error that the step would end with."""
    if address.step == "install_uv":
        return uv_failure(run, error)
    return of_archive(error, wanted_version(run)) if address.step == "install_python" else error


def uv_failure(run: RunContext, error: AmlError) -> AmlError:
    """Return the error that the step for uv would end with."""
    method = UvMethod.INDEX if run.choices.uv_method is UvMethod.AUTO else run.choices.uv_method
    return AmlError("AML_UV_INSTALL_FAILED", ways=way_text(method, error, run.language))


def uv_addresses(run: RunContext) -> Iterator[Address]:
    """Give what is asked for uv, unless that is there; a run without it is possible where pip is."""
    method, python = run.choices.uv_method, run.python
    if run.facts.uv is not None:
        return
    if method is UvMethod.SCRIPT:
        yield Address(installer_url(run), "install_uv", needed=True)
    elif method in (UvMethod.INDEX, UvMethod.PIP_TARGET) or (method is UvMethod.AUTO and find_bundled_uv() is None):
        needed = method is not UvMethod.AUTO or python is None or not python.has_ensurepip
        with suppress(AmlError):
            index = run.index_url()
            yield Address(project_url(index, "uv"), "install_uv", needed, index, "uv")


async def python_addresses(run: RunContext) -> list[Address]:
    """Return where the list of interpreters and the archive come from, unless the store holds an archive."""
    wanted, uv = wanted_version(run), uv_at_hand(run.facts)
    if run.python is not None:
        return []
    if await asyncio.to_thread(described_archives, run.workspace, wanted, run.facts.host):
        return []
    named = run.choices.python_downloads_json or ""
    url = named if named.startswith(PROXY_SCHEMES) else ""  # what it names is asked for as soon as it has been read
    if not url and (named or uv is not None):
        with suppress(AmlError):  # the step says what is wrong with the list
            archive = await find_archive(replace(run, uv=uv), wanted)
            url = archive.url if archive is not None else ""
    return [Address(url, "install_python", needed=True)]


def _of_packages(run: RunContext) -> Iterator[Address]:
    """Give the hosts of the files that the store lacks, or the indexes and pages where packages are still to be chosen."""
    content, missing = run.wish.content, run.missing
    if missing is None and isinstance(content, Pylock):
        missing = []
        if run.python is not None and not run.wish.added:
            with suppress(AmlError):  # the step says what is wrong with the lock
                missing = [file for file in wanted_files(run, content).files if not run.place(file).is_file()]
    if missing is not None:
        fetched = (file for file in missing if file.url and file.sha256 and not file.is_at_hand)
        yield from (Address(file.url or "", "fetch", needed=True) for file in fetched)
    elif not isinstance(content, Pylock):
        yield from of_requirements(run, content)


def of_requirements(run: RunContext, content: RequirementsClosure) -> Iterator[Address]:
    """Give the indexes and pages where the packages of a requirements file are to be chosen."""
    places = list(dict.fromkeys(indexes(run, content)))
    of_file = (option.value for option in content.options if option.name == "--find-links")
    pages = [*run.choices.find_links, *of_file]
    sure = (entry.name for entry in content.requirements if entry.name and not entry.url and not entry.marker)
    package = next(sure, "")
    # what was added by hand comes from the store where there is no network
    needed = len(places) == 1 and not pages and package != "" and not run.wish.added
    for index in places:
        url = project_url(index, package) if package else f"{index.rstrip('/')}/"
        yield Address(url, "resolve", needed, index, package)
    yield from (Address(place, "resolve", index=place) for place in map(without_credentials, pages))
