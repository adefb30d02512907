"""Brings what a lock names into the store: fetched, hashed, or built into a wheel (DESIGN 3.6)."""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from packaging.utils import parse_wheel_filename

from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.fetching import Download, FetchProgress
from amlwizard.core.lock import FileKind, LockedFile, StoredWheel, local_lock, select
from amlwizard.core.records import write_text_atomically
from amlwizard.core.uv_install import file_sha256
from amlwizard.core.wheel_build import build_wheel, check_out

if TYPE_CHECKING:
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


def wanted_files(run: RunContext, lock: Pylock, path: Path) -> Wanted:
    """Return what is to be installed of a lock that was read from ``path``."""
    return Wanted(tuple(select(lock, run.require_python(), lock=path)))


async def missing_files(run: RunContext, wanted: Wanted) -> list[LockedFile]:
    """Return what the store does not hold with its right hash, everything that is to be built included."""

    def is_missing(file: LockedFile) -> bool:
        stored = run.workspace.downloads / file.filename
        if file.sha256 is None or not stored.is_file():
            return True
        status = stored.stat()
        if file.size is not None and status.st_size != file.size:
            return True
        stamp = (file.sha256, status.st_size, status.st_mtime_ns)
        if run.sound.get(stored) == stamp:  # the plan has looked at it already
            return False
        if file_sha256(stored) != file.sha256:
            return True
        run.sound[stored] = stamp
        return False

    def look() -> list[LockedFile]:
        with ThreadPoolExecutor(2) as pool:
            verdicts = list(pool.map(is_missing, wanted.wheels))
        absent = [file for file, missing in zip(wanted.wheels, verdicts, strict=True) if missing]
        return absent + [file for file in wanted.files if file.needs_build]

    return await asyncio.to_thread(look)


async def bring_in(run: RunContext, wanted: Wanted, missing: list[LockedFile]) -> None:
    """Fetch and build what is missing, then write the lock with local paths.

    Raises:
        AmlError: a network code, ``AML_HASH_MISMATCH``, or what the build said.
    """
    fetched = [file for file in missing if file.kind is FileKind.WHEEL]
    await run.fetcher.fetch([_download(run, file) for file in fetched], lambda made: _show(run, made))
    built = [await _built(run, file) for file in missing if file.needs_build]
    await run_whole(write_local_lock, run, wanted, built)


def write_local_lock(run: RunContext, wanted: Wanted, built: list[StoredWheel]) -> None:
    """Write the lock from which the environment is installed, and remember what it installs."""
    wheels = [_stored(run, file) for file in wanted.wheels] + built
    run.expected = {wheel.name: wheel.version for wheel in wheels}
    run.stored = wheels
    text = local_lock(wheels, wanted.editables, lock=run.workspace.next_local_lock)
    write_text_atomically(run.workspace.next_local_lock, text)


def _download(run: RunContext, file: LockedFile) -> Download:
    if file.sha256 is None:
        raise AmlError("AML_NO_HASH", file=file.filename or file.name, host=urlsplit(file.url or "").netloc or "?")
    address = file.url or (file.path.absolute().as_uri() if file.path is not None else "")
    return Download((address,), run.workspace.downloads / file.filename, file.sha256, file.size)


def _stored(run: RunContext, file: LockedFile) -> StoredWheel:
    path = run.workspace.downloads / file.filename
    version = file.version or str(parse_wheel_filename(file.filename)[1])
    return StoredWheel(file.name, version, path, path.stat().st_size, file.sha256 or "")


async def _built(run: RunContext, file: LockedFile) -> StoredWheel:
    run.log(f"{file.name}: {file.kind.value}")
    wheel = await build_wheel(run, file.name, await _source(run, file))
    target = run.workspace.downloads / wheel.name
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    await run_whole(shutil.copyfile, wheel, part)
    part.replace(target)
    version = file.version or str(parse_wheel_filename(wheel.name)[1])
    sha256 = await asyncio.to_thread(file_sha256, target)
    return StoredWheel(file.name, version, target, target.stat().st_size, sha256)


async def _source(run: RunContext, file: LockedFile) -> Path:
    source = file.path
    if file.kind is FileKind.VCS and file.url is not None and file.commit is not None:
        source = await check_out(run, file.name, file.url, file.commit)
    elif file.kind in (FileKind.SDIST, FileKind.ARCHIVE):
        await run.fetcher.fetch([_download(run, file)], lambda made: _show(run, made))
        source = run.workspace.downloads / file.filename
    elif source is None and file.url is not None and file.url.startswith("file:"):
        source = Path(url2pathname(unquote(urlsplit(file.url).path)))
    if source is None:
        raise AmlError("AML_BUILD_FAILED", package=file.name, cause=file.kind.value)
    return source / file.subdirectory if file.subdirectory else source


def _show(run: RunContext, made: FetchProgress) -> None:
    run.runner.touch()
    run.progress(made.done_bytes, made.total_bytes, "bytes", rate=made.bytes_per_second, subject=made.current)
