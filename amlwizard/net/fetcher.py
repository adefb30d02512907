"""``HttpFetcher``: core's ``Fetcher`` by a small crew of threads (DESIGN 3.6)."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import AmlError
from amlwizard.core.plain_files import open_plain
from amlwizard.core.records import sync_folder
from amlwizard.core.urls import file_name_of, host_of, local_path
from amlwizard.net.crew import Stop, work
from amlwizard.net.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import urllib3

    from amlwizard.core.fetching import Download, FetchProgress, OnProgress
    from amlwizard.net.policy import NetworkPolicy
    from amlwizard.net.session import Limits, Session

_T = TypeVar("_T")
THREADS = 8
_MOST_AT_ONCE = 32
"""Hosts that are reached at once; a lock names two or three."""


@dataclass
class HttpFetcher:
    """Fetches over http and https, and copies from file addresses. urllib3 is loaded by the first call, in a thread."""

    policy: NetworkPolicy
    limits: Limits | None = None
    threads: int = field(default=THREADS)
    _kept: list[Session] = field(default_factory=list, init=False, repr=False, compare=False)
    """Sessions that have reached hosts, with connections that the next calls go on with."""

    def proxy_for(self, url: str) -> str | None:
        """Return host and port of the proxy by which this fetcher and its children reach an address; None without one."""
        proxy = self.policy.proxy_for(url)
        return host_of(proxy) if proxy else None

    def kept_logins(self) -> Mapping[str, tuple[str, str]]:
        """Return what the system's keyring gave; see ``Fetcher.kept_logins``."""
        return self.policy.kept_logins()

    def kept_problem(self) -> Phrase | None:
        """Return why the keyring was asked in vain; see ``Fetcher.kept_problem``."""
        return self.policy.kept_problem()

    def child_environment(self, parent: Mapping[str, str]) -> dict[str, str]:
        """Return a parent's environment with this policy's proxy and certificates; see ``Fetcher.child_environment``."""
        from amlwizard.net.policy import GOVERNED_VARIABLES

        kept = {name: value for name, value in parent.items() if name not in GOVERNED_VARIABLES}
        return kept | self.policy.child_variables()

    def learn_logins(self, logins: Mapping[str, tuple[str, str]]) -> None:
        """Take over user names and passwords; see ``Fetcher.learn_logins``."""
        known = self.policy.credentials
        learnt = {**logins, **known}
        if learnt == known:
            return
        places = {origin: Phrase("logins.requirements") for origin in learnt.keys() - known.keys()}
        self.policy = replace(self.policy, credentials=learnt, login_places={**self.policy.login_places, **places})
        while self._kept:  # they know the old ones alone
            self._kept.pop().close()

    async def fetch(self, downloads: Sequence[Download], on_progress: OnProgress) -> None:
        """Fetch all files; see ``Fetcher.fetch``."""
        wanted = list({each.target: each for each in downloads}.values())
        if not wanted:
            return
        meter = Meter(wanted)
        # from the largest to the smallest, and the crew begins at both ends: no large one is left for the end, and what is
        # done with files that have come (see BuildAhead) soon has many of them
        order = sorted(range(len(wanted)), key=lambda number: -(wanted[number].size or 1 << 62))

        def job(number: int, session: Session, stop: Stop) -> None:
            from amlwizard.net.transfer import Transfer

            Transfer(wanted[number], number, meter, self._limits(), offline=self.policy.offline).run(session, stop)

        last: list[FetchProgress] = []

        def tick() -> None:
            progress = meter.progress()
            if last[-1:] != [progress]:
                last[:] = [progress]
                on_progress(progress)

        await self._work([partial(job, number) for number in order], tick)
        for folder in {each.target.parent for each in wanted}:
            await asyncio.to_thread(sync_folder, folder)

    async def read(self, url: str, *, accept: str = "*/*", limit: int = 32 * 1024 * 1024) -> bytes:
        """Return a small document; see ``Fetcher.read``."""
        found: list[bytes] = []

        def job(session: Session, stop: Stop) -> None:
            if urlsplit(url).scheme == "file":
                found.append(_read_file(url, limit))
                return
            self._refuse_offline(url)
            found.append(self._persist(url, stop, lambda: _read(url, accept, limit, session, stop)))

        await self._work([job])
        return found[0]

    async def sizes(self, urls: Sequence[str]) -> list[int | None]:
        """Return sizes by HEAD; see ``Fetcher.sizes``. Nothing is tried twice, and a silent host is not asked again."""
        found: list[int | None] = [None] * len(urls)
        silent: set[str] = set()

        def job(number: int, session: Session, stop: Stop) -> None:
            from amlwizard.net.failures import AttemptError

            url = urls[number]
            if urlsplit(url).scheme == "file":
                path = local_path(url)
                found[number] = path.stat().st_size if path.is_file() else None
                return
            if self.policy.offline or urlsplit(url).netloc in silent:
                return

            try:
                found[number] = _size(url, session, stop)
            except AttemptError as failed:
                if failed.error.code not in _ANSWERS:
                    silent.add(urlsplit(url).netloc)
            except AmlError:
                silent.add(urlsplit(url).netloc)  # the fetch itself says what is wrong

        if urls:
            await self._work([partial(job, number) for number in range(len(urls))])
        return found

    async def reach(
        self, urls: Sequence[str], *, accept: str, seconds: float, attempts: int | None = None
    ) -> list[AmlError | bytes]:
        """Reach all hosts at once; see ``Fetcher.reach``."""
        found: list[AmlError | bytes] = [AmlError("AML_NET_STALLED", host=host_of(url)) for url in urls]

        def job(number: int, session: Session, stop: Stop) -> None:
            from amlwizard.net.failures import AttemptError

            def attempt() -> bytes:
                try:
                    return _beginning(urls[number], accept, session, stop)
                except AttemptError as failed:
                    found[number] = failed.error  # all that is known where the time is over before the next one
                    raise

            try:
                found[number] = self._persist(urls[number], stop, attempt, attempts)
            except AmlError as error:
                found[number] = error

        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                jobs = [partial(job, number) for number in range(len(urls))]
                await self._work(jobs, threads=min(len(urls), _MOST_AT_ONCE), leave=self._kept.append)
        for url, answer in zip(urls, found, strict=True):
            if isinstance(answer, AmlError):
                told = {"file": file_name_of(url), "attempts": 1, "seconds": round(seconds)}
                answer.arguments = told | answer.arguments
        return list(found)

    async def _work(
        self,
        jobs: Sequence[Callable[[Session, Stop], None]],
        tick: Callable[[], None] | None = None,
        *,
        threads: int | None = None,
        leave: Callable[[Session], None] | None = None,
    ) -> None:
        def make_session() -> Session:
            from amlwizard.net.session import Session

            try:
                return self._kept.pop()
            except IndexError:
                return Session(self.policy, self._limits())

        await work(jobs, make_session, threads or self.threads, tick, leave)

    def _limits(self) -> Limits:
        if self.limits is None:
            from amlwizard.net.session import Limits

            self.limits = Limits()
        return self.limits

    def _refuse_offline(self, url: str) -> None:
        if self.policy.offline:
            raise AmlError("AML_OFFLINE", file=file_name_of(url))

    def _persist(self, url: str, stop: Stop, attempt: Callable[[], _T], attempts: int | None = None) -> _T:
        """Repeat an attempt with growing pauses while its failure may pass."""
        from amlwizard.net.failures import AttemptError

        limits = self._limits()
        most = limits.attempts if attempts is None else attempts
        began, tries = time.monotonic(), 0
        while True:
            tries += 1
            try:
                return attempt()
            except AttemptError as failed:
                asked = failed.retry_after or 0.0
                if not failed.transient or tries >= most or asked > limits.longest_retry_after:
                    seconds = round(time.monotonic() - began)
                    failed.error.arguments.update(file=file_name_of(url), attempts=tries, seconds=seconds)
                    raise failed.error from failed
                stop.pause(max(asked, min(limits.longest_pause, limits.pause * 2 ** (tries - 1))))


