"""Checks every installed file against its RECORD entry (DESIGN 3.8).

Runs in threads: 18,600 files take about a second. Paths are plain strings in here because the loop is hot.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import stat
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from amlwizard.core.environment.findings import Finding
from amlwizard.core.environment.foreign_links import LinkFinder
from amlwizard.core.environment.layout import distribution_of, metadata_names, site_folders
from amlwizard.core.plain_files import open_plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

OnFiles = Callable[[int, int], None]

_CHUNK: Final = 1 << 20
_STRONG: Final = frozenset({"sha256", "sha384", "sha512"})
SEEDS: Final = frozenset({"pip", "setuptools"})
"""What ``venv`` puts into a new environment by itself."""
LINKED: Final = "verify.linked"
"""The key of what is found of a link in the way of a package."""
_MISSING: Final = "missing"
_CHANGED: Final = "changed"


@dataclass
class Distribution:
    """One installed distribution as its metadata folder describes it; ``files`` are relative to the environment."""

    name: str
    version: str
    site: str
    metadata: str
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RecordReport:
    """What the check of the files found."""

    distributions: tuple[Distribution, ...]
    problems: tuple[Finding, ...]
    remarks: tuple[Finding, ...]


@dataclass(frozen=True)
class _Row:
    path: str
    digest: str
    size: str
    relative: str


@dataclass
class _Fault:
    count: int
    kind: str
    example: str


def check_records(
    environment: Path,
    expected: Mapping[str, str] | None = None,
    on_files: OnFiles = lambda _done, _total: None,
    stopped: threading.Event | None = None,
) -> RecordReport:
    """Check every file that the metadata names, and the metadata itself. Blocks: call it in a thread.

    Args:
        environment: the environment.
        expected: normalised names and versions that must be there; None where any will do.
        on_files: told from worker threads how many files of how many are done.
        stopped: set by the caller to end the check early; the report then means nothing.
    """
    stop = stopped or threading.Event()
    distributions = list(distributions_in(environment))
    problems = list(_duplicates(distributions))
    root = os.path.normpath(environment)
    work: list[tuple[Distribution, list[_Row]]] = []
    links = LinkFinder(root)
    for distribution in distributions:
        rows = _read_record(distribution, root, problems)
        problems += _linked(distribution, rows, links)
        distribution.files = [row.relative for row in rows]
        work.append((distribution, rows))
    problems += _check_files(work, on_files, stop)
    remarks: list[Finding] = []
    if expected is not None:
        problems += _absent(distributions, expected)
        remarks += _extra(distributions, expected)
    return RecordReport(tuple(distributions), tuple(problems), tuple(remarks))


def _linked(distribution: Distribution, rows: Sequence[_Row], links: LinkFinder) -> Iterator[Finding]:
    """Name the links through which files lie outside of the environment, or their bytecode would."""
    paths = [row.path for row in rows]
    paths += [os.path.join(os.path.dirname(path), "__pycache__", "-") for path in paths if path.endswith(".py")]  # noqa: PTH118, PTH120
    for link in dict.fromkeys(link for path in paths if (link := links.above(path)) is not None):
        yield Finding(LINKED, {"package": distribution.name} | link.shown, distribution.name)


def recorded_files(environment: Path, site: Path, metadata: str) -> list[Path]:
    """Return the files of a distribution that lie in the environment, by its RECORD; none where that is broken."""
    distribution = Distribution("", "", str(site), metadata)
    rows = _read_record(distribution, os.path.normpath(environment), [])
    return [environment / row.relative for row in rows]


def distributions_in(environment: Path) -> Iterator[Distribution]:
    """Yield what is installed, by the names of the metadata folders alone.

    Raises:
        OSError: a folder of packages cannot be listed.
    """
    for site in site_folders(environment):
        for metadata in metadata_names(site):
            yield Distribution(*distribution_of(metadata), str(site), metadata)


def _duplicates(distributions: Sequence[Distribution]) -> Iterator[Finding]:
    seen: dict[str, list[str]] = {}
    for distribution in distributions:
        seen.setdefault(distribution.name, []).append(distribution.version)
    for name, versions in seen.items():
        if len(versions) > 1:
            yield Finding("verify.duplicate", {"package": name, "versions": ", ".join(versions)}, name)


def _read_record(distribution: Distribution, root: str, problems: list[Finding]) -> list[_Row]:
    name = distribution.name
    try:
        path = os.path.join(distribution.site, distribution.metadata, "RECORD")  # noqa: PTH118
        with open_plain(path) as content, io.TextIOWrapper(content, "utf-8", newline="") as stream:
            lines = [line for line in csv.reader(stream) if line]
    except (OSError, UnicodeDecodeError, csv.Error):
        problems.append(Finding("verify.record_missing", {"package": name}, name))
        return []
    if not lines:
        problems.append(Finding("verify.record_missing", {"package": name}, name))
        return []
    rows = []
    base = root + os.sep
    for line in lines:
        full = os.path.normpath(os.path.join(distribution.site, line[0]))  # noqa: PTH118
        if not full.startswith(base) or "\0" in full:
            problems.append(Finding("verify.record_outside", {"package": name, "file": line[0]}, name))
            continue
        digest, size = (line[1], line[2]) if len(line) > 2 else ("", "")
        rows.append(_Row(full, digest, size, full[len(base) :]))
    return rows


def _check_files(
    work: Sequence[tuple[Distribution, list[_Row]]], on_files: OnFiles, stop: threading.Event
) -> Iterator[Finding]:
    total = sum(len(rows) for _, rows in work)
    done = 0
    guard = threading.Lock()

    def check(item: tuple[Distribution, list[_Row]]) -> _Fault | None:
        nonlocal done
        fault = None
        for row in item[1]:
            if stop.is_set():
                return None
            kind = _check_file(row)
            if kind is not None:
                fault = fault or _Fault(0, kind, row.relative)
                fault.count += 1
        with guard:
            done += len(item[1])
            on_files(done, total)
        return fault

    largest_first = sorted(work, key=lambda item: len(item[1]), reverse=True)
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1), "record-check") as pool:
        for (distribution, _), fault in zip(largest_first, pool.map(check, largest_first), strict=True):
            if fault is not None:
                arguments = {"package": distribution.name, "count": fault.count, "file": fault.example}
                yield Finding(f"verify.files_{fault.kind}", arguments, distribution.name)


def _check_file(row: _Row) -> str | None:
    """Return what is wrong with one file, or None."""
    bytecode = row.path.endswith(".pyc")
    try:
        status = os.lstat(row.path)
    except OSError:
        return None if bytecode else _MISSING
    if not stat.S_ISREG(status.st_mode):
        return _CHANGED
    if bytecode:  # the interpreter writes it anew whenever it sees fit
        return None
    if row.size and row.size != str(status.st_size):
        return _CHANGED
    algorithm, _, digest = row.digest.partition("=")
    if algorithm not in _STRONG:
        return None
    try:
        return None if _digest(row.path, algorithm, status.st_size) == digest else _CHANGED
    except OSError:
        return _CHANGED


def _digest(path: str, algorithm: str, size: int) -> str:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        total = hashlib.new(algorithm, os.read(descriptor, min(size + 1, _CHUNK)))
        if size >= _CHUNK:
            while block := os.read(descriptor, _CHUNK):
                total.update(block)
    finally:
        os.close(descriptor)
    return base64.urlsafe_b64encode(total.digest()).rstrip(b"=").decode()


def _absent(distributions: Sequence[Distribution], expected: Mapping[str, str]) -> Iterator[Finding]:
    installed = {distribution.name: distribution.version for distribution in distributions}
    for name, version in sorted(expected.items()):
        if name not in installed:
            yield Finding("verify.package_missing", {"package": f"{name} {version}".rstrip()}, name)
        elif version and installed[name] != version:
            yield Finding("verify.package_version", {"package": name, "version": version, "found": installed[name]}, name)


def _extra(distributions: Sequence[Distribution], expected: Mapping[str, str]) -> Iterator[Finding]:
    for name in sorted({distribution.name for distribution in distributions} - expected.keys() - SEEDS):
        yield Finding("verify.extra", {"package": name}, name)
