"""Puts a private uv into ``<root>/tools``: bundled copy, wheel from the index, pip, official script (DESIGN 3.3)."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
import os
import shutil
import stat
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from packaging.tags import platform_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from amlwizard.core.catalogue import error_texts
from amlwizard.core.choices import UvMethod
from amlwizard.core.detection import FROZEN_HASH, MINIMUM_UV, find_bundled_uv
from amlwizard.core.detection.probing import PROBE_SECONDS
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.fetching import Download
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.paths import executable_name
from amlwizard.core.pip_cli import MINIMUM_FOR_TARGET, install_target
from amlwizard.core.pip_python import python_with_pip
from amlwizard.core.records import read_record, utc_now, write_record
from amlwizard.core.simple_index import ACCEPT, IndexFile, parse_project_page, project_url
from amlwizard.core.system_errors import not_written
from amlwizard.core.urls import host_of
from amlwizard.core.uv_cli import UvCli
from amlwizard.resources import frozen_root

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace

AUTOMATIC_METHODS: Final = (UvMethod.BUNDLED, UvMethod.INDEX, UvMethod.PIP_TARGET)
INSTALLER_URLS: Final = {
    "sh": "https://astral.sh/uv/install.sh",
    "ps1": "https://astral.sh/uv/install.ps1",
}


async def install_private_uv(run: RunContext) -> Path:
    """Install uv into the workspace by the chosen method, or by the automatic ones in turn; record and return it.

    Raises:
        AmlError: ``AML_UV_INSTALL_FAILED`` with every way that was tried and its cause.
    """
    chosen = run.choices.uv_method
    methods = AUTOMATIC_METHODS if chosen is UvMethod.AUTO else (chosen,)
    causes: list[str] = []
    for method in methods:
        run.log(f"uv: {method.value}")
        try:
            return await install_by(run, method)
        except AmlError as error:
            causes.append(way_text(method, error, run.language))
            run.log(causes[-1])
    raise AmlError("AML_UV_INSTALL_FAILED", ways="; ".join(causes))


def way_text(method: UvMethod, error: AmlError, language: str) -> str:
    """Return what a way to get uv ended with, in one line."""
    return f"{method.value}: {error_texts(error, language)[0]}".replace("\n", " ")


async def install_given_uv(run: RunContext, source: Path) -> Path:
    """Put a uv that was brought along into the workspace, a program or its wheel whose hash is known to be right.

    Raises:
        AmlError: it does not run here, or is too old.
    """
    run.tmp.mkdir(parents=True, exist_ok=True)
    program = await run_whole(extract_uv, source, run.tmp) if source.name.endswith(".whl") else source
    return await _install(run, program, UvMethod.BUNDLED)


async def install_by(run: RunContext, method: UvMethod) -> Path:
    """Get a uv by one method and put it in the place of the private one; record and return it.

    Raises:
        AmlError: why it cannot be had or does not start; what was in place still is then, as after a cancel.
    """
    return await _install(run, await _METHODS[method](run), method)


async def _install(run: RunContext, source: Path, method: UvMethod) -> Path:
    """Start a program beside its place, where programs may be started, and only then put it there."""
    beside = run.workspace.uv.with_name(f"{run.workspace.uv.name}.part")
    try:
        await run_whole(_move, source, beside)
        version = await running_version(run, beside)
        await run_whole(_put_in_place, run, beside, version, method)
    except AmlError as error:  # where it was to come is the place that people know
        named = {name: str(run.workspace.uv) for name, value in error.arguments.items() if str(value) == str(beside)}
        error.arguments.update(named)
        raise
    finally:
        beside.unlink(missing_ok=True)
    return run.workspace.uv


def record_existing(run: RunContext, executable: Path, version: str) -> None:
    """Record that the workspace uses a uv which it did not install itself (``--uv``)."""
    _record(run, executable, version, "existing")


async def _from_bundle(run: RunContext) -> Path:
    source = find_bundled_uv()
    if source is None:
        raise AmlError("AML_UV_NOT_BUNDLED")
    target = run.tmp / executable_name("uv")

    def copy() -> None:
        check_bundled_hash(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)

    await run_whole(copy)
    return target


def check_bundled_hash(source: Path) -> None:
    """Compare the bundled copy with the hash that its wheel recorded, or that was noted when this program was frozen.

    Raises:
        AmlError: AML_UV_CHANGED.
    """
    if frozen_root() is not None:
        if file_sha256(source) != source.with_name(FROZEN_HASH).read_text(encoding="ascii").split()[0]:
            raise AmlError("AML_UV_CHANGED", path=str(source))
        return
    real = source.resolve()
    for entry in importlib.metadata.files("uv") or ():
        if entry.name == source.name and entry.hash is not None and Path(str(entry.locate())).resolve() == real:
            with source.open("rb") as stream:
                digest = hashlib.file_digest(stream, entry.hash.mode).digest()
            if urlsafe_b64encode(digest).rstrip(b"=").decode() == entry.hash.value:
                return
    raise AmlError("AML_UV_CHANGED", path=str(source))


async def _from_index(run: RunContext) -> Path:
    if run.choices.offline:
        return await run_whole(_from_store, run)
    wheel = await find_uv_wheel(run)
    target = run.workspace.downloads / wheel.filename
    await run.fetch([Download((wheel.url,), target, wheel.sha256, wheel.size)])
    return await run_whole(extract_uv, target, run.tmp)


def _from_store(run: RunContext) -> Path:
    """Take the program that was recorded out of the wheel that it came from.

    Raises:
        AmlError: the store holds no wheel of it (``AML_UV_NOT_IN_STORE``).
    """
    recorded = (read_record(run.workspace.uv_record) or {}).get("sha256")
    wheel = kept_uv_wheel(run.workspace)
    if wheel is not None:
        program = extract_uv(wheel, run.tmp)
        if file_sha256(program) == recorded:
            return program
    raise AmlError("AML_UV_NOT_IN_STORE", path=str(run.workspace.downloads))


def kept_uv_wheel(workspace: Workspace) -> Path | None:
    """Return the wheel in the store of the uv that the workspace has, or had; its content is not looked at."""
    version = (read_record(workspace.uv_record) or {}).get("version")
    here = set(platform_tags())
    for file in sorted(workspace.downloads.glob("uv-*.whl")):
        if is_uv_wheel(file.name) and file.is_file():
            _, found, _, tags = parse_wheel_filename(file.name)
            if str(found) == version and here.intersection(tag.platform for tag in tags):
                return file
    return None


def is_uv_wheel(name: str) -> bool:
    """Tell whether a file name is that of a wheel of uv."""
    try:
        return parse_wheel_filename(name)[0] == "uv"
    except (InvalidWheelFilename, InvalidVersion):
        return False


async def find_uv_wheel(run: RunContext, platforms: list[str] | None = None) -> IndexFile:
    """Return the newest uv wheel that the index offers for these platforms (default: this computer), with its hash.

    Raises:
        AmlError: a network code, ``AML_NET_NOT_AN_INDEX``, ``AML_UV_NO_WHEEL`` or ``AML_NO_HASH``.
    """
    url = project_url(run.index_url(), "uv")
    body = await run.fetcher.read(url, accept=ACCEPT)
    try:
        offered = await asyncio.to_thread(parse_project_page, body, url)
    except ValueError as error:
        raise AmlError("AML_NET_NOT_AN_INDEX", host=host_of(url), url=url) from error
    wheel = await asyncio.to_thread(newest_uv_wheel, offered, platforms)
    if wheel is None:
        raise AmlError("AML_UV_NO_WHEEL", host=host_of(url), minimum=str(MINIMUM_UV))
    if wheel.sha256 is None:
        raise AmlError("AML_NO_HASH", file=wheel.filename, host=host_of(url))
    return wheel


def newest_uv_wheel(offered: list[IndexFile], platforms: list[str] | None = None) -> IndexFile | None:
    """Return the newest final uv wheel that runs on these platforms (default: this computer) and is new enough."""
    order = {platform: number for number, platform in enumerate(platforms or list(platform_tags()))}
    best: tuple[Version, int] | None = None
    chosen: IndexFile | None = None
    for file in offered:
        if file.yanked or not file.filename.endswith(".whl"):
            continue
        try:
            _, version, _, tags = parse_wheel_filename(file.filename)
        except (InvalidWheelFilename, InvalidVersion):
            continue
        ranks = [order[tag.platform] for tag in tags if tag.platform in order]
        if not ranks or version.is_prerelease or version < MINIMUM_UV:
            continue
        rank = (version, -min(ranks))
        if best is None or rank > best:
            best, chosen = rank, file
    return chosen


def extract_uv(wheel: Path, folder: Path) -> Path:
    """Copy the uv program out of its wheel into ``folder``; no path of the archive is used for writing."""
    name = executable_name("uv")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / name
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                path = PurePosixPath(member)
                if path.name == name and path.parent.name == "scripts":
                    with archive.open(member) as source, target.open("wb") as stream:
                        shutil.copyfileobj(source, stream, 1024 * 1024)
                    return target
    except zipfile.BadZipFile as error:
        raise AmlError("AML_UV_WHEEL_BROKEN", file=wheel.name) from error
    raise AmlError("AML_UV_WHEEL_BROKEN", file=wheel.name)


async def _from_pip(run: RunContext) -> Path:
    pythons = [
        candidate.python
        for candidate in run.facts.candidates
        if candidate.usable and candidate.python is not None and candidate.python.bits == 64
    ]
    failure = AmlError("AML_NO_PYTHON_FOR_PIP")
    for number, python in enumerate(pythons):
        try:
            executable = await python_with_pip(run, python, MINIMUM_FOR_TARGET)
        except AmlError as error:
            failure = error
            continue
        target = run.tmp / f"pip-target-{number}"
        result = await run.run_tool(install_target(executable, target, f"uv>={MINIMUM_UV}"), variables=run.pip_variables())
        found = target / ("Scripts" if os.name == "nt" else "bin") / executable_name("uv")
        if result.code == 0 and found.is_file():
            return found
        raise run.failure(result, otherwise="AML_PIP_FAILED", tool="pip", program="pip")
    raise failure


async def _from_script(run: RunContext) -> Path:
    kind, url = installer_kind(), installer_url(run)
    body = await run.fetcher.read(url)
    script = run.tmp / f"uv-install.{kind}"
    run.tmp.mkdir(parents=True, exist_ok=True)
    script.write_bytes(body)
    target = run.tmp / "script-target"
    argv = script_arguments(script, kind)
    result = await run.run_tool(argv, variables=script_variables(target))
    found = target / executable_name("uv")
    if result.code != 0 or not found.is_file():
        raise run.failure(result, otherwise="AML_UV_SCRIPT_FAILED", tool=script.name, url=url)
    return found


def installer_kind() -> str:
    """Return which of the official installers is for this system."""
    return "ps1" if os.name == "nt" else "sh"


def installer_url(run: RunContext) -> str:
    """Return where the official installer lies."""
    return run.choices.uv_installer_url or INSTALLER_URLS[installer_kind()]


def script_arguments(script: Path, kind: str) -> tuple[str, ...]:
    """Return the command that runs the official installer: the path is one argument, never part of a shell text.

    Raises:
        AmlError: the shell is missing.
    """
    program = "powershell" if kind == "ps1" else "sh"
    shell = shutil.which(program)
    if shell is None:
        raise AmlError("AML_SHELL_MISSING", program=program)
    if kind == "ps1":
        return (shell, "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", str(script))
    return (shell, str(script))


def script_variables(target: Path) -> dict[str, str]:
    """Return the variables that keep the official installer inside ``target`` and off PATH and profiles."""
    return {
        "UV_INSTALL_DIR": str(target),
        "UV_UNMANAGED_INSTALL": str(target),
        "UV_NO_MODIFY_PATH": "1",
        "INSTALLER_NO_MODIFY_PATH": "1",
        "UV_DISABLE_UPDATE": "1",
    }


_METHODS: Final[dict[UvMethod, Callable[[RunContext], Awaitable[Path]]]] = {
    UvMethod.BUNDLED: _from_bundle,
    UvMethod.INDEX: _from_index,
    UvMethod.PIP_TARGET: _from_pip,
    UvMethod.SCRIPT: _from_script,
}


def _move(source: Path, target: Path) -> None:
    """Move a program; the run's private folder may be on another file system, where a rename is impossible."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        source.chmod(source.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        shutil.move(source, target)
    except OSError as error:
        raise not_written(target, error) from error


