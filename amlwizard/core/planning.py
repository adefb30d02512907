"""The plan of a run, from its wish, its findings, and what the store holds already."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.pylock import Pylock

from amlwizard.core.choices import UvMethod
from amlwizard.core.detection.bundled import find_bundled_uv, uv_at_hand
from amlwizard.core.errors import AmlError
from amlwizard.core.offline import refuse_incomplete_store
from amlwizard.core.plan import Work, make_plan
from amlwizard.core.plan_hosts import distinct_hosts, package_hosts, tool_hosts
from amlwizard.core.preflight import file_addresses, of_requirements
from amlwizard.core.python_install import wanted_version
from amlwizard.core.resolving import current_lock, is_current
from amlwizard.core.store.ledger import noted_files, store_place
from amlwizard.core.storing import Wanted, ask_sizes, download_size, missing_files, stored_size, wanted_files
from amlwizard.core.uv_cli import UvCli
from amlwizard.core.wording import size_text

if TYPE_CHECKING:
    from amlwizard.core.bundle.reading import Bundle
    from amlwizard.core.context import RunContext
    from amlwizard.core.events import PlanEvent


_SECONDS_FOR_PAGES: Final = 5.0
"""For a look, which somebody waits for; the plan says less where that is too short."""


async def first_plan(run: RunContext) -> PlanEvent:
    """Return the plan, or say at once what cannot be had without a network.

    Raises:
        AmlError: ``AML_STORE_INCOMPLETE``.
    """
    plan = await plan_of(run)
    if run.choices.offline and run.python is not None and run.wish.bundle is None:
        await refuse_incomplete_store(run, None if run.choices.refresh else await asyncio.to_thread(_locked_files, run))
    return plan


async def with_file_hosts(run: RunContext, plan: PlanEvent) -> PlanEvent:
    """Add to a plan the hosts that the indexes' own pages name for files, where the packages are still to be chosen."""
    content = run.wish.content
    if not plan.hosts or run.missing is not None or isinstance(content, Pylock):
        return plan
    found = await file_addresses(run.fetcher, list(of_requirements(run, content)), _SECONDS_FOR_PAGES)
    return replace(plan, hosts=tuple(dict.fromkeys([*plan.hosts, *distinct_hosts(each.url for each in found)])))


async def plan_of(run: RunContext) -> PlanEvent:
    """Return the plan as far as it is known; reads the store, changes nothing."""
    choices, facts, bundle = run.choices, run.facts, run.wish.bundle
    python = run.python or facts.interpreter
    work = Work(
        install_uv=facts.uv is None and run.uv is None and choices.uv_method is not UvMethod.NONE,
        uv_is_bundled=choices.uv_method in (UvMethod.AUTO, UvMethod.BUNDLED) and find_bundled_uv() is not None,
        install_python=python is None,
        resolve=True,
        package_bytes=None,
        store_bytes=0,
        hosts=(),
    )
    if bundle is not None:
        stored = await asyncio.to_thread(_stored_bytes, run, bundle)
        all_bytes = sum(wheel.size for wheel in bundle.wheels)
        work = replace(work, from_bundle=True, package_bytes=all_bytes - stored, store_bytes=stored)
    else:
        run.python = python
        work = await _with_packages(run, work)
    replaces = os.path.lexists(run.workspace.venv)
    plan = make_plan(run.workspace, work, replaces_environment=replaces, language=run.language)
    return replace(plan, download_bytes=0, hosts=()) if choices.offline else plan


async def check_space(run: RunContext) -> None:
    """Plan once more, now that more is known.

    Raises:
        AmlError: ``AML_DISK_SPACE``.
    """
    await ask_sizes(run)
    plan = await plan_of(run)
    run.emit(plan)
    if plan.disk_bytes is not None:
        await asyncio.to_thread(_refuse_small_disks, run, plan.disk_bytes, plan.download_bytes or 0)


