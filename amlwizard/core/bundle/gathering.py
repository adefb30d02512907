"""Gathers what a bundle needs: from the workspace without a network, or with one for any platform (DESIGN section 9)."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from packaging.pylock import Pylock
from packaging.utils import parse_wheel_filename

from amlwizard.core.bundle.additions import additions_of
from amlwizard.core.bundle.contents import Contents, Interpreter, WishRecord
from amlwizard.core.bundle.floors import parse_version
from amlwizard.core.bundle.interpreters import fetch_with_archive, read_kept
from amlwizard.core.bundle.manifest import NAME_LIMIT
from amlwizard.core.bundle.room import check_whole
from amlwizard.core.bundle.targets import Target, check_platform, wheels_for
from amlwizard.core.bundle.uv_program import local_program, of_wheel, wheel_on_index
from amlwizard.core.catalogue import message_phrase, text
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.fetching import Download
from amlwizard.core.interpreters import origins
from amlwizard.core.lacking import Lacking, incomplete_store
from amlwizard.core.lock import StoredWheel, read_lock, scrub
from amlwizard.core.python_install import (
    ALTERED,
    DEFAULT_VERSION,
    OUT_OF_REACH,
    PythonArchive,
    archive_lacking,
    described_archives,
    find_archive,
    kept_archive,
    of_archive,
)
from amlwizard.core.resolving import resolve_for
from amlwizard.core.store_files import store_urls
from amlwizard.core.wish import keeps_accelerator, lock_in_use, recorded_source

if TYPE_CHECKING:
    from amlwizard.core.bundle.floors import Version
    from amlwizard.core.choices import BundleOrder, Choices
    from amlwizard.core.context import RunContext
    from amlwizard.core.facts import Host
    from amlwizard.core.lock import LockedFile
    from amlwizard.core.paths import Workspace
    from amlwizard.core.wish import Wish


@dataclass(frozen=True)
class Source:
    """Where a bundle's packages come from: the workspace as it is (``recorded`` is what its lock says), or the network."""

    target: Target
    recorded: dict[str, Any] | None


def choose_source(choices: Choices, order: BundleOrder, wish: Wish, workspace: Workspace, host: Host) -> Source:
    """Tell whether the workspace already holds what is asked for.

    Raises:
        RefusedError: the platform is none that bundles are made for, or the Python does not fit the wish.
    """
    here = host.platform if not host.libc.startswith("musl") else f"{host.platform}-musl"
    platform = check_platform(order.platform or here)
    version = order.python_version or choices.python_version
    recorded = recorded_source(workspace) if workspace.local_lock.is_file() else {}
    python = str(recorded.get("python", ""))
    held = bool(python) and platform == here and not choices.refresh
    if held and version is not None:
        held = f"{python}.".startswith(f"{version}.")
    if held and (choices.requirements is not None or choices.profile is not None):
        held = wish.digest(python) == recorded.get("digest")
    if held and keeps_accelerator(choices, workspace, wish):
        return Source(Target(platform, python), recorded)
    version = version or _default_version(wish)
    allowed = wish.python_range
    if allowed is not None and not allowed.contains(version if version.count(".") == 2 else f"{version}.99"):
        raise RefusedError("AML_PYTHON_NOT_IN_RANGE", wanted=version, allowed=str(allowed))
    return Source(Target(platform, version), None)


def refuse_unknown(choices: Choices, workspace: Workspace) -> None:
    """Refuse to make a bundle where neither the choices nor a lock tell what of: it would be one of something else.

    Raises:
        RefusedError: ``AML_BUNDLE_NOTHING``, or ``AML_LOCK_*`` where the lock cannot be used.
    """
    if choices.requirements is not None or choices.profile is not None:
        return
    lock = lock_in_use(workspace)
    if not lock.is_file():
        raise RefusedError("AML_BUNDLE_NOTHING", root=str(workspace.root))
    read_lock(lock)
    if not recorded_source(workspace):
        raise RefusedError("AML_BUNDLE_NOTHING", root=str(workspace.root))


def _default_version(wish: Wish) -> str:
    allowed = wish.python_range
    fitting = [f"3.{minor}" for minor in range(13, 9, -1) if allowed is not None and allowed.contains(f"3.{minor}.99")]
    return DEFAULT_VERSION if allowed is None or DEFAULT_VERSION in fitting or not fitting else fitting[0]


