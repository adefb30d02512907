"""One download from its first address to the verified file, in a thread."""

from __future__ import annotations

import hashlib
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amlwizard.core.errors import AmlError
from amlwizard.core.plain_files import open_plain
from amlwizard.core.urls import host_of, local_path
from amlwizard.net.failures import AttemptError, failure, of_disk
from amlwizard.net.partial import CHUNK, WORTH_A_NOTE, PartialFile, hash_file

if TYPE_CHECKING:
    from typing import IO

    import urllib3

    from amlwizard.core.fetching import Download
    from amlwizard.net.crew import Stop
    from amlwizard.net.meter import Meter
    from amlwizard.net.session import Limits, Session

_AWAY = frozenset({"AML_NET_NAME", "AML_NET_UNREACHABLE", "AML_NET_REFUSED", "AML_NET_TIMEOUT", "AML_NET_PROXY"})
"""What an attempt says that got no answer at all."""


@dataclass
class _Answer:
    """A server's answer with the rest of a file: ``offset`` bytes are there already, and ``digest`` has seen them."""

    response: urllib3.BaseHTTPResponse
    url: str
    place: str
    """The address after all redirections."""
    digest: hashlib._Hash
    offset: int
    size: int | None


class Transfer:
    """One download. ``run`` leaves the verified file at its target, or a ``.part`` beside it and raises."""

    def __init__(self, download: Download, number: int, meter: Meter, limits: Limits, *, offline: bool) -> None:
        self._download = download
        self._number = number
        self._meter = meter
        self._limits = limits
        self._offline = offline
        self._partial = PartialFile(download)
        self._best = 0
        self._idle = limits.idle

    def run(self, session: Session, stop: Stop) -> None:
        """Fetch the file.

        Raises:
            AmlError: as ``Fetcher.fetch`` says.
            Stopped: the crew was told to stop.
        """
        self._meter.begin(self._number)
        if self._download.target.is_dir():
            raise AmlError("AML_FILE_IS_FOLDER", path=str(self._download.target))
        try:
            size = self._present(stop)
            if size is None:
                if self._offline and not any(url.startswith("file:") for url in self._download.urls):
                    raise AmlError("AML_OFFLINE", file=self._download.target.name)
                self._download.target.parent.mkdir(parents=True, exist_ok=True)
                size = self._persist(session, stop)
        except OSError as error:
            raise of_disk(error, self._download.target) from error
        self._meter.finish(self._number, size)

    def _present(self, stop: Stop) -> int | None:
        target, wanted = self._download.target, self._download
        if wanted.sha256 is None or not target.is_file():
            return None
        size = target.stat().st_size
        if wanted.size not in (None, size):
            return None
        digest = hashlib.sha256()
        hash_file(target, digest, stop)
        return size if digest.hexdigest() == wanted.sha256 else None

    def _persist(self, session: Session, stop: Stop) -> int:
        """Try the addresses in turn, round after round, with growing pauses."""
        urls = [url for url in self._download.urls if not (self._offline and not url.startswith("file:"))]
        spoiled: set[str] = set()
        began, tries, rounds, pauses = time.monotonic(), 0, 0, 0
        while True:
            best, asked, mismatch, away = self._best, 0.0, False, True
            for url in list(urls):
                tries += 1
                try:
                    return self._attempt(url, session, stop)
                except AttemptError as failed:
                    last = failed
                    asked = max(asked, failed.retry_after or 0.0)
                    away = away and failed.transient and failed.error.code in _AWAY
                    if failed.error.code == "AML_NET_STALLED":
                        self._idle = min(2 * self._idle, max(self._limits.idle, self._limits.longest_idle))
                    remote = not url.startswith("file:")  # what lies on this computer does not get better
                    if failed.error.code == "AML_HASH_MISMATCH" and remote and url not in spoiled:
                        spoiled.add(url)
                        mismatch = True
                    elif not failed.transient:
                        urls.remove(url)
            if self._best >= best + WORTH_A_NOTE:
                rounds, pauses, self._idle = 1, 0, self._limits.idle
            elif not (away and self._meter.moved_within(self._limits.drop_out)):
                rounds += 1
            if not urls or rounds >= self._limits.attempts or asked > self._limits.longest_retry_after:
                seconds = round(time.monotonic() - began)
                last.error.arguments.update(file=self._download.target.name, attempts=tries, seconds=seconds)
                raise last.error from last
            pause = min(self._limits.longest_pause, self._limits.pause * 2**pauses)
            pauses += 1
            stop.pause(0.0 if mismatch and not asked else max(pause, asked))

    def _attempt(self, url: str, session: Session, stop: Stop) -> int:
        if url.startswith("file:"):
            return self._copy(url, stop)
        digest = hashlib.sha256()
        offset = self._partial.resume(url, digest, stop)
        self._best = max(self._best, offset)
        size = self._download.size
        if offset and offset == size:
            return self._complete(offset, digest, url, stop)
        headers = {}
        if offset:
            headers["Range"] = f"bytes={offset}-"
            validator = self._partial.validator(url)
            if validator:
                headers["If-Range"] = validator
        with stop.waiting():
            response, place = session.open("GET", url, headers, secure_only=self._download.sha256 is None, idle=self._idle)
        try:
            if response.status == 416 and offset and _told_total(response) == offset:
                if size is not None:
                    raise failure("AML_NET_SIZE", place, expected=size, actual=offset)
                return self._complete(offset, digest, place, stop)  # all of it was there
            if response.status == 416 or (response.status == 206 and _range_start(response) != offset):
                self._partial.discard()
                raise failure("AML_NET_RESET", place, transient=True)
            if response.status == 200 and offset:
                offset, digest = 0, hashlib.sha256()
            whole = _whole_size(response, offset)
            self._meter.at(self._number, offset, whole)
            if size is None:
                size = whole
            elif whole not in (None, size) and not _is_page(response):
                raise failure("AML_NET_SIZE", place, expected=size, actual=whole)
            return self._receive(_Answer(response, url, place, digest, offset, size), session, stop)
        finally:
            session.drop(response)

    def _receive(self, answer: _Answer, session: Session, stop: Stop) -> int:
        response, place, offset, size = answer.response, answer.place, answer.offset, answer.size
        page = _is_page(response) and offset == 0 and self._download.target.suffix not in (".html", ".htm")
        if size is None or size > WORTH_A_NOTE:
            self._partial.write_note(response.headers, answer.url)
        mode = "ab" if offset else "wb"
        with self._partial.path.open(mode, buffering=0) as stream:
            while piece := session.read(response, CHUNK, place):
                stop.check()
                if page:
                    if piece.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
                        raise failure("AML_NET_SIGN_IN", answer.url)
                    page = False
                offset += len(piece)
                if size is not None and offset > size:
                    raise failure("AML_NET_SIZE", place, expected=size, actual=offset)
                answer.digest.update(piece)
                _write(stream, piece)
                self._meter.moved(self._number, len(piece))
                self._best = max(self._best, offset)
            stop.check()
            if size is not None and offset < size:
                raise failure("AML_NET_RESET", place, transient=True)
        return self._complete(offset, answer.digest, place, stop)

    def _copy(self, url: str, stop: Stop) -> int:
        path = local_path(url)
        digest = hashlib.sha256()
        try:
            source = open_plain(path)  # apart: a file that cannot be read is not one that cannot be written
        except OSError as error:
            raise failure("AML_NET_LOCAL", url, path=str(path), reason=error.strerror or str(error)) from error
        with source:
            found = os.fstat(source.fileno()).st_size
            if self._download.size not in (None, found):
                raise failure("AML_NET_SIZE", url, expected=self._download.size, actual=found)
            self._meter.at(self._number, 0, found)
            self._partial.discard()
            offset = self._copied(source, digest, stop)
        return self._complete(offset, digest, url, stop)

    def _copied(self, source: IO[bytes], digest: hashlib._Hash, stop: Stop) -> int:
        offset = 0
        with self._partial.path.open("wb", buffering=0) as stream:
            while piece := source.read(CHUNK):
                stop.check()
                digest.update(piece)
                _write(stream, piece)
                offset += len(piece)
                self._meter.moved(self._number, len(piece))
        return offset

    def _complete(self, size: int, digest: hashlib._Hash, url: str, stop: Stop) -> int:
        expected, actual = self._download.sha256, digest.hexdigest()
        if expected is not None and actual != expected:
            self._partial.discard()
            place = host_of(url) or str(local_path(url))  # a file of this computer has no host
            raise failure("AML_HASH_MISMATCH", url, expected=expected, actual=actual, host=place)
        self._partial.put_in_place(stop)
        return size


def _is_page(response: urllib3.BaseHTTPResponse) -> bool:
    return response.status == 200 and "html" in response.headers.get("Content-Type", "").lower()


def _write(stream: IO[bytes], piece: bytes) -> None:
    """Write all of a piece: a disk that is nearly full takes the beginning of it and says so by the count alone."""
    rest = memoryview(piece)
    while rest:
        rest = rest[stream.write(rest) :]


def _range_start(response: urllib3.BaseHTTPResponse) -> int | None:
    found = re.match(r"bytes (\d{1,18})-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _told_total(response: urllib3.BaseHTTPResponse) -> int | None:
    found = re.match(r"bytes [^/]*/(\d{1,18})$", response.headers.get("Content-Range", "").strip())
    return int(found[1]) if found else None


def _whole_size(response: urllib3.BaseHTTPResponse, offset: int) -> int | None:
    total = _told_total(response)
    if response.status == 206 and total is not None:
        return total  # the answer may be a shorter part than was asked for
    with suppress(ValueError, KeyError):
        return offset + int(response.headers["Content-Length"])
    return None
