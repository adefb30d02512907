"""Sets up a uv-managed interpreter in ``<root>/python`` from an archive that our own fetcher brought (DESIGN 3.4)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from packaging.version import Version

from amlwizard.core.catalogue import Phrase, ToolText, message_phrase
from amlwizard.core.data_text import parse_json
from amlwizard.core.environment.relink import bring_in_interpreter
from amlwizard.core.environment.removal import is_link, remove_tree
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.facts import minor_of
from amlwizard.core.fetching import Download
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.interpreters import Origin, note_origin
from amlwizard.core.lacking import Lacking, incomplete_store
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.records import write_text_atomically
from amlwizard.core.store.ledger import Noted, note_files
from amlwizard.core.unchecked_archives import drop_unchecked, fetch_for_uv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amlwizard.core.context import RunContext
    from amlwizard.core.facts import Host
    from amlwizard.core.paths import Workspace

DEFAULT_VERSION = "3.11"
_MINORS = ("3.13", "3.12", "3.14", "3.11", "3.10")
"""What is tried for a declared range without the default version, best supported by wheels first."""
_MINOR = re.compile(r"3\.\d{1,2}", re.ASCII)
OUT_OF_REACH = frozenset(
    f"AML_NET_{name}"
    for name in ("NAME", "REFUSED", "UNREACHABLE", "TIMEOUT", "NOT_FOUND", "FORBIDDEN", "BUSY", "SERVER", "SIGN_IN")
)
"""What another place for the archive helps against; these codes themselves speak of another index."""
ALTERED = frozenset({"AML_HASH_MISMATCH", "AML_HASH_REFUSED", "AML_NET_SIZE"})
"""What says of an archive that it is not the one that was promised; these codes speak of packages and their index."""
_ENTRY_KEYS = ("name", "arch", "os", "libc", "major", "minor", "patch", "prerelease", "variant", "build")
"""What uv reads of an entry besides its address and hash."""


@dataclass(frozen=True)
class PythonArchive:
    """One interpreter archive; ``sha256`` is None where only uv's built-in list knows the hash. ``entry`` is the JSON's."""

    version: Version
    url: str
    sha256: str | None
    key: str
    entry: dict[str, Any] | None = None

    @property
    def filename(self) -> str:
        """Return the archive's file name; an encoded slash or a backslash ends a folder's name as well."""
        return _decoded_path(self.url).name

    @property
    def build(self) -> str:
        """Return the release's folder name, which a mirror repeats."""
        return _decoded_path(self.url).parent.name

    def on_mirror(self, mirror: str) -> PythonArchive:
        """Return the same archive at its place on a mirror; uv checks its hash whatever place it comes from."""
        return replace(self, url="/".join((mirror.rstrip("/"), quote(self.build), quote(self.filename))))


def _decoded_path(url: str) -> PurePosixPath:
    path = PurePosixPath(unquote(urlsplit(url).path).replace("\\", "/"))
    return PurePosixPath(*(part for part in path.parts if part != ".."))


async def install_python(run: RunContext, wanted: str) -> Path:
    """Install an interpreter of the wanted version (``3.11`` or ``3.11.9``) and return its executable.

    Raises:
        AmlError: ``AML_PYTHON_VERSION_UNAVAILABLE``, ``AML_PYTHON_UNREACHABLE``, ``AML_PYTHON_ALTERED``,
            ``AML_UV_PYTHON_FAILED``, a network code, or ``AML_STORE_INCOMPLETE`` where the archive would have to be fetched
            and the network is not to be used.
    """
    archive = await asyncio.to_thread(kept_archive, run.workspace, wanted, run.facts.host)
    try:
        if archive is None:
            archive = await find_archive(run, wanted)
        if archive is not None and run.choices.offline and not archive.url.startswith("file:"):
            raise archive_lacking(run, archive)
        if archive is not None:
            return await install_archive(run, archive)
    except AmlError as error:
        raise of_archive(error, wanted) from error
    raise AmlError("AML_PYTHON_VERSION_UNAVAILABLE", wanted=wanted, platform=run.facts.host.platform)