# -- from the workspace


async def from_workspace(run: RunContext, source: Source, fetching: RunContext) -> Contents:
    """Gather what the workspace holds; the network is used only for an interpreter archive that it lacks.

    Args:
        run: the run.
        source: what is gathered.
        fetching: the run into whose workspace that archive comes.

    Raises:
        AmlError: ``AML_BUNDLE_STORE``, ``AML_BUNDLE_NO_UV`` or ``AML_BUNDLE_NO_PYTHON``.
    """
    recorded = source.recorded or {}
    wheels, left_out = await asyncio.to_thread(_stored, run.workspace, run.language)
    uv = await local_program(run)  # which finds the interpreter's archive, too
    interpreter = await _interpreter(run, source.target, fetching)
    return Contents(
        platform=source.target.platform,
        wish=_wish_record(recorded.get("origin", recorded)),
        wheels=wheels,
        uv=uv,
        interpreter=interpreter,
        built_here=_glibc(run.facts.host),
        left_out=left_out,
        accelerator=recorded.get("accelerator"),
        additions=await asyncio.to_thread(additions_of, run.workspace, wheels),
    )


def _glibc(host: Host) -> Version | None:
    libc, _, version = host.libc.partition(" ")
    return parse_version(version) if libc == "glibc" else None


def _wish_record(recorded: dict[str, Any]) -> WishRecord:
    kind = "profile" if recorded.get("kind") == "profile" else "file"
    # the bare name: where it lay, perhaps in a home folder, is nobody's business elsewhere
    name = "".join(sign for sign in PureWindowsPath(str(recorded.get("name", ""))).name if sign.isprintable())
    return WishRecord(kind, name[:NAME_LIMIT], str(recorded.get("digest", "")))


def _stored(workspace: Workspace, language: str) -> tuple[list[StoredWheel], tuple[str, ...]]:
    """Return the wheels that the environment was built from, and the names of editable packages."""
    lock = read_lock(workspace.local_lock)
    urls = store_urls(workspace)
    wheels, left_out, missing = [], [], []
    for package in lock.packages:
        if package.directory is not None:
            left_out.append(package.name)
            continue
        for wheel in package.wheels or ():
            file = Path(os.path.normpath(workspace.local_lock.parent / (wheel.path or "")))
            size = wheel.size or 0
            if not file.is_file() or file.stat().st_size != size:
                missing.append(Lacking.of(wheel.filename, wheel.size, urls.get(wheel.hashes.get("sha256"))))
            version = str(package.version or parse_wheel_filename(wheel.filename)[1])
            wheels.append(StoredWheel(package.name, version, file, size, wheel.hashes.get("sha256", "")))
    if missing:
        listed = incomplete_store(missing, workspace.downloads, language)
        named = {name: listed.arguments[name] for name in ("files", "count")}
        raise AmlError("AML_BUNDLE_STORE", detail=listed.detail, **named)
    return wheels, tuple(left_out)


async def _interpreter(run: RunContext, target: Target, fetching: RunContext) -> Interpreter:
    """Return the archive of the workspace's Python; it is fetched once where the workspace stands on a system Python."""
    holder = run
    archive = await asyncio.to_thread(kept_archive, run.workspace, target.python, run.facts.host)
    if archive is None:
        archive = await asyncio.to_thread(kept_archive, run.workspace, target.minor, run.facts.host)
    if archive is None and not run.choices.offline:
        holder = fetching
        archive = await _fetched_archive(fetching, target)
    if archive is None:
        raise await asyncio.to_thread(_no_archive, run, target)
    return await asyncio.to_thread(_of_archive, holder, archive)


def _no_archive(run: RunContext, target: Target) -> AmlError:
    """Return the error that says why there is no archive; one that is kept and damaged is named."""
    workspace = run.workspace
    damaged = [workspace.downloads / each.filename for each in described_archives(workspace, target.minor, run.facts.host)]
    if damaged and damaged[0].name in {origin.archive for origin in origins(workspace).values()}:
        return AmlError("AML_BUNDLE_SOURCE", file=str(damaged[0]))
    cause = text("bundle.archive_offline" if run.choices.offline else "bundle.archive_unknown", run.language)
    if damaged:
        cause = text("bundle.archive_damaged", run.language, file=str(damaged[0]))
    return AmlError("AML_BUNDLE_NO_PYTHON", python=target.minor, cause=cause)


