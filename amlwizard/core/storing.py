"""Brings what a lock names into the store: fetched, hashed, or built into a wheel (DESIGN 3.6)."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from packaging.utils import parse_wheel_filename

from amlwizard.core.built_store import find_built, keep_built
from amlwizard.core.catalogue import text
from amlwizard.core.editables import prepare_editable
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.fetching import Download
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.lock import FileKind, LockedFile, StoredWheel, local_lock, own_table, select
from amlwizard.core.plain_files import exists
from amlwizard.core.records import write_text_atomically
from amlwizard.core.source_fingerprint import fingerprint_after_build, read_sources
from amlwizard.core.urls import local_path
from amlwizard.core.wheel_build import build_wheel, check_out, unpack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from packaging.pylock import Pylock

    from amlwizard.core.context import RunContext


@dataclass(frozen=True)
class Wanted:
    """What a lock means for this interpreter."""

    files: tuple[LockedFile, ...]

    @property
    def wheels(self) -> tuple[LockedFile, ...]:
        """What is installed as it is."""
        return tuple(file for file in self.files if file.kind is FileKind.WHEEL)

    @property
    def editables(self) -> tuple[LockedFile, ...]:
        """Folders that stay where they are."""
        return tuple(file for file in self.files if file.editable)


def wanted_files(run: RunContext, lock: Pylock) -> Wanted:
    """Return what is to be installed of a lock of this wish.

    Raises:
        AmlError: it does not fit the interpreter, or holds nothing for it.
    """
    python, path = run.require_python(), run.wish.lock_file or run.workspace.lock
    if run.selected is not None and run.selected[0] is lock and run.selected[1:3] == (python, path):
        return run.selected[3]
    files = select(lock, python, lock=path)
    if not files:
        raise AmlError("AML_NOTHING_TO_INSTALL", name=run.wish.name, python=python.version_text)
    run.selected = (lock, python, path, Wanted(tuple(files)))
    return run.selected[3]


async def ask_sizes(run: RunContext) -> None:
    """Ask the servers for the sizes of missing files that the lock does not tell; what nobody tells stays unknown."""
    if run.lock is None or run.choices.offline:
        return
    missing = await missing_files(run, await asyncio.to_thread(wanted_files, run, run.lock))
    urls = [file.url for file in missing if file.url is not None and download_size(run, file) is None and file.sha256]
    for url, size in zip(urls, await run.fetcher.sizes(urls), strict=True):
        if size is not None:
            run.told_sizes[url] = size


def download_size(run: RunContext, file: LockedFile) -> int | None:
    """Return how many bytes fetching a file moves, None where that is unknown."""
    if file.url is None or file.is_at_hand:
        return 0
    return run.told_sizes.get(file.url or "") if file.size is None else file.size


def stored_size(run: RunContext, file: LockedFile) -> int:
    """Return the bytes of a file that ``missing_files`` found in the store; none for a folder that stays where it is."""
    if file in run.built:
        return run.built[file].size
    found = run.sound.get(run.place(file))
    return found[1] if found is not None else file.size or 0


async def missing_files(run: RunContext, wanted: Wanted) -> list[LockedFile]:
    """Return what the store does not hold with its right hash.

    A local folder is to be built where it has changed, or everything is chosen anew.
    """

    def is_missing(file: LockedFile) -> bool:
        return not is_built(file) if file.needs_build else not _is_stored(run, file)

    def is_built(file: LockedFile) -> bool:
        if file not in run.built:
            if file.kind is FileKind.DIRECTORY and run.choices.refresh:
                return False
            built = find_built(run.workspace, file, run.require_python())
            if built is None:
                return False
            run.built[file] = built
        return True

    def look() -> list[LockedFile]:
        files = [file for file in wanted.files if not file.editable]
        with ThreadPoolExecutor(2) as pool:
            verdicts = list(pool.map(is_missing, files))
        return [file for file, missing in zip(files, verdicts, strict=True) if missing]

    return await asyncio.to_thread(look)


async def out_of_reach(run: RunContext, missing: list[LockedFile]) -> list[LockedFile]:
    """Return what of the missing files cannot be had without a network."""

    def look() -> list[LockedFile]:
        remote = [file for file in missing if file.url and not file.url.startswith("file:") and not file.is_at_hand]
        return [file for file in remote if not _is_stored(run, file)]  # the archive of a source may be there

    return await asyncio.to_thread(look)


def missing_archives(run: RunContext, missing: Sequence[LockedFile]) -> list[LockedFile]:
    """Return those of the missing files that have to be fetched or copied, also where a wheel is built of one. Blocks."""
    return [file for file in missing if file.sha256 is not None and not _is_stored(run, file)]


def _is_stored(run: RunContext, file: LockedFile) -> bool:
    """Tell whether the store holds a file with its right hash. Blocks."""
    stored = run.place(file)
    if file.sha256 is None or not stored.is_file():
        return False
    status = stored.stat()
    if file.size is not None and status.st_size != file.size:
        return False
    stamp = (file.sha256, status.st_size, status.st_mtime_ns)
    if run.sound.get(stored) == stamp:  # the plan has looked at it already
        return True
    if file_sha256(stored) != file.sha256:
        return False
    run.sound[stored] = stamp
    return True


@asynccontextmanager
async def naming_damaged(run: RunContext, missing: Sequence[LockedFile]) -> AsyncIterator[None]:
    """Let a failure say which files were to be fetched in the place of damaged ones of the store."""

    def damaged() -> list[str]:
        return [file.filename for file in missing_archives(run, missing) if exists(run.place(file))]

    try:
        yield
    except AmlError as error:
        add_damaged(error, await asyncio.to_thread(damaged), run.language)
        raise


def add_damaged(error: AmlError, files: Sequence[str], language: str) -> None:
    """Add to the error of a fetch that these files of the store are damaged, and still are."""
    if files:
        told = text("store.not_fetched_again", language, files=", ".join(files))
        error.detail = "\n".join(filter(None, (told, error.detail)))


async def bring_in(run: RunContext, wanted: Wanted, missing: list[LockedFile]) -> None:
    """Fetch and build what is missing, then write the lock with local paths.

    Raises:
        AmlError: a network code, ``AML_HASH_MISMATCH``, or what the build said.
    """
    archives = [file for file in missing if file.sha256 is not None]
    async with naming_damaged(run, missing):
        await run.fetch([_download(run, file) for file in archives])
    for file in missing:
        if file.needs_build:
            run.built[file] = await _built(run, file)
    if run.uv is not None:
        for file in wanted.editables:
            await prepare_editable(run, file)
    await run_whole(write_local_lock, run, wanted)


def arriving(run: RunContext, wanted: Wanted, missing: list[LockedFile]) -> Callable[[], list[StoredWheel]]:
    """Return a function that tells which of the wheels lie in the store by now, every one with its right hash. It blocks.

    A damaged file that waits to be replaced is not told, nor is what replaces it.
    """
    there = {file for file in missing if run.place(file).exists()}
    awaited = [file for file in wanted.wheels if not file.needs_build and file not in there]
    return lambda: [_stored(run, file) for file in awaited if run.place(file).is_file()]


def write_local_lock(run: RunContext, wanted: Wanted) -> None:
    """Write the lock from which the environment is installed, and remember what it installs."""
    wheels = [run.built[file] if file.needs_build else _stored(run, file) for file in wanted.files if not file.editable]
    run.expected = {wheel.name: wheel.version for wheel in wheels}
    run.expected |= {editable.name: editable.version or "" for editable in wanted.editables}
    run.stored = wheels
    about = {key: value for key, value in own_table(run.lock).items() if key != "before"} if run.lock is not None else None
    text = local_lock(wheels, wanted.editables, lock=run.workspace.next_local_lock, about=about)
    write_text_atomically(run.workspace.next_local_lock, text)


def _download(run: RunContext, file: LockedFile) -> Download:
    if file.sha256 is None:
        raise AmlError("AML_NO_HASH", file=file.filename or file.name, host=urlsplit(file.url or "").netloc or "?")
    return Download(file.addresses, run.place(file), file.sha256, file.size, told_size=run.told_sizes.get(file.url or ""))


def _stored(run: RunContext, file: LockedFile) -> StoredWheel:
    path = run.place(file)
    version = file.version or str(parse_wheel_filename(file.filename)[1])
    return StoredWheel(file.name, version, path, path.stat().st_size, file.sha256 or "")


async def _built(run: RunContext, file: LockedFile) -> StoredWheel:
    run.log(f"{file.name}: {file.kind.value}")
    folder = file.path if file.kind is FileKind.DIRECTORY else None
    before = await asyncio.to_thread(read_sources, folder) if folder is not None else None
    wheel = await build_wheel(run, file.name, await _source(run, file))
    after = await asyncio.to_thread(read_sources, folder) if folder is not None else None
    fingerprint = fingerprint_after_build(before, after)
    return await run_whole(keep_built, run.workspace, file, run.require_python(), wheel, fingerprint)


async def _source(run: RunContext, file: LockedFile) -> Path:
    source = file.path
    if file.kind is FileKind.VCS and file.url is not None and file.commit is not None:
        source = await check_out(run, file.name, file.url, file.commit)
    elif file.kind in (FileKind.SDIST, FileKind.ARCHIVE):
        source = run.place(file)
        if file.subdirectory:
            source = await asyncio.to_thread(unpack, source, run.tmp / "unpacked" / file.name)
    elif source is None and file.url is not None and file.url.startswith("file:"):
        source = local_path(file.url)
    if source is None:
        raise AmlError("AML_BUILD_FAILED", package=file.name, cause=file.kind.value)
    return source / file.subdirectory if file.subdirectory else source