def of_archive(error: AmlError, wanted: str) -> AmlError:
    """Return the error with the ways around it where another place for the archive helps."""
    if error.code not in OUT_OF_REACH | ALTERED:
        return error
    code = "AML_PYTHON_UNREACHABLE" if error.code in OUT_OF_REACH else "AML_PYTHON_ALTERED"
    return AmlError(code, version=wanted, cause=message_phrase(error), detail=error.detail)


def wanted_version(run: RunContext) -> str:
    """Return the version to set up where no interpreter was found: that of the environment which is there, if any."""
    if run.choices.python is not None:
        return run.choices.python
    allowed = run.wish.python_range
    own = minor_of(run.facts.environment.python or "")
    tried = ([own] if _MINOR.fullmatch(own) else []) + [DEFAULT_VERSION, *_MINORS]
    return next((minor for minor in tried if allowed is None or allowed.contains(newest_patch(minor))), DEFAULT_VERSION)


def newest_patch(version: str) -> Version:
    """Return a version itself, or that of a minor version beyond every patch of it."""
    return Version(version if version.count(".") == 2 else f"{version}.99")


def archive_lacking(run: RunContext, archive: PythonArchive) -> AmlError:
    """Return the error that names an archive and the description that has to lie beside it."""
    names = (archive.filename, f"{archive.filename}.json")
    absent = [Lacking.of(name, None, archive.url) for name in names]
    return incomplete_store(absent, run.workspace.downloads, run.language)


async def install_archive(run: RunContext, archive: PythonArchive) -> Path:
    """Fetch an archive unless the store has it, let uv unpack it, and return the interpreter.

    uv lets its link for the minor version lead to what it unpacks, and an environment in use may stand on that link. So
    where there is one, it unpacks elsewhere, and the interpreter is brought in as a whole.

    Raises:
        AmlError: ``AML_UV_PYTHON_FAILED``, or a network code.
    """
    beside = await asyncio.to_thread(_has_minor_link, run.workspace, archive.version)
    place = run.workspace.interpreters_beside if beside else run.workspace.interpreters
    if beside:
        await run_whole(remove_tree, place)  # what a run left that died
    try:
        executable = await _unpacked(run, archive, place)
        if beside:
            executable = await run_whole(bring_in_interpreter, run.workspace, executable)
    finally:
        if beside:
            await run_whole(remove_tree, place)
    await run_whole(_note_origin, run, archive, executable)
    return executable


async def _unpacked(run: RunContext, archive: PythonArchive, place: Path) -> Path:
    uv = run.uv_cli()
    before = _installed(place)
    if archive.sha256 is not None and archive.entry is not None:
        stored = run.workspace.downloads / archive.filename
        await run.fetch([Download((archive.url,), stored, archive.sha256)])
        described = {archive.key: {**archive.entry, "url": stored.as_uri()}}
        description = run.tmp / "python-downloads.json"
        await run_whole(write_text_atomically, description, json.dumps(described))
        argv = uv.python_install(str(archive.version), downloads_json=description.as_uri(), folder=place)
        result = await run.run_tool(argv, variables=run.uv_variables(downloads=True))
        if result.code != 0:
            raise run.failure(result, otherwise="AML_UV_PYTHON_FAILED", version=str(archive.version))
    else:
        stored = await fetch_for_uv(
            run, archive, lambda mirror: uv.python_install(str(archive.version), mirror=mirror, folder=place)
        )
    await run_whole(keep_archive, run.workspace, archive, stored)
    names = sorted(_installed(place) - before) or sorted(_installed(place))  # a new folder, or one that was there already
    executable = _executable(place, names, archive.version)
    if executable is None:
        raise AmlError("AML_UV_PYTHON_FAILED", version=str(archive.version), cause=Phrase("uv.python_absent"))
    return executable


def _has_minor_link(workspace: Workspace, version: Version) -> bool:
    minor = f"-{version.major}.{version.minor}-"
    return any(
        minor in f"{name}-" and is_link(workspace.interpreters / name) for name in _installed(workspace.interpreters)
    )


