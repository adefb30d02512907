"""Resolves a wish to a hashed lock with addresses and sizes (DESIGN 3.5)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from packaging.markers import Marker
from packaging.pylock import Pylock

from amlwizard.core import pip_cli
from amlwizard.core.catalogue import text
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.events import LogEvent
from amlwizard.core.extended_lock import added_requirements, extended, without_added
from amlwizard.core.extending import OUT_OF_REACH, extend_lock, in_store, installed_versions, requirements_file
from amlwizard.core.index_check import blame_index
from amlwizard.core.keeping import take_local_wheels, without_named
from amlwizard.core.lock import lock_text, own_table, read_lock, readable_lock, restrict_to_hashes, scrub
from amlwizard.core.package_sources import PackageSources
from amlwizard.core.pip_python import python_with_pip
from amlwizard.core.pip_report import lock_from_report
from amlwizard.core.plain_files import is_folder
from amlwizard.core.records import utc_now, write_text_atomically
from amlwizard.core.requirements import is_complete_hashed_lock
from amlwizard.core.tool_output import sought_elsewhere, yanked_packages
from amlwizard.core.top_level import TopLevel
from amlwizard.core.torch_builds import build_name
from amlwizard.core.unusable import why_no_folder
from amlwizard.core.urls import is_remote
from amlwizard.core.uv_cli import BEST_MATCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext, ToolResult
    from amlwizard.core.requirements import RequirementsClosure


_MAY_BE_WHEELS: Final = frozenset(
    {
        "AML_NO_WHEEL_FITS",
        "AML_NO_WHEEL_FOR_SYSTEM",
        "AML_CONFLICT",
        "AML_NO_SOURCE",
        "AML_PACKAGE_NOT_FOUND",
        "AML_NO_SUCH_VERSION",
        "AML_PROFILE_NOT_ON_INDEX",
        "AML_RESOLVE_FAILED",
    }
)
"""What uv's refusal to choose a version without a wheel may look like."""


async def resolve(run: RunContext) -> Pylock:
    """Resolve the wish for the chosen interpreter and write the lock that the next environment is built from.

    Raises:
        AmlError: what uv or pip said, by its code.
    """
    output = run.workspace.next_lock  # local paths in a lock are relative to its folder
    try:
        if run.choices.remembered and not run.choices.offline:
            places = text("cli.separator", run.language).join(run.choices.remembered)
            run.emit(LogEvent(run.step, text("remark.remembered", run.language, places=places), remark=True))
        if run.wish.added:
            await run_whole(take_local_wheels, run.workspace)
        present = None if run.choices.refresh else await asyncio.to_thread(lambda: next(_locks(run), None))
        if present is not None:  # all that is new are the additions
            _, lock = present
            return await run_whole(_write_lock, run, output, await _with_added(run, without_added(lock), lock))
        return await run_whole(_write_lock, run, output, await _resolved(run, output))
    except BaseException:
        output.unlink(missing_ok=True)  # what uv wrote is not to be found by a later run
        raise


async def resolve_to(run: RunContext, output: Path) -> Pylock:
    """Resolve the wish anew, for the looks of it: the lock is written to ``output`` and nowhere else.

    Raises:
        AmlError: as ``resolve``.
    """
    return scrub(await _resolved(run, output))


async def _resolved(run: RunContext, output: Path) -> Pylock:
    content = run.wish.content
    if isinstance(content, Pylock):
        if run.wish.bundle is not None and added_requirements(content) == run.wish.added:
            return content
        noted = run.wish.resolved is not None or run.wish.bundle is not None
        return await _with_added(run, without_added(content) if noted else content)
    await asyncio.to_thread(_refuse_without_folders, run)
    lock = await (_with_uv(run, content, output) if run.uv is not None else _with_pip(run, content))
    base = await asyncio.to_thread(restrict_to_hashes, lock, content.allowed_hashes)
    run.wish = without_named(run.wish, (entry.name or "" for entry in content.requirements))
    if not run.wish.added or run.uv is None or is_complete_hashed_lock(content):
        return await _with_added(run, base)
    failure: AmlError | None = None
    for pins in await asyncio.to_thread(_added_pins, run):
        try:  # together, and with the versions that were found without them wherever that is possible
            more = await asyncio.to_thread(_more, run, base, pins)
            lock = await _with_uv(run, content, output, more=more)
            break
        except AmlError as error:
            failure = failure or error
    else:
        return await _with_added(run, base, because=failure)
    lock = await asyncio.to_thread(restrict_to_hashes, in_store(lock, run.workspace), content.allowed_hashes)
    return extended(base, lock.packages, run.wish.added)