async def _fetched_archive(run: RunContext, target: Target) -> PythonArchive | None:
    try:
        archive = await find_archive(run, target.python) or await find_archive(run, target.minor)
        if archive is not None:
            await fetch_with_archive(run, archive, [])
    except AmlError as error:
        if error.code.startswith(("AML_NET_", "AML_OFFLINE", "AML_UV_PYTHON")):
            raise _out_of_reach(target, error) from error
        raise of_archive(error, target.python) from error
    return archive


def _out_of_reach(target: Target, error: AmlError) -> AmlError:
    """Return the error that names the ways around an archive that cannot be fetched."""
    return AmlError("AML_BUNDLE_NO_PYTHON", python=target.minor, cause=message_phrase(error))


def _of_archive(run: RunContext, archive: PythonArchive) -> Interpreter:
    kept, file, description = read_kept(run, archive)
    return Interpreter(str(kept.version), file, kept.sha256 or "", description)


# -- with a network


async def from_network(run: RunContext, source: Source) -> Contents:
    """Resolve for a target, fetch what it needs into the store, and gather that.

    Raises:
        AmlError: ``AML_BUNDLE_NO_WHEELS`` names what cannot be had there; ``AML_BUNDLE_NO_PYTHON``; network codes; what uv
            said.
    """
    target = source.target
    archive = await _archive_for(run, target)
    target = Target(target.platform, str(archive.version))
    content = run.wish.content
    lock_place = run.tmp / "pylock.toml"
    if isinstance(content, Pylock):
        lock, lock_place = await asyncio.to_thread(scrub, content), run.wish.folder / "pylock.toml"
    else:
        lock = await resolve_for(run, content, target.uv_platform, target.python, lock_place)
    files = await asyncio.to_thread(wheels_for, lock, target, path=lock_place)
    here = target.platform == run.facts.host.platform
    downloads = await asyncio.to_thread(lambda: [_download(run, file) for file in files])  # what has the same name is read
    if here:
        uv = await local_program(run)
    else:
        wheel = await wheel_on_index(run, target)
        uv = of_wheel(wheel, run.workspace.downloads / wheel.filename)
        downloads.append(Download((wheel.url,), uv.file, wheel.sha256, wheel.size))
    if run.choices.order is not None:
        await asyncio.to_thread(check_whole, run, run.choices.order.out, archive, downloads, uv)
    try:
        await fetch_with_archive(run, archive, downloads)
    except AmlError as error:
        if error.code in OUT_OF_REACH and error.arguments.get("file") == archive.filename:
            raise _out_of_reach(target, error) from error
        if error.code in ALTERED and error.arguments.get("file", archive.filename) == archive.filename:
            raise of_archive(error, target.python) from error
        raise
    wheels = [
        StoredWheel(file.name, _version(file), path, path.stat().st_size, file.sha256 or "")
        for file in files
        for path in [run.place(file)]
    ]
    wish = WishRecord(run.wish.kind, run.wish.name, run.wish.digest(target.python))
    return Contents(
        platform=target.platform,
        wish=_wish_record({"kind": wish.kind, "name": wish.name, "digest": wish.digest}),
        wheels=wheels,
        uv=uv,
        interpreter=await asyncio.to_thread(_of_archive, run, archive),
        built_here=_glibc(run.facts.host) if here else None,
        accelerator=run.wish.accelerator,
    )


async def _archive_for(run: RunContext, target: Target) -> PythonArchive:
    """Return the newest interpreter for a target; the store's own where that is the same, or where there is no network."""
    here = target.platform == run.facts.host.platform
    host = run.facts.host if here else target.host
    archive = None if run.choices.offline else await find_archive(run, target.python, None if here else host)
    version = str(archive.version) if archive is not None else target.python
    archive = await asyncio.to_thread(kept_archive, run.workspace, version, host) or archive
    if archive is None and run.choices.offline:
        known = await find_archive(run, target.python, None if here else host)
        if known is not None:
            raise archive_lacking(run, known)
    if archive is None:
        raise AmlError("AML_PYTHON_VERSION_UNAVAILABLE", wanted=target.python, platform=target.platform)
    return archive


def _version(file: LockedFile) -> str:
    return file.version or str(parse_wheel_filename(file.filename)[1])


def _download(run: RunContext, file: LockedFile) -> Download:
    return Download(file.addresses, run.place(file), file.sha256, file.size)
