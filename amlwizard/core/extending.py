"""Adds requirements to a lock whose packages stay as they are: resolved beside them, with the network or from the store."""

from __future__ import annotations

import asyncio
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from packaging.pylock import Package, Pylock

from amlwizard.core import pip_cli
from amlwizard.core.added_lines import is_plain, label, name_of, rendered
from amlwizard.core.catalogue import Phrase, message_phrase, text
from amlwizard.core.environment.by_hand import STORE_PREFIX, find_by_hand
from amlwizard.core.errors import AmlError
from amlwizard.core.extended_lock import added_requirements, added_versions, extended
from amlwizard.core.local_files import file_gone
from amlwizard.core.lock import read_lock, readable_lock
from amlwizard.core.pip_python import python_with_pip
from amlwizard.core.pip_report import lock_from_report
from amlwizard.core.plain_files import exists, is_file
from amlwizard.core.records import write_text_atomically
from amlwizard.core.requirements import RequirementsClosure
from amlwizard.core.store.ledger import store_place
from amlwizard.core.storing import wanted_files
from amlwizard.core.urls import is_remote, local_path
from amlwizard.core.uv_cli import BEST_MATCH
from amlwizard.core.wording import added_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace

OUT_OF_REACH: Final = frozenset(
    {
        "AML_INDEX_NAME",
        "AML_INDEX_PROXY",
        "AML_INDEX_REFUSED",
        "AML_INDEX_TIMEOUT",
        "AML_INDEX_UNREACHABLE",
        "AML_OFFLINE_MISSING",
        "AML_PROXY_UNREACHABLE",
    }
)
"""What is not the fault of the packages."""
_PLACES: Final = ("--index-url", "--extra-index-url", "--find-links", "--no-index")


async def extend_lock(run: RunContext, base: Pylock, present: Pylock | None, because: AmlError | None = None) -> Pylock:
    """Return a lock with what the wish adds to it, at the versions that are installed; newer ones where it is refreshed.

    Args:
        run: the run.
        base: the lock without additions.
        present: the lock with those of before, which keep their versions.
        because: the cause to be told where another way has failed before.

    Raises:
        AmlError: ``AML_ADDED_OFFLINE`` or ``AML_ADDED_CONFLICT`` names what cannot be kept.
    """
    locked = await asyncio.to_thread(_locked, run, base)
    installed = await asyncio.to_thread(_installed, run, locked, present)
    ways = [(installed, True)]
    if not run.choices.offline:
        ways.insert(0, (installed, False))
        if run.choices.refresh and because is None:
            ways.insert(0, (locked, False))
    failure = because
    for pins, from_store in ways:
        try:
            more = await _resolve(run, pins, from_store=from_store)
        except AmlError as error:
            failure = failure or error
        else:
            return extended(base, _usable(run, base, more.packages), run.wish.added)
    assert failure is not None  # noqa: S101 - each way has failed
    raise await asyncio.to_thread(_cannot_keep, run, failure) from failure


def _cannot_keep(run: RunContext, failure: AmlError) -> AmlError:
    """Return the error that says what cannot be kept, and why."""
    out_of_reach = run.choices.offline or failure.code in OUT_OF_REACH
    found = [package.shown for package in find_by_hand(run.workspace)]
    separator = text("cli.separator", run.language)
    return AmlError(
        "AML_ADDED_OFFLINE" if out_of_reach else "AML_ADDED_CONFLICT",
        packages=added_text(found, run.language) if found else separator.join(map(label, run.wish.added)),
        cause=Phrase("added.not_in_store") if run.choices.offline else message_phrase(failure),
        detail=failure.detail,
    )


def _locked(run: RunContext, base: Pylock) -> dict[str, str]:
    """Return the versions of the lock, but for what the wish wants in another one."""
    chosen = {name_of(line) for line in run.wish.added if not is_plain(line)}
    return {file.name: file.version for file in wanted_files(run, base).files if file.version and file.name not in chosen}


def _installed(run: RunContext, locked: Mapping[str, str], present: Pylock | None) -> dict[str, str]:
    """Return the same, with the versions that are installed of what was added, and of what that brought with it."""
    pins = {**run.wish.added_versions, **locked}
    if present is not None:
        pins |= added_versions(present)
    for package in find_by_hand(run.workspace):
        pins.pop(package.name, None)
        if not package.origin:
            pins[package.name] = package.version
    for line in run.wish.added:
        if not is_plain(line):
            pins.pop(name_of(line), None)
    return pins


def installed_versions(run: RunContext, present: Pylock | None) -> dict[str, str]:
    """Return the versions that are installed of what was added to the present lock or by hand. Blocks."""
    return _installed(run, {}, present)


def requirements_file(run: RunContext, pins: Mapping[str, str], options: Sequence[str] = ()) -> Path:
    """Write the requirements that the wish adds, and options above them, for a resolver; return the file. Blocks."""
    file = run.tmp / "added.txt"
    kept = _kept_wheels(run)
    lines = [*options, *(kept.get(line) or rendered(line, run.workspace, pins) for line in run.wish.added)]
    write_text_atomically(file, "".join(f"{line}\n" for line in lines))
    return file


def _kept_wheels(run: RunContext) -> dict[str, str]:
    """Return the lines that name a wheel which was added before, lies in the store, and is not to be had elsewhere now.

    Raises:
        AmlError: ``AML_ADDED_FILE_GONE``; a file of this computer is neither in its place nor in the store.
    """
    lock = readable_lock(run.workspace.lock)
    packages: dict[str, Package] = {package.name: package for package in lock.packages} if lock is not None else {}
    before = added_requirements(lock) if lock is not None else ()
    kept: dict[str, str] = {}
    for line in run.wish.added:
        name, _, address = line.partition(" @ ")
        path = local_path(address) if address.startswith("file:") else None
        if path is None and not (run.choices.offline and is_remote(address)):
            continue
        if path is not None and exists(path):
            continue
        package = packages.get(name.partition("[")[0]) if line in before else None
        wheel = _stored_wheel(run.workspace, package) if package is not None else None
        if wheel is not None:
            kept[line] = f"{name} @ {wheel.as_uri()}"
        elif path is not None:
            raise file_gone(run, name_of(line), path)
    return kept