def _note_origin(run: RunContext, archive: PythonArchive, executable: Path) -> None:
    """Remember the archive that uv has just found right, so that the interpreter can be mended from it."""
    if archive.entry is None:
        return
    stored = run.workspace.downloads / archive.filename
    sha256 = archive.sha256 or file_sha256(stored)
    name = executable.relative_to(run.workspace.interpreters).parts[0]
    origin = Origin(name, str(archive.version), stored.name, sha256, archive.key, {**archive.entry, "url": archive.url})
    note_origin(run.workspace, origin)


def keep_archive(workspace: Workspace, archive: PythonArchive, file: Path) -> None:
    """Put an archive that uv has found right into the store, with its description beside it."""
    stored = workspace.downloads / archive.filename
    note_files(workspace, {stored: Noted(archive.sha256, file.stat().st_size)})
    if file != stored:
        workspace.downloads.mkdir(parents=True, exist_ok=True)
        shutil.move(file, stored)
        drop_unchecked(workspace, file)
    if archive.entry is not None:
        known = {key: archive.entry.get(key) for key in _ENTRY_KEYS}
        entry = {**known, "url": quote(archive.filename), "sha256": archive.sha256 or file_sha256(stored)}
        write_text_atomically(stored.with_name(f"{stored.name}.json"), json.dumps({archive.key: entry}, indent=2) + "\n")


def described_archives(workspace: Workspace, wanted: str, host: Host) -> list[PythonArchive]:
    """Return the archives of a version that the store holds with a description, the newest first. No hash is compared."""
    found: list[PythonArchive] = []
    for description in sorted(workspace.downloads.glob("*.json")):
        file = description.with_name(description.name.removesuffix(".json"))
        try:
            content = parse_json(read_plain_text(description))
        except (OSError, ValueError):
            continue
        archive = pick_archive(content, wanted, host, base="") if isinstance(content, dict) else None
        if archive is not None and archive.sha256 and archive.filename == file.name and file.is_file():
            found.append(replace(archive, url=file.as_uri()))
    return sorted(found, key=lambda archive: archive.version, reverse=True)


def kept_archive(workspace: Workspace, wanted: str, host: Host) -> PythonArchive | None:
    """Return the newest archive of a version that the store holds, with its description and its right hash. Blocks."""
    for archive in described_archives(workspace, wanted, host):
        if file_sha256(workspace.downloads / archive.filename) == archive.sha256:
            return archive
    return None


async def find_archive(run: RunContext, wanted: str, host: Host | None = None) -> PythonArchive | None:
    """Return the newest archive of a version, from the chosen list or from uv's own; nothing is written.

    Args:
        run: the run.
        wanted: ``3.11`` or ``3.11.9``.
        host: another computer than this one.
    """
    source = run.choices.python_downloads_json
    if source is not None:
        description = await _read_description(run, source)
    else:
        description = await _uv_list(run, wanted, elsewhere=host is not None)
    archive = pick_archive(description, wanted, host or run.facts.host, base=source or "")
    mirror = run.choices.python_mirror
    return archive.on_mirror(mirror) if archive is not None and source is None and mirror is not None else archive


def pick_archive(description: Any, wanted: str, host: Host, *, base: str) -> PythonArchive | None:
    """Return the newest archive of a downloads JSON that fits the version and the computer.

    Args:
        description: the parsed JSON, an object of entries (DESIGN section 10).
        wanted: ``3.11`` or ``3.11.9``.
        host: the computer.
        base: where the JSON came from; addresses in it may be relative.
    """
    if not isinstance(description, dict):
        raise AmlError("AML_PYTHON_JSON_INVALID", url=base)
    found: list[PythonArchive] = []
    for key, entry in description.items():
        if not isinstance(entry, dict) or not _fits(entry, host):
            continue
        try:
            version = Version(f"{entry['major']}.{entry['minor']}.{entry['patch']}{entry.get('prerelease') or ''}")
            url = urljoin(base, entry["url"])
            _ = urlsplit(url).port
        except (KeyError, TypeError, AttributeError, ValueError):  # not a version, or not an address
            continue
        if version.is_prerelease or not _is_wanted(version, wanted):
            continue
        sha256 = entry.get("sha256")
        found.append(PythonArchive(version, url, sha256 if isinstance(sha256, str) else None, key, entry))
    return max(found, key=lambda archive: archive.version, default=None)