def _refuse_without_folders(run: RunContext) -> None:
    """Refuse a folder of packages that is gone; what was chosen for this run has been looked at before."""
    for place in run.choices.find_links:
        if "://" not in place and not is_folder(place):
            lock = str(run.workspace.lock)
            raise AmlError("AML_FIND_LINKS_MISSING", path=place, place=lock, reason=why_no_folder(place))


def _added_pins(run: RunContext) -> list[dict[str, str]]:
    """Return the versions to try for what is added: the installed ones first, unless everything is chosen anew."""
    anew: dict[str, str] = {}
    return [anew] if run.choices.refresh else [installed_versions(run, readable_lock(run.workspace.lock)), anew]


def _more(run: RunContext, base: Pylock, pins: Mapping[str, str]) -> _More:
    """Write down what is added at these versions; what it brings keeps its version where nothing else brings it too."""
    brought = pins.keys() - {package.name for package in base.packages}
    limits = run.tmp / "added-limits.txt"
    write_text_atomically(limits, "".join(f"{name}=={pins[name]}\n" for name in sorted(brought)))
    return _More(requirements_file(run, pins), limits)


async def _with_added(
    run: RunContext, base: Pylock, present: Pylock | None = None, *, because: AmlError | None = None
) -> Pylock:
    """Return a lock with what the wish adds to it, or the present one where that cannot be had and may be left out.

    Args:
        run: the run.
        base: the lock without additions.
        present: the lock with those of before.
        because: why resolving all together has failed.
    """
    if not run.wish.added:
        return replace(base, tool=None)
    try:
        before = present or await asyncio.to_thread(readable_lock, run.workspace.lock)
        return await extend_lock(run, base, before, because)
    except AmlError as error:
        kept = added_requirements(present) if present is not None else ()
        return _left_out(run, present or base, kept, error)


def _left_out(run: RunContext, lock: Pylock, kept: Sequence[str], error: AmlError) -> Pylock:
    """Return the lock without what cannot be kept, and say so; raise the error where nothing may be left out."""
    if not run.wish.may_leave_out:
        raise error
    lost = {name: error.arguments[name] for name in ("packages", "cause")}
    run.emit(LogEvent(run.step, text("added.left_out", run.language, **lost), remark=True))
    run.wish = replace(run.wish, added=tuple(kept))
    return lock


def _locks(run: RunContext) -> Iterator[tuple[Path, Pylock]]:
    """Yield the locks that were resolved from this wish, whatever was added to it, the newest first."""
    for path in (run.workspace.next_lock, run.workspace.lock):
        lock = readable_lock(path)
        if lock is not None and _is_of_wish(run, lock):
            yield path, lock


def _write_lock(run: RunContext, output: Path, lock: Pylock) -> Pylock:
    lock = _described(run, scrub(lock))
    write_text_atomically(output, lock_text(lock))
    return lock


def is_current(run: RunContext, lock: Pylock) -> bool:
    """Tell whether a lock was resolved from this wish for this Python, with the same additions."""
    return _is_of_wish(run, lock) and added_requirements(lock) == run.wish.added


def _is_of_wish(run: RunContext, lock: Pylock) -> bool:
    about = own_table(lock)
    return (about.get("digest"), about.get("accelerator")) == (run.digest, run.wish.accelerator)


def current_lock(run: RunContext) -> tuple[Path, Pylock] | None:
    """Return the lock that Resolve would take and where it lies, None where one is to be made. Blocks."""
    return next(((path, lock) for path, lock in _locks(run) if is_current(run, lock)), None)