def _refuse_small_disks(run: RunContext, total: int, download: int) -> None:
    """Compare what is needed with what is free, on each file system that a part of the workspace lies on.

    Where the cache has one of its own, files cannot be linked from it and are there twice.
    """
    workspace = run.workspace
    home = _device(workspace.root)
    parts = {workspace.downloads: download, workspace.cache: total - download}
    parts = {folder: part for folder, part in parts.items() if _device(folder) not in (None, home)}
    parts[workspace.root] = total - parts.get(workspace.downloads, 0)
    needs: dict[int | None, tuple[Path, int]] = {}
    for folder, part in parts.items():
        device = _device(folder)
        named, before = needs.get(device, (folder, 0))
        needs[device] = (named, before + part)
    for folder, needed in needs.values():
        free = shutil.disk_usage(folder).free
        if needed > free:
            texts = {"needed": size_text(needed, run.language), "free": size_text(free, run.language)}
            raise AmlError("AML_DISK_SPACE", root=str(folder), **texts)


def _device(folder: Path) -> int | None:
    return folder.stat().st_dev if folder.is_dir() else None


async def learn_default_index(run: RunContext) -> None:
    """Ask uv for the index that it uses by itself; no address of the default one stands in this program."""
    uv = run.uv or uv_at_hand(run.facts)
    if uv is None or run.default_index is not None or run.choices.index_url is not None:
        return
    try:
        empty = await asyncio.to_thread(_make_empty_file, run.tmp)
    except OSError:  # a full disk: a look goes on without the name of the index
        return
    try:
        python = run.python or run.facts.interpreter
        command = UvCli(uv, run.workspace).show_index(empty, python.executable if python is not None else None)
        result = await run.run_tool(command, quiet_stdout=True, total_seconds=15)
    finally:
        empty.unlink(missing_ok=True)  # it may lie in the system's own folder, where there was no room for another
    shown = (line.partition(" ")[2].strip() for line in result.stdout if line.startswith("--index-url "))
    run.default_index = next(shown, None)


def _make_empty_file(folder: Path) -> Path:
    descriptor, name = tempfile.mkstemp(prefix="aml-empty-", suffix=".txt", dir=folder)
    os.close(descriptor)
    return Path(name)


async def _with_packages(run: RunContext, work: Work) -> Work:
    """Add what bringing the packages in takes; what a profile needs is known even without a lock."""
    choices, facts = run.choices, run.facts
    await learn_default_index(run)
    locked = given = None
    if run.python is not None:
        if run.lock is not None or not choices.refresh:
            locked = await asyncio.to_thread(_locked_files, run)
        given = locked or await asyncio.to_thread(_given_files, run)
    of_tools = await tool_hosts(run, work)
    if given is None:
        run.missing = None
        profile = run.wish.profile
        version = run.python.minor if run.python is not None else wanted_version(run)
        size = profile.download_bytes(facts.host.platform, version) if profile is not None else None
        return replace(work, package_bytes=size, hosts=tuple(dict.fromkeys([*package_hosts(run), *of_tools])))
    missing = run.missing = await missing_files(run, given)
    sizes = [download_size(run, file) for file in missing]
    return replace(
        work,
        resolve=locked is None,
        package_bytes=None if None in sizes else sum(size or 0 for size in sizes),
        store_bytes=sum(stored_size(run, file) for file in given.files if file not in missing),
        builds=any(file.needs_build for file in missing),
        hosts=tuple(dict.fromkeys([*of_tools, *distinct_hosts(file.url for file in missing if not file.is_at_hand)])),
    )


def _stored_bytes(run: RunContext, bundle: Bundle) -> int:
    """Return the size of the wheels of a bundle that lie in the store; called in a thread."""
    listed = noted_files(run.workspace)
    targets = ((store_place(run.workspace, wheel.filename, wheel.sha256, listed), wheel.size) for wheel in bundle.wheels)
    return sum(size for target, size in targets if target.is_file() and target.stat().st_size == size)


def _locked_files(run: RunContext) -> Wanted | None:
    """Return what the lock of this wish installs, or None where there is none; called in a thread."""
    if run.lock is not None:
        return wanted_files(run, run.lock) if is_current(run, run.lock) else None
    found = current_lock(run)
    return wanted_files(run, found[1]) if found is not None else None


def _given_files(run: RunContext) -> Wanted | None:
    """Return what a lock installs that is the wish itself, so that nothing is chosen; called in a thread."""
    content = run.wish.content
    return wanted_files(run, content) if isinstance(content, Pylock) and not run.wish.added else None