def _stored_wheel(workspace: Workspace, package: Package) -> Path | None:
    source = package.archive or next(iter(package.wheels or ()), None)  # pip does not tell the one from the other
    if source is None:
        return None
    filename = PurePosixPath(unquote(urlsplit(source.url or source.path or "").path)).name
    stored = store_place(workspace, filename, source.hashes.get("sha256"))
    return stored if filename.endswith(".whl") and is_file(stored) else None


def in_store(lock: Pylock, workspace: Workspace) -> Pylock:
    """Return the lock with the wheels that were found in the store named by their place beside it.

    An address of this computer would not outlive a move of the workspace, and is nobody's business elsewhere.
    """
    return Pylock.from_dict(_relative(lock.to_dict(), workspace))


def _relative(value: Any, workspace: Workspace) -> Any:
    if isinstance(value, list | tuple):
        return [_relative(item, workspace) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _relative(item, workspace) for key, item in value.items()}
    place = changed.get("url") or changed.get("path")
    path = _local(place) if isinstance(place, str) and "hashes" in changed else None
    if path is not None and path.is_relative_to(workspace.downloads):
        changed.pop("url", None)
        changed["path"] = f"{STORE_PREFIX}{path.relative_to(workspace.downloads).as_posix()}"
    return changed


def _local(place: str) -> Path | None:
    if place.startswith("file:"):
        return local_path(place)
    return None if "://" in place else Path(place)


def _usable(run: RunContext, base: Pylock, more: Sequence[Package]) -> list[Package]:
    """Return the packages without those that the lock has from folders or commits, unless they were added themselves."""
    named = {name_of(line) for line in run.wish.added}
    unversioned = {package.name for package in base.packages if package.version is None}
    return [package for package in more if package.name in named or package.name not in unversioned]


async def _resolve(run: RunContext, pins: Mapping[str, str], *, from_store: bool) -> Pylock:
    wanted = await asyncio.to_thread(requirements_file, run, pins, [] if from_store else _indexes(run))
    limits = run.tmp / "installed.txt"
    pinned = "".join(f"{name}=={version}\n" for name, version in sorted(pins.items()))
    await asyncio.to_thread(write_text_atomically, limits, pinned)
    places = await asyncio.to_thread(_store_folders, run.workspace) if from_store else list(run.find_links)
    resolver = _with_uv if run.uv is not None else _with_pip
    return in_store(await resolver(run, wanted, limits, places, from_store=from_store), run.workspace)


async def _with_uv(run: RunContext, wanted: Path, limits: Path, places: Sequence[str], *, from_store: bool) -> Pylock:
    output = run.tmp / "pylock.added.toml"
    output.unlink(missing_ok=True)
    argv = run.uv_cli().pip_compile(
        [wanted],
        output,
        run.require_python().executable,
        accelerator=None if from_store else run.wish.accelerator,
        find_links=places,
        offline=from_store,
        no_index=from_store,
    )
    argv = (*argv, "--constraints", str(limits), *BEST_MATCH)
    variables = run.uv_variables(indexes=not from_store) | _named_variables(run)
    result = await run.run_tool(argv, variables=variables, cwd=run.tmp, quiet_stdout=True)
    if result.code != 0:
        raise run.failure(result, otherwise="AML_RESOLVE_FAILED")
    return await asyncio.to_thread(read_lock, output)


async def _with_pip(run: RunContext, wanted: Path, limits: Path, places: Sequence[str], *, from_store: bool) -> Pylock:
    lines = (await asyncio.to_thread(wanted.read_text, encoding="utf-8")).splitlines()
    remote = [line for line in lines if is_remote(line.partition(" @ ")[2])]
    if from_store and remote:  # pip would go there
        packages = text("cli.separator", run.language).join(remote)
        raise AmlError("AML_OFFLINE_MISSING", cause=text("offline.addresses", run.language, packages=packages))
    report = run.tmp / "pip-added.json"
    minimum = pip_cli.minimum_for(line.partition(" @ ")[2] for line in run.wish.added)
    python = await python_with_pip(run, run.require_python(), minimum)
    argv = pip_cli.dry_run_report(python, wanted, report, constraints=limits, find_links=places)
    variables = run.pip_variables(indexes=not from_store) | _named_variables(run)
    result = await run.run_tool(argv, variables=variables, cwd=run.tmp)
    if result.code != 0:
        raise run.failure(result, otherwise="AML_RESOLVE_FAILED")
    return await asyncio.to_thread(lambda: lock_from_report(report.read_text(encoding="utf-8")))


def _indexes(run: RunContext) -> list[str]:
    """Return the options of the user's requirements that say where packages come from."""
    content = run.wish.content
    lines = content.requirements_text().splitlines() if isinstance(content, RequirementsClosure) else []
    return [line for line in lines if line.startswith(_PLACES)]


def _named_variables(run: RunContext) -> dict[str, str]:
    content = run.wish.content
    return content.variable_values(run.parent_environment) if isinstance(content, RequirementsClosure) else {}


def _store_folders(workspace: Workspace) -> list[str]:
    """Return the folders of the store that hold wheels, those with a folder of their own included."""
    built = {str(wheel.parent) for wheel in workspace.built.glob("*/*.whl")}
    return [str(workspace.downloads), *sorted(built)]
