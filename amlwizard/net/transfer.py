"""One download from its first address to the verified file, in a thread."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from amlwizard.core.errors import AmlError
from amlwizard.core.plain_files import open_plain, read_plain_text
from amlwizard.net.failures import AttemptError, failure, of_disk
from amlwizard.net.origins import local_path

if TYPE_CHECKING:
    from typing import IO

    import urllib3

    from amlwizard.core.fetching import Download
    from amlwizard.net.crew import Stop
    from amlwizard.net.meter import Meter
    from amlwizard.net.session import Limits, Session

CHUNK = 512 * 1024
_WORTH_A_NOTE = 1024 * 1024
"""Partial files below this size are not worth a second file that tells how to resume them."""
_AWAY = frozenset({"AML_NET_NAME", "AML_NET_UNREACHABLE", "AML_NET_REFUSED", "AML_NET_TIMEOUT", "AML_NET_PROXY"})
"""What an attempt says that got no answer at all."""
_WHILE_SCANNED = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Pauses in seconds between attempts at a rename: on Windows a virus scanner holds a new file for a moment."""


class Transfer:
    """One download. ``run`` leaves the verified file at its target, or a ``.part`` beside it and raises."""

    def __init__(self, download: Download, number: int, meter: Meter, limits: Limits, *, offline: bool) -> None:
        self._download = download
        self._number = number
        self._meter = meter
        self._limits = limits
        self._offline = offline
        target = download.target
        self._part = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.resume.part")
        self._best = 0
        self._idle = limits.idle

    def run(self, session: Session, stop: Stop) -> None:
        """Fetch the file.

        Raises:
            AmlError: as ``Fetcher.fetch`` says.
            Stopped: the crew was told to stop.
        """
        self._meter.begin(self._number)
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
        with target.open("rb", buffering=0) as stream:
            while piece := stream.read(CHUNK):
                stop.check()
                digest.update(piece)
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
                    if failed.error.code == "AML_HASH_MISMATCH" and url not in spoiled:
                        spoiled.add(url)
                        mismatch = True
                    elif not failed.transient:
                        urls.remove(url)
            if self._best >= best + _WORTH_A_NOTE:
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
        offset = self._resume(url, digest, stop)
        size = self._download.size
        if offset and offset == size:
            return self._complete(offset, digest, url, stop)
        headers = {}
        if offset:
            headers["Range"] = f"bytes={offset}-"
            validator = self._validator(url)
            if validator:
                headers["If-Range"] = validator
        with stop.waiting():
            response, place = session.open("GET", url, headers, secure_only=self._download.sha256 is None, idle=self._idle)
        try:
            if response.status == 416 and offset and _told_total(response) == offset:
                if size is not None:
                    raise failure("AML_NET_SIZE", place, expected=size, actual=offset)
                return self._complete(
                    offset, digest, place, stop
                )  # all was there; the next line is for one that has changed
            if response.status == 416 or (response.status == 206 and _range_start(response) != offset):
                self._discard()
                raise failure("AML_NET_RESET", place, transient=True)
            if response.status == 200 and offset:
                offset, digest = 0, hashlib.sha256()
            whole = _whole_size(response, offset)
            self._meter.at(self._number, offset, whole)
            if size is None:
                size = whole
            elif whole not in (None, size) and not _is_page(response):
                raise failure("AML_NET_SIZE", place, expected=size, actual=whole)
            return self._receive(response, place, url, session, stop, digest, offset, size)
        finally:
            session.drop(response)

    def _receive(
        self,
        response: urllib3.BaseHTTPResponse,
        place: str,
        url: str,
        session: Session,
        stop: Stop,
        digest: hashlib._Hash,
        offset: int,
        size: int | None,
    ) -> int:
        page = _is_page(response) and offset == 0 and self._download.target.suffix not in (".html", ".htm")
        if size is None or size > _WORTH_A_NOTE:
            self._write_note(response, url)
        mode = "ab" if offset else "wb"
        with self._part.open(mode, buffering=0) as stream:
            while piece := session.read(response, CHUNK, place):
                stop.check()
                if page:
                    if piece.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
                        raise failure("AML_NET_SIGN_IN", url)
                    page = False
                offset += len(piece)
                if size is not None and offset > size:
                    raise failure("AML_NET_SIZE", place, expected=size, actual=offset)
                digest.update(piece)
                _write(stream, piece)
                self._meter.moved(self._number, len(piece))
                self._best = max(self._best, offset)
            stop.check()
            if size is not None and offset < size:
                raise failure("AML_NET_RESET", place, transient=True)
        return self._complete(offset, digest, place, stop)

    def _copy(self, url: str, stop: Stop) -> int:
        path = local_path(url)
        digest, offset = hashlib.sha256(), 0
        self._discard()
        try:
            source = open_plain(path)  # apart: a file that cannot be read is not one that cannot be written
        except OSError as error:
            raise failure("AML_NET_LOCAL", url, path=str(path), reason=error.strerror or str(error)) from error
        with source, self._part.open("wb", buffering=0) as stream:
            self._meter.at(self._number, 0, os.fstat(source.fileno()).st_size)
            while piece := source.read(CHUNK):
                stop.check()
                digest.update(piece)
                _write(stream, piece)
                offset += len(piece)
                self._meter.moved(self._number, len(piece))
        if self._download.size not in (None, offset):
            raise failure("AML_NET_SIZE", url, expected=self._download.size, actual=offset)
        return self._complete(offset, digest, url, stop)

    def _complete(self, size: int, digest: hashlib._Hash, url: str, stop: Stop) -> int:
        expected, actual = self._download.sha256, digest.hexdigest()
        if expected is not None and actual != expected:
            self._discard()
            raise failure("AML_HASH_MISMATCH", url, expected=expected, actual=actual)
        # Not flushed to the disk: Commit does that for the whole store at once, and what a power cut before it leaves
        # behind is found by its hash.
        self._put_in_place(stop)
        self._note.unlink(missing_ok=True)
        return size

    def _put_in_place(self, stop: Stop) -> None:
        for pause in _WHILE_SCANNED:
            try:
                self._part.replace(self._download.target)
            except PermissionError:
                stop.pause(pause)
            else:
                return
        self._part.replace(self._download.target)

    def _resume(self, url: str, digest: hashlib._Hash, stop: Stop) -> int:
        """Hash the partial file where it can be gone on with; return its length."""
        note = self._read_note()
        for path in (self._part, self._note):
            if path.is_fifo():
                path.unlink()  # or opening it for writing would wait for a reader
        if not self._part.is_file():
            return 0
        if self._download.sha256 is None:
            usable = bool(self._validator(url))
        else:
            usable = note.get("sha256", self._download.sha256) == self._download.sha256
        limit = self._download.size
        if not usable or (limit is not None and self._part.stat().st_size > limit):
            self._discard()
            return 0
        offset = 0
        with self._part.open("rb", buffering=0) as stream:
            while piece := stream.read(CHUNK):
                stop.check()
                digest.update(piece)
                offset += len(piece)
        self._best = max(self._best, offset)
        return offset

    def _validator(self, url: str) -> str | None:
        note = self._read_note()
        return note.get("validator") if note.get("address") == _known_by(url) else None

    def _read_note(self) -> dict[str, str]:
        try:
            note = json.loads(read_plain_text(self._note))
        except (OSError, ValueError):
            return {}
        return {k: v for k, v in note.items() if isinstance(v, str)} if isinstance(note, dict) else {}

    def _write_note(self, response: urllib3.BaseHTTPResponse, url: str) -> None:
        etag = response.headers.get("ETag", "")
        validator = etag if etag.startswith('"') else response.headers.get("Last-Modified", "")
        note = {"address": _known_by(url), "validator": validator}
        if self._download.sha256:
            note["sha256"] = self._download.sha256
        self._note.unlink(missing_ok=True)
        self._note.write_text(json.dumps(note), encoding="utf-8")

    def _discard(self) -> None:
        self._part.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


def _is_page(response: urllib3.BaseHTTPResponse) -> bool:
    return response.status == 200 and "html" in response.headers.get("Content-Type", "").lower()


def _known_by(url: str) -> str:
    """Return by what a note knows an address: a secret that stands in an address must not lie in the store."""
    return hashlib.sha256(url.encode()).hexdigest()


def _write(stream: IO[bytes], piece: bytes) -> None:
    """Write all of a piece: a disk that is nearly full takes the beginning of it and says so by the count alone."""
    rest = memoryview(piece)
    while rest:
        rest = rest[stream.write(rest) :]


def _range_start(response: urllib3.BaseHTTPResponse) -> int | None:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _told_total(response: urllib3.BaseHTTPResponse) -> int | None:
    found = re.match(r"bytes [^/]*/(\d+)$", response.headers.get("Content-Range", "").strip())
    return int(found[1]) if found else None


def _whole_size(response: urllib3.BaseHTTPResponse, offset: int) -> int | None:
    total = _told_total(response)
    if response.status == 206 and total is not None:
        return total  # the answer may be a shorter part than was asked for
    with suppress(ValueError, KeyError):
        return offset + int(response.headers["Content-Length"])
    return None
