"""Resolves a wish to a hashed lock with addresses and sizes (DESIGN 3.5)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from packaging.pylock import Pylock
from packaging.utils import canonicalize_name

from amlwizard.core import pip_cli
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.index_check import blame_index
from amlwizard.core.lock import lock_text, read_lock, restrict_to_hashes, scrub
from amlwizard.core.pip_python import python_with_pip
from amlwizard.core.records import utc_now, write_text_atomically
from amlwizard.core.requirements import is_complete_hashed_lock
from amlwizard.core.top_level import TopLevel

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.context import RunContext, ToolResult
    from amlwizard.core.requirements import RequirementsClosure


_MAY_BE_WHEELS: Final = frozenset(
    {"AML_NO_WHEEL_FITS", "AML_CONFLICT", "AML_PACKAGE_NOT_FOUND", "AML_NO_SUCH_VERSION", "AML_RESOLVE_FAILED"}
)
"""What uv's refusal to choose a version without a wheel may look like."""


async def resolve(run: RunContext) -> Pylock:
    """Resolve the wish for the chosen interpreter and write the lock that the next environment is built from.

    Raises:
        AmlError: what uv or pip said, by its code.
    """
    content = run.wish.content
    output = run.workspace.next_lock  # local paths in a lock are relative to its folder
    try:
        if isinstance(content, Pylock):
            lock = content
        else:
            lock = await (_with_uv(run, content, output) if run.uv is not None else _with_pip(run, content))
            lock = await asyncio.to_thread(restrict_to_hashes, lock, content.allowed_hashes)
        return await run_whole(_write_lock, run, lock)
    except BaseException:
        output.unlink(missing_ok=True)  # what uv wrote is not to be found by a later run
        raise


def _write_lock(run: RunContext, lock: Pylock) -> Pylock:
    lock = _described(run, scrub(lock))
    write_text_atomically(run.workspace.next_lock, lock_text(lock))
    return lock


def is_current(run: RunContext, lock: Pylock) -> bool:
    """Tell whether a lock was resolved from this wish for this Python."""
    described = (lock.tool or {}).get("amlwizard", {})
    return bool(described.get("digest") == run.digest)


def _described(run: RunContext, lock: Pylock) -> Pylock:
    about: dict[str, Any] = {
        "kind": run.wish.kind,
        "name": run.wish.name,
        "digest": run.digest,
        "python": run.require_python().version_text,
        "platform": run.facts.host.platform,
        "created": utc_now(),
    }
    if run.wish.kind == "file":  # a profile is always at hand
        content = run.wish.content
        carried = TopLevel.carried_by(content) if isinstance(content, Pylock) else TopLevel.of(content)
        about |= carried.to_toml()
    if run.wish.anew:
        about["anew"] = True
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


async def _with_uv(
    run: RunContext, closure: RequirementsClosure, output: Path, elsewhere: _Elsewhere | None = None
) -> Pylock:
    python = run.require_python()
    output.unlink(missing_ok=True)  # or uv would stay with the versions in it
    argv = run.uv_cli().pip_compile(
        [_readable(run, closure)],
        output,
        python.executable,
        dependencies=not is_complete_hashed_lock(closure),
        python_platform=elsewhere.platform if elsewhere is not None else None,
        python_version=elsewhere.version if elsewhere is not None else None,
        universal=elsewhere is not None and elsewhere.platform is None,
        only_wheels=elsewhere is not None and elsewhere.platform is not None,
        find_links=run.choices.find_links,
        upgrade=run.choices.refresh,
        offline=run.choices.offline,
    )
    constraints = _constraints(run, closure)
    if constraints is not None:
        argv = (*argv, "--constraints", str(constraints))
    if closure.has_option("--pre"):
        argv = (*argv, "--prerelease", "allow")
    variables = {**run.uv_variables(), **_named_variables(run, closure)}
    result = await run.run_tool(argv, variables=variables, cwd=closure.folder, quiet_stdout=True)
    if result.code != 0:
        raise await _failure(run, closure, result)
    return await asyncio.to_thread(read_lock, output)


async def _failure(run: RunContext, closure: RequirementsClosure, result: ToolResult) -> AmlError:
    failure = run.failure(result, otherwise="AML_RESOLVE_FAILED")
    if run.choices.offline:  # what uv and pip call a missing version is only missing here
        return AmlError("AML_OFFLINE_MISSING", detail=failure.detail, cause=failure.arguments["cause"])
    return await blame_index(run, closure, failure)


def _readable(run: RunContext, closure: RequirementsClosure) -> Path:
    """Return the user's file, or a private copy in UTF-8 where uv cannot read it as it is."""
    if not closure.needs_transcoding:
        return closure.path
    copy = run.tmp / "requirements.txt"
    write_text_atomically(copy, closure.requirements_text())
    return copy


def _constraints(run: RunContext, closure: RequirementsClosure) -> Path | None:
    """Return a private copy of the constraints, None where the file that ``_readable`` returns includes them itself."""
    if not closure.constraints or not closure.needs_transcoding:
        return None
    copy = run.tmp / "constraints.txt"
    write_text_atomically(copy, closure.constraints_text())
    return copy


def _named_variables(run: RunContext, closure: RequirementsClosure) -> dict[str, str]:
    """Return the variables that the files name: their values may be secret and go to the resolver as they came."""
    return {name: run.parent_environment[name] for name in closure.variables if name in run.parent_environment}


async def _with_pip(run: RunContext, closure: RequirementsClosure) -> Pylock:
    report = run.tmp / "pip-report.json"
    python = await python_with_pip(run, run.require_python(), pip_cli.MINIMUM_FOR_REPORT)
    argv = pip_cli.dry_run_report(
        python,
        _readable(run, closure),
        report,
        constraints=_constraints(run, closure),
        find_links=run.choices.find_links,
    )
    variables = {**run.pip_variables(), **_named_variables(run, closure)}
    result = await run.run_tool(argv, variables=variables, cwd=closure.folder)
    if result.code != 0:
        raise await _failure(run, closure, result)
    return lock_from_report(json.loads(report.read_text(encoding="utf-8")))


def lock_from_report(report: dict[str, Any]) -> Pylock:
    """Return the lock that says the same as pip's installation report (its format 1).

    Raises:
        AmlError: ``AML_NO_HASH`` where pip knows no SHA-256 of a file.
    """
    packages: list[dict[str, Any]] = []
    for item in report["install"]:
        download, metadata = item["download_info"], item["metadata"]
        sha256 = (download.get("archive_info") or {}).get("hashes", {}).get("sha256")
        if sha256 is None:
            raise AmlError("AML_NO_HASH", file=metadata["name"], host="pip")
        wheel = {"url": download["url"], "hashes": {"sha256": sha256}}
        name = canonicalize_name(metadata["name"])  # a lock may hold no other spelling
        packages.append({"name": name, "version": metadata["version"], "wheels": [wheel]})
    packages.sort(key=lambda package: str(package["name"]))
    return Pylock.from_dict({"lock-version": "1.0", "created-by": "pip", "packages": packages})