def _read_file(url: str, limit: int) -> bytes:
    path = local_path(url)
    try:
        with open_plain(path) as stream:
            body = stream.read(limit + 1)
    except OSError as error:
        raise AmlError("AML_NET_LOCAL", host="", file=path.name, path=str(path), reason=error.strerror or "") from error
    if len(body) > limit:
        raise AmlError("AML_NET_SIZE", host=str(path.parent), file=path.name, expected=limit, actual=len(body))
    return body


def _read(url: str, accept: str, limit: int, session: Session, stop: Stop) -> bytes:
    from amlwizard.net.failures import failure

    with stop.waiting():
        response, place = session.open("GET", url, {"Accept": accept, "Accept-Encoding": "gzip"}, secure_only=True)
    body = bytearray()
    try:
        if "json" in accept and "html" not in accept and "html" in response.headers.get("Content-Type", "").lower():
            raise failure("AML_NET_SIGN_IN", url)
        while piece := session.read(response, 65536, place, decode=True):
            stop.check()
            body += piece
            if len(body) > limit:
                raise failure("AML_NET_SIZE", place, expected=limit, actual=len(body))
    finally:
        session.drop(response)
    return bytes(body)


def _size(url: str, session: Session, stop: Stop) -> int | None:
    with stop.waiting():
        response, _ = session.open("HEAD", url, {})
    text = response.headers.get("Content-Length", "")
    session.drop(response)
    try:
        return max(int(text), 0) or None  # no archive is empty
    except ValueError:
        return None


def _beginning(url: str, accept: str, session: Session, stop: Stop) -> bytes:
    """Return the beginning of the web page that an address answers with; empty where it answers with anything else."""
    from amlwizard.net.failures import AttemptError

    headers = {"Accept": accept}
    try:
        with stop.waiting():
            response, _ = session.open("HEAD", url, headers, secure_only=True)
        session.drop(response)
        if not _is_page(response):
            return b""
    except AttemptError as failed:  # some servers refuse HEAD, in many ways
        if failed.error.code not in _ANSWERS | {"AML_NET_RESET"}:
            raise
    with stop.waiting():
        headers["Range"] = f"bytes=0-{_GLANCE - 1}"
        response, place = session.open("GET", url, headers, secure_only=True)
    body = bytearray()
    try:
        while _is_page(response) and len(body) < _GLANCE and (piece := session.read(response, _GLANCE, place)):
            stop.check()
            body += piece
    finally:
        session.drop(response)
    return bytes(body)


def _is_page(response: urllib3.BaseHTTPResponse) -> bool:
    return "html" in response.headers.get("Content-Type", "").lower()


_GLANCE = 64 * 1024
"""Bytes of a web page that are enough to tell an index from a page to sign in."""
_ANSWERS = frozenset(f"AML_NET_{name}" for name in ("NOT_FOUND", "FORBIDDEN", "UNAUTHORIZED", "LOGIN_REFUSED", "SERVER"))
