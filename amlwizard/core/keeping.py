"""Keeps what the user added by hand where an environment is built afresh: its packages are added to the lock.

The packages of the lock stay as they are. What was added is resolved beside them, at the versions that are installed,
with the network or, without one, from the wheels of the store; so a kept package is fetched, hashed and installed like any
other, and the next rebuild needs nothing.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.pylock import Package, Pylock
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from amlwizard.core import pip_cli
from amlwizard.core.catalogue import error_texts, text
from amlwizard.core.environment.by_hand import STORE_PREFIX, ByHand, find_by_hand, wanted_by_user
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.extended_lock import extended
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.lock import read_lock
from amlwizard.core.pip_python import python_with_pip
from amlwizard.core.pip_report import lock_from_report
from amlwizard.core.records import write_text_atomically
from amlwizard.core.requirements import RequirementsClosure
from amlwizard.core.storing import wanted_files
from amlwizard.core.wording import added_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace
    from amlwizard.core.wish import Wish

_OUT_OF_REACH: Final = frozenset(
    {
        "AML_INDEX_NAME",
        "AML_INDEX_REFUSED",
        "AML_INDEX_TIMEOUT",
        "AML_INDEX_UNREACHABLE",
        "AML_OFFLINE_MISSING",
        "AML_PROXY_UNREACHABLE",
    }
)
"""What is not the fault of the packages."""
_PLACES: Final = ("--index-url", "--extra-index-url", "--find-links", "--no-index")


@dataclass(frozen=True)
class Settled:
    """A wish that says what becomes of what was added by hand, and the sentence for the user, empty where nothing was."""

    wish: Wish
    remark: str


def settle(wish: Wish, workspace: Workspace, language: str, *, keep: bool, exact: bool = False) -> Settled:
    """Look for what was added by hand, and keep it or leave it out. Blocks for a moment.

    Args:
        wish: what is wanted, with what was kept before.
        workspace: the workspace.
        language: of the sentence.
        keep: keep it.
        exact: what is left out is only what the lock does not have.
    """
    found = find_by_hand(workspace)
    shown = [package.shown for package in found]
    if keep:
        remark = text("added.kept", language, packages=added_text(shown, language)) if found else ""
        return Settled(_with_requirements(wish, found), remark)
    known = {package.name for package in found}
    before = () if exact else tuple(_label(line) for line in wish.added if _name(line) not in known)
    named = text("cli.separator", language).join([*([added_text(shown, language)] if found else []), *before])
    remark = text("added.dropped", language, packages=named) if named else ""
    return Settled(wish if exact else replace(wish, added=()), remark)


def _with_requirements(wish: Wish, found: Sequence[ByHand]) -> Wish:
    kept = {_name(line): line for line in wish.added}
    kept |= {package.name: package.requirement for package in wanted_by_user(found)}
    return replace(wish, added=tuple(dict.fromkeys(kept[name] for name in sorted(kept))))


def take_local_wheels(workspace: Workspace) -> None:
    """Copy the wheels of this computer that were installed by hand into the store. Blocks."""
    for package in find_by_hand(workspace):
        _take_wheel(package, workspace)


def _take_wheel(package: ByHand, workspace: Workspace) -> None:
    wheel = package.local_wheel
    if wheel is None or not wheel.is_file() or package.sha256 not in (None, file_sha256(wheel)):
        return  # what is not in the store will be missed there, by its name
    target = workspace.downloads / wheel.name
    if target.is_file() and file_sha256(target) == file_sha256(wheel):
        return
    workspace.downloads.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    shutil.copyfile(wheel, part)
    part.replace(target)


async def extend_lock(run: RunContext, base: Pylock, because: AmlError | None = None) -> Pylock:
    """Return a lock with what the wish adds to it.

    Args:
        run: the run.
        base: the lock without additions.
        because: the cause to be told where another way has failed before.

    Raises:
        AmlError: ``AML_ADDED_OFFLINE`` or ``AML_ADDED_CONFLICT`` names what cannot be kept.
    """
    await run_whole(take_local_wheels, run.workspace)
    pins = await asyncio.to_thread(_pins, run, base)
    lines = [_rendered(line, run.workspace, pins) for line in run.wish.added]
    constraints = [f"{name}=={version}" for name, version in sorted(pins.items())]
    failure = because
    for from_store in (True,) if run.choices.offline else (False, True):
        try:
            more = await _resolve(run, lines, constraints, from_store=from_store)
        except AmlError as error:
            failure = failure or error
        else:
            return extended(base, _usable(run, base, more.packages), run.wish.added)
    assert failure is not None  # noqa: S101 - each way has failed
    raise _cannot_keep(run, failure)


def _cannot_keep(run: RunContext, failure: AmlError) -> AmlError:
    """Return the error that says what cannot be kept, and why."""
    out_of_reach = run.choices.offline or failure.code in _OUT_OF_REACH
    return AmlError(
        "AML_ADDED_OFFLINE" if out_of_reach else "AML_ADDED_CONFLICT",
        packages=_list(run.wish.added, run.language),
        cause=error_texts(failure, run.language)[0],
        detail=failure.detail,
    )


def _list(lines: Iterable[str], language: str) -> str:
    return text("cli.separator", language).join(map(_label, lines))


def _label(line: str) -> str:
    """Return a requirement as it is told: without the place of the store."""
    return line.replace(f" @ {STORE_PREFIX}", " ") if STORE_PREFIX in line else line


def requirements_file(run: RunContext) -> Path:
    """Write the requirements that the wish adds, for a resolver, and return the file. Blocks."""
    file = run.tmp / "added.txt"
    write_text_atomically(file, "".join(f"{_rendered(line, run.workspace, {})}\n" for line in run.wish.added))
    return file


def without_named(wish: Wish, names: Iterable[str]) -> Wish:
    """Return the wish without those additions that its requirements name themselves by now."""
    named = set(names)
    return replace(wish, added=tuple(line for line in wish.added if line not in named))


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
    if path is not None and path.parent == workspace.downloads:
        changed.pop("url", None)
        changed["path"] = f"{STORE_PREFIX}{path.name}"
    return changed


def _local(place: str) -> Path | None:
    url = urlsplit(place)
    if url.scheme == "file":
        return Path(url2pathname(url.path))
    return None if "://" in place else Path(place)


def _usable(run: RunContext, base: Pylock, more: Sequence[Package]) -> list[Package]:
    """Return the packages without those that the lock has from folders or commits, unless they were added themselves."""
    named = {_name(line) for line in run.wish.added}
    unversioned = {package.name for package in base.packages if package.version is None}
    return [package for package in more if package.name in named or package.name not in unversioned]


def _pins(run: RunContext, base: Pylock) -> dict[str, str]:
    """Return the versions of the lock, and in their place those that were installed by hand from an index."""
    pins = {file.name: file.version for file in wanted_files(run, base).files if file.version}
    for package in find_by_hand(run.workspace):
        pins.pop(package.name, None)
        if not package.origin:
            pins[package.name] = package.version
    return pins


def _name(line: str) -> str:
    """Return the name that a requirement is about; of an editable folder the line itself."""
    if line.startswith("-e "):
        return line
    return canonicalize_name(line.partition(" @ ")[0].partition("==")[0].strip())


def _rendered(line: str, workspace: Workspace, pins: Mapping[str, str]) -> str:
    """Return a requirement as a resolver reads it wherever it runs, at the version that is installed."""
    name, direct, place = line.partition(" @ ")
    if direct and place.startswith(STORE_PREFIX):
        return f"{name} @ {(workspace.downloads / place.removeprefix(STORE_PREFIX)).as_uri()}"
    try:
        plain = not Requirement(line).specifier and not direct
    except InvalidRequirement:
        return line
    return f"{line}=={pins[name]}" if plain and name in pins else line


async def _resolve(run: RunContext, lines: Sequence[str], constraints: Sequence[str], *, from_store: bool) -> Pylock:
    wanted, limits = run.tmp / "added.txt", run.tmp / "installed.txt"
    write_text_atomically(wanted, "".join(f"{line}\n" for line in [*([] if from_store else _indexes(run)), *lines]))
    write_text_atomically(limits, "".join(f"{line}\n" for line in constraints))
    places = await asyncio.to_thread(_store_folders, run.workspace) if from_store else list(run.choices.find_links)
    resolver = _with_uv if run.uv is not None else _with_pip
    return in_store(await resolver(run, wanted, limits, places, from_store=from_store), run.workspace)


async def _with_uv(run: RunContext, wanted: Path, limits: Path, places: Sequence[str], *, from_store: bool) -> Pylock:
    output = run.tmp / "pylock.added.toml"
    output.unlink(missing_ok=True)
    argv = run.uv_cli().pip_compile(
        [wanted],
        output,
        run.require_python().executable,
        find_links=places,
        offline=from_store,
        no_index=from_store,
    )
    argv = (*argv, "--constraints", str(limits))
    variables = run.uv_variables(indexes=not from_store) | _named_variables(run)
    result = await run.run_tool(argv, variables=variables, cwd=run.tmp, quiet_stdout=True)
    if result.code != 0:
        raise run.failure(result, otherwise="AML_RESOLVE_FAILED")
    return await asyncio.to_thread(read_lock, output)


async def _with_pip(run: RunContext, wanted: Path, limits: Path, places: Sequence[str], *, from_store: bool) -> Pylock:
    report = run.tmp / "pip-added.json"
    python = await python_with_pip(run, run.require_python(), pip_cli.MINIMUM_FOR_REPORT)
    argv = pip_cli.dry_run_report(python, wanted, report, constraints=limits, find_links=places)
    variables = run.pip_variables() | ({"PIP_NO_INDEX": "1"} if from_store else {}) | _named_variables(run)
    result = await run.run_tool(argv, variables=variables, cwd=run.tmp)
    if result.code != 0:
        raise run.failure(result, otherwise="AML_RESOLVE_FAILED")
    return lock_from_report(json.loads(await asyncio.to_thread(report.read_text, encoding="utf-8")))


def _indexes(run: RunContext) -> list[str]:
    """Return the options of the user's requirements that say where packages come from."""
    content = run.wish.content
    lines = content.requirements_text().splitlines() if isinstance(content, RequirementsClosure) else []
    return [line for line in lines if line.startswith(_PLACES)]


def _named_variables(run: RunContext) -> dict[str, str]:
    content = run.wish.content
    return content.variable_values(run.parent_environment) if isinstance(content, RequirementsClosure) else {}


def _store_folders(workspace: Workspace) -> list[str]:
    """Return the folders of the store that hold wheels, those that were built here included."""
    built = {str(wheel.parent) for wheel in workspace.built.glob("*/*.whl")}
    return [str(workspace.downloads), *sorted(built)]