def _fits(entry: dict[str, Any], host: Host) -> bool:
    arch = entry.get("arch")
    family = arch.get("family") if isinstance(arch, dict) else arch
    if isinstance(arch, dict) and arch.get("variant"):
        return False
    # a downloads JSON says darwin, uv's own list says macos
    systems = {"macos": ("darwin", "macos")}.get(host.system, (host.system,))
    machine = "aarch64" if host.machine == "arm64" else host.machine
    libc = {"linux": "musl" if host.libc.startswith("musl") else "gnu"}.get(host.system, "none")
    return (
        entry.get("name") == "cpython"
        and entry.get("os") in systems
        and family == machine
        and entry.get("libc") == libc
        and not entry.get("variant")
    )


def _is_wanted(version: Version, wanted: str) -> bool:
    parts = tuple(int(part) for part in wanted.split("."))
    return version.release[: len(parts)] == parts


async def _read_description(run: RunContext, source: str) -> Any:
    return parse_downloads(await run.fetcher.read(source), source)


def parse_downloads(body: str | bytes, source: str) -> Any:
    """Return a downloads JSON.

    Raises:
        AmlError: ``AML_PYTHON_JSON_INVALID``; ``source`` is its address, for the words.
    """
    try:
        return parse_json(body)
    except ValueError as error:
        raise AmlError("AML_PYTHON_JSON_INVALID", url=source) from error


async def _uv_list(run: RunContext, wanted: str, *, elsewhere: bool) -> dict[str, dict[str, Any]]:
    """Return the archives that uv knows, in the form of a downloads JSON; uv tells no hashes."""
    result = await run.run_tool(
        run.uv_cli().python_list_downloads(wanted, all_platforms=elsewhere),
        variables=run.uv_variables(downloads=True),
        quiet_stdout=True,
    )
    if result.code != 0:
        raise run.failure(result, otherwise="AML_UV_PYTHON_FAILED", version=wanted)
    return offered_archives("\n".join(result.stdout), wanted)


def offered_archives(output: str, wanted: str) -> dict[str, dict[str, Any]]:
    """Return the rows of uv's list of interpreters as the entries of a downloads JSON, by their keys.

    Raises:
        AmlError: ``AML_UV_PYTHON_FAILED``; the output is no such list.
    """
    try:
        return {offer["key"]: _entry(offer) for offer in parse_json(output or "[]") if offer.get("url")}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise AmlError("AML_UV_PYTHON_FAILED", version=wanted, cause=ToolText(str(error))) from error


def _entry(offer: dict[str, Any]) -> dict[str, Any]:
    """Return one row of uv's list as the entry of a downloads JSON, without a hash."""
    version = Version(offer["version"])
    variant = offer.get("variant")
    return {
        "name": offer["implementation"],
        "arch": {"family": offer["arch"], "variant": None},
        "os": "darwin" if offer["os"] == "macos" else offer["os"],
        "libc": offer["libc"],
        "major": version.major,
        "minor": version.minor,
        "patch": version.micro,
        "prerelease": "".join(map(str, version.pre or ())),
        "url": offer["url"],
        "sha256": None,
        "variant": None if variant == "default" else variant,
        "build": None,
    }


def _installed(folder: Path) -> set[str]:
    return {entry.name for entry in os.scandir(folder)} if folder.is_dir() else set()


def installed_python(workspace: Workspace, version: Version) -> Path | None:
    """Return the managed interpreter of exactly this version, None where there is none."""
    return _executable(workspace.interpreters, sorted(_installed(workspace.interpreters)), version)


def _executable(folder: Path, names: Sequence[str], version: Version) -> Path | None:
    relative = Path("python.exe") if os.name == "nt" else Path("bin", f"python{version.major}.{version.minor}")
    for name in names:
        candidate = folder / name / relative
        if f"-{version}-" in f"{name}-" and candidate.is_file() and not is_link(folder / name):
            return candidate
    return None