def _described(run: RunContext, lock: Pylock) -> Pylock:
    about: dict[str, Any] = {
        **(own_table(lock) if run.wish.added else {}),
        "kind": run.wish.kind,
        "name": run.wish.name,
        "digest": run.digest,
        "python": run.require_python().version_text,
        "platform": run.facts.host.platform,
        # of a bundle that is its own, so that all who set up from one have the same lock, and one hash to expect
        "created": run.wish.bundle.manifest.created if run.wish.bundle is not None else utc_now(),
    }
    if run.wish.kind == "file":  # a profile is always at hand
        content = run.wish.content
        carried = TopLevel.carried_by(content) if isinstance(content, Pylock) else TopLevel.of(content)
        about |= carried.to_toml()
    if run.wish.anew:
        about["anew"] = True
    if run.wish.accelerator is not None:
        about["accelerator"] = run.wish.accelerator
    if sources := PackageSources.of(run.choices).to_toml():
        about["sources"] = sources
    if run.wish.origin is not None:
        about["origin"] = run.wish.origin
    return replace(lock, tool={**(lock.tool or {}), "amlwizard": about})


async def resolve_for(run: RunContext, closure: RequirementsClosure, platform: str, version: str, output: Path) -> Pylock:
    """Resolve requirements for another computer, with versions of which there are wheels where there are such.

    Args:
        run: the run.
        closure: the requirements.
        platform: the computer, by uv's name.
        version: the full version of its Python.
        output: the lock to be written.

    Raises:
        AmlError: what uv said. A lock that names packages without wheels is returned: the caller can name them all.
    """
    try:
        lock = await _with_uv(run, closure, output, _Elsewhere(version, platform))
    except AmlError as error:
        if error.code not in _MAY_BE_WHEELS:
            raise
        try:  # for every platform, which does not ask for wheels: what has none for this one is in the lock then
            lock = await _with_uv(run, closure, output, _Elsewhere(version))
        except AmlError:
            raise error from None
    return await asyncio.to_thread(lambda: scrub(restrict_to_hashes(lock, closure.allowed_hashes)))


@dataclass(frozen=True)
class _Elsewhere:
    """Another computer than this one: its Python, and its platform as uv names it, None for all of them."""

    version: str
    platform: str | None = None


@dataclass(frozen=True)
class _More:
    """Further requirements, and the versions in which they and theirs may come."""

    requirements: Path
    limits: Path


async def _with_uv(
    run: RunContext,
    closure: RequirementsClosure,
    output: Path,
    elsewhere: _Elsewhere | None = None,
    *,
    more: _More | None = None,
) -> Pylock:
    """Resolve requirements; with ``more`` of them, uv stays with the versions in ``output`` wherever it can."""
    python = run.require_python()
    if more is None:
        await asyncio.to_thread(output.unlink, missing_ok=True)
    argv = run.uv_cli().pip_compile(
        [_readable(run, closure), *([more.requirements] if more is not None else [])],
        output,
        python.executable,
        dependencies=not is_complete_hashed_lock(closure),
        python_platform=elsewhere.platform if elsewhere is not None else None,
        python_version=elsewhere.version if elsewhere is not None else None,
        universal=elsewhere is not None and elsewhere.platform is None,
        only_wheels=elsewhere is not None and elsewhere.platform is not None,
        accelerator=run.wish.accelerator,
        find_links=run.find_links,
        upgrade=run.choices.refresh and more is None,
        offline=run.choices.offline,
    )
    constraints = _constraints(run, closure)
    if constraints is not None:
        argv = (*argv, "--constraints", str(constraints))
    if more is not None:
        argv = (*argv, "--constraints", str(more.limits), *BEST_MATCH)
    if closure.has_option("--pre"):
        argv = (*argv, "--prerelease", "allow")
    variables = {**run.uv_variables(), **closure.variable_values(run.parent_environment)}
    result = await run.run_tool(argv, variables=variables, cwd=closure.folder, quiet_stdout=True)
    if result.code != 0:
        failure = await _failure(run, closure, result)
        _tell_own_build(run, failure)
        raise failure
    _tell_yanked(run, result)
    return await asyncio.to_thread(read_lock, output)


def _tell_own_build(run: RunContext, failure: AmlError) -> None:
    """Say which build of PyTorch needs no host of its own where that may be what cannot be reached."""
    torch = run.facts.torch
    if torch is None or torch.accelerator is None or torch.own is None or failure.code not in OUT_OF_REACH:
        return
    told = {"build": build_name(torch.build), "own": build_name(torch.own)}
    run.emit(LogEvent(run.step, text("torch.own_host", run.language, **told), remark=True))