def _put_in_place(run: RunContext, program: Path, version: str, method: UvMethod) -> None:
    """Move the program over the old one in one act, and record it."""
    target = run.workspace.uv
    try:
        program.replace(target)
    except OSError as error:
        raise not_written(target, error) from error
    _record(run, target, version, method.value)


async def running_version(run: RunContext, executable: Path) -> str:
    """Start a uv and return its version.

    Raises:
        AmlError: it does not run here, or is too old.
    """
    result = await run.run_tool(UvCli(executable, run.workspace).version(), total_seconds=PROBE_SECONDS)
    words = result.stdout[0].split() if result.stdout else []
    if result.code != 0 or len(words) < 2 or words[0] != "uv":
        raise AmlError("AML_UV_DOES_NOT_RUN", path=str(executable), status=result.code)
    if Version(words[1]) < MINIMUM_UV:
        raise AmlError("AML_UV_TOO_OLD", path=str(executable), version=words[1], minimum=str(MINIMUM_UV))
    return words[1]


def _record(run: RunContext, executable: Path, version: str, method: str) -> None:
    write_record(
        run.workspace.uv_record,
        {
            "uvPath": str(executable),
            "version": version,
            "installedAt": utc_now(),
            "installDir": str(executable.parent),
            "method": method,
            "sha256": file_sha256(executable),
        },
    )


def is_changed(workspace: Workspace) -> bool:
    """Tell whether the uv that was installed into the workspace is gone, or not the file that it was; reads it."""
    record = read_record(workspace.uv_record) or {}
    path, sha256 = record.get("uvPath"), record.get("sha256")
    if not isinstance(path, str) or not isinstance(sha256, str) or not Path(path).is_relative_to(workspace.tools):
        return False
    try:
        return file_sha256(Path(path)) != sha256
    except (OSError, ValueError):  # ValueError: no path at all
        return True
