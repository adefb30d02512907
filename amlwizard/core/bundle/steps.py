"""The steps of setting a workspace up from a bundle; the session runs them among the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.bundle.manifest import DOWNLOADS
from amlwizard.core.bundle.reading import read_downloads
from amlwizard.core.bundle.taking import take_files
from amlwizard.core.bundle.tools import check_tools
from amlwizard.core.detection.known import first_start
from amlwizard.core.detection.places import SOURCE_WORKSPACE
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.moving import Moving, in_thread
from amlwizard.core.python_install import install_archive, pick_archive
from amlwizard.core.steps import InstallPython, InstallUv, Step, all_steps
from amlwizard.core.store.ledger import Noted, note_files, noted_files, store_place
from amlwizard.core.uv_install import install_given_uv

if TYPE_CHECKING:
    from amlwizard.core.bundle.reading import Bundle
    from amlwizard.core.context import RunContext
    from amlwizard.core.facts import Host
    from amlwizard.core.python_install import PythonArchive


def show(run: RunContext, moving: Moving) -> None:
    """Report how far the bytes are."""
    run.runner.touch()
    run.progress(moving.done, moving.total, "bytes", rate=moving.rate, subject=moving.subject)


def bundle_of(run: RunContext) -> Bundle:
    """Return the bundle of a run that sets up from one."""
    if run.wish.bundle is None:
        raise AmlError("AML_BUNDLE_MISSING", path="")
    return run.wish.bundle


class CheckBundle(Step):
    """Every byte of the bundle, before anything is written."""

    id = "check_bundle"

    async def run(self, run: RunContext) -> None:
        """Check it.

        Raises:
            RefusedError: it is not what it should be; nothing has been written.
        """
        bundle, sha256 = bundle_of(run), run.choices.bundle_sha256
        moving = Moving(bundle.manifest.content_bytes if sha256 is None else bundle.total_bytes)

        def check(moved: Moving) -> None:
            if sha256 is None:
                bundle.check_files(moved)
            else:
                bundle.check(moved, sha256)
            _archive(bundle, run.facts.host)
            check_tools(bundle, moved)

        await in_thread(check, moving, lambda now: show(run, now))


def _archive(bundle: Bundle, host: Host) -> PythonArchive:
    """Return the interpreter of a checked bundle.

    Raises:
        RefusedError: ``AML_BUNDLE_MANIFEST``; its description does not lead to the archive that the bundle holds.
    """
    archive = pick_archive(read_downloads(bundle), bundle.manifest.python, host, base="")
    if archive is None or archive.filename != Path(bundle.manifest.archive).name:
        raise RefusedError("AML_BUNDLE_MANIFEST", path=str(bundle.path), what=DOWNLOADS)
    return archive


class UvFromBundle(InstallUv):
    """The private uv, out of the bundle."""

    async def run(self, run: RunContext) -> None:
        """Take it out of the bundle and put it in place."""
        bundle = bundle_of(run)
        entry = bundle.manifest.uv
        file = run.tmp / Path(entry).name
        await _take(run, {entry: file})
        run.uv = await install_given_uv(run, file)


class PythonFromBundle(InstallPython):
    """The interpreter, out of the bundle."""

    async def is_done(self, run: RunContext) -> bool:
        """Tell whether one was named, or the workspace has the bundle's already."""
        if run.choices.interpreter is not None or run.uv is None:  # a version is met by the bundle's own
            return await super().is_done(run)
        wanted = bundle_of(run).manifest.python
        for candidate in run.facts.candidates:
            own = candidate.source == SOURCE_WORKSPACE and candidate.usable
            if own and candidate.python is not None and candidate.python.version_text == wanted:
                run.python = candidate.python
                return True
        return False

    async def run(self, run: RunContext) -> None:
        """Take the archive into the store, let uv unpack it, and start the interpreter once."""
        bundle = bundle_of(run)
        manifest = bundle.manifest
        archive = await asyncio.to_thread(_archive, bundle, run.facts.host)
        stored = run.workspace.downloads / archive.filename
        await _take(run, {manifest.archive: stored})
        executable = await install_archive(run, replace(archive, url=stored.as_uri()))
        run.python = await first_start(run.runner, executable, run.child_environment(), run.facts.host, manifest.python)


class Unpack(Step):
    """The wheels, out of the bundle into the store."""

    id = "unpack"

    async def run(self, run: RunContext) -> None:
        """Copy what the store lacks."""
        wheels = bundle_of(run).wheels

        def places() -> dict[str, Path]:
            listed = noted_files(run.workspace)
            return {wheel.entry: store_place(run.workspace, wheel.filename, wheel.sha256, listed) for wheel in wheels}

        await _take(run, await asyncio.to_thread(places))


def steps_from_bundle() -> tuple[Step, ...]:
    """Return new steps in their order; the bundle has been checked before them.

    Its wheels are unpacked before Resolve, which looks among them for what packages that were added by hand need.
    """
    taken = {"install_uv": UvFromBundle(), "install_python": PythonFromBundle()}
    steps = [taken.get(step.id, step) for step in all_steps()]
    resolve = next(number for number, step in enumerate(steps) if step.id == "resolve")
    return (*steps[:resolve], Unpack(), *steps[resolve:])


async def _take(run: RunContext, targets: dict[str, Path]) -> None:
    bundle = bundle_of(run)
    records = bundle.manifest.files
    ours = {target: Noted(records[name].sha256, records[name].size) for name, target in targets.items()}
    await run_whole(note_files, run.workspace, ours)
    moving = Moving(sum(bundle.manifest.files[name].size for name in targets))
    await in_thread(lambda moved: take_files(bundle, targets, moved), moving, lambda now: show(run, now))
    for name, target in targets.items():
        status = target.stat()
        run.sound[target] = (bundle.manifest.files[name].sha256, status.st_size, status.st_mtime_ns)