def _tell_yanked(run: RunContext, result: ToolResult) -> None:
    for package, reason in yanked_packages(result.tail).items():
        key = "resolve.yanked" if reason else "resolve.yanked_silently"
        run.emit(LogEvent(run.step, text(key, run.language, package=package, reason=reason), remark=True))


async def _failure(run: RunContext, closure: RequirementsClosure, result: ToolResult) -> AmlError:
    failure = run.failure(result, otherwise="AML_RESOLVE_FAILED")
    if run.choices.offline:  # what uv and pip call a missing version is only missing here
        if sought := sought_elsewhere(result.tail):
            return _named_elsewhere(run, sought)
        return AmlError("AML_OFFLINE_MISSING", detail=failure.detail, cause=failure.arguments["cause"])
    return _of_profile(run, await blame_index(run, closure, failure))


def _of_profile(run: RunContext, failure: AmlError) -> AmlError:
    """Return what a user can do about a profile's packages: there is no file of theirs to correct."""
    profile = run.wish.profile
    if profile is None or run.wish.added or failure.code not in {"AML_PACKAGE_NOT_FOUND", "AML_NO_SUCH_VERSION"}:
        return failure
    arguments = {"package": failure.arguments["package"], "cause": failure.arguments["cause"]}
    return AmlError("AML_PROFILE_NOT_ON_INDEX", detail=failure.detail, profile=profile.name, **arguments)


def _readable(run: RunContext, closure: RequirementsClosure) -> Path:
    """Return the user's file, or a private copy in UTF-8 where uv cannot read it as it is."""
    if not closure.needs_transcoding:
        return closure.path
    copy = run.tmp / "requirements.txt"
    write_text_atomically(copy, closure.requirements_text())
    return copy


def _constraints(run: RunContext, closure: RequirementsClosure) -> Path | None:
    """Return a private copy of the constraints, None where the file that ``_readable`` returns includes them itself."""
    return _copied_constraints(run, closure) if closure.needs_transcoding else None


def _copied_constraints(run: RunContext, closure: RequirementsClosure) -> Path | None:
    if not closure.constraints:
        return None
    copy = run.tmp / "constraints.txt"
    write_text_atomically(copy, closure.constraints_text())
    return copy


async def _with_pip(run: RunContext, closure: RequirementsClosure) -> Pylock:
    if run.wish.accelerator is not None:
        raise AmlError("AML_ACCELERATOR_NEEDS_UV", accelerator=run.wish.accelerator)
    requirements, constraints = _readable(run, closure), _constraints(run, closure)
    if run.choices.offline:  # PIP_NO_INDEX does not keep pip from what the file itself names
        _refuse_remote(run, closure)
        requirements, constraints = run.tmp / "requirements.txt", _copied_constraints(run, closure)
        await asyncio.to_thread(write_text_atomically, requirements, closure.local_requirements_text())
    report = run.tmp / "pip-report.json"
    minimum = pip_cli.minimum_for(entry.url or "" for entry in closure.entries)
    python = await python_with_pip(run, run.require_python(), minimum)
    argv = pip_cli.dry_run_report(
        python,
        requirements,
        report,
        constraints=constraints,
        find_links=[link for link in run.find_links if "://" not in link or not run.choices.offline],
    )
    variables = {**run.pip_variables(), **closure.variable_values(run.parent_environment)}
    result = await run.run_tool(argv, variables=variables, cwd=closure.folder)
    if result.code != 0:
        raise await _failure(run, closure, result)
    _tell_yanked(run, result)
    return await asyncio.to_thread(lambda: lock_from_report(report.read_text(encoding="utf-8")))


def _refuse_remote(run: RunContext, closure: RequirementsClosure) -> None:
    """Refuse offline what is named by an address elsewhere, which pip would go to."""
    environment = run.require_python().marker_environment
    named = [entry for entry in closure.entries if entry.url is not None and is_remote(entry.url)]
    wanted = [entry.text for entry in named if not entry.marker or Marker(entry.marker).evaluate(environment)]
    if wanted:
        raise _named_elsewhere(run, wanted)


def _named_elsewhere(run: RunContext, requirements: Sequence[str]) -> AmlError:
    packages = text("cli.separator", run.language).join(requirements)
    return AmlError("AML_OFFLINE_MISSING", cause=text("offline.addresses", run.language, packages=packages))
