"""The steps of making a bundle and of setting a workspace up from one; the session runs them among the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amlwizard.core.bundle.gathering import Source, from_network, from_workspace
from amlwizard.core.bundle.manifest import DOWNLOADS
from amlwizard.core.bundle.moving import Moving, in_thread
from amlwizard.core.bundle.reading import read_downloads
from amlwizard.core.bundle.report import bundle_content
from amlwizard.core.bundle.taking import take_files
from amlwizard.core.bundle.tools import check_tools
from amlwizard.core.bundle.writing import write_bundle
from amlwizard.core.catalogue import text
from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.detection.known import probe_python
from amlwizard.core.detection.places import SOURCE_WORKSPACE
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.events import PlanEvent
from amlwizard.core.plan import planned
from amlwizard.core.planning import index_hosts
from amlwizard.core.python_install import install_archive, kept_archive, pick_archive
from amlwizard.core.steps import InstallPython, InstallUv, Step, all_steps
from amlwizard.core.store.ledger import Noted, note_files, store_place
from amlwizard.core.uv_install import install_given_uv

if TYPE_CHECKING:
    from amlwizard.core.bundle.contents import Contents
    from amlwizard.core.bundle.reading import Bundle
    from amlwizard.core.choices import Choices
    from amlwizard.core.context import RunContext
    from amlwizard.core.facts import Host
    from amlwizard.core.python_install import PythonArchive


def show(run: RunContext, moving: Moving) -> None:
    """Report how far the bytes are."""
    run.runner.touch()
    run.progress(moving.done, moving.total, "bytes", rate=moving.rate, subject=moving.subject)


def names_interpreter(choices: Choices) -> bool:
    """Tell whether an interpreter was named by its path; a version is met by the bundle's own."""
    return choices.python is not None and not choices.python[:1].isdigit()


def bundle_of(run: RunContext) -> Bundle:
    """Return the bundle of a run that sets up from one."""
    if run.wish.bundle is None:
        raise AmlError("AML_BUNDLE_MISSING", path="")
    return run.wish.bundle


# -- setting up from a bundle


class CheckBundle(Step):
    """Every byte of the bundle, before anything is written."""

    id = "check_bundle"

    async def is_done(self, run: RunContext) -> bool:  # noqa: ARG002
        """It is always checked."""
        return False

    async def run(self, run: RunContext) -> None:
        """Check it.

        Raises:
            RefusedError: it is not what it should be; nothing has been written.
        """
        bundle = bundle_of(run)
        moving = Moving(bundle.total_bytes)

        def check(moved: Moving) -> None:
            bundle.check(moved, run.choices.bundle_sha256)
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
        if names_interpreter(run.choices) or run.uv is None:
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
        run.python = await probe_python(run.runner, executable, run.child_environment(), run.facts.host)
        if run.python is None:
            raise AmlError("AML_UV_PYTHON_FAILED", version=manifest.python, cause=str(executable))


class Unpack(Step):
    """The wheels, out of the bundle into the store."""

    id = "unpack"

    async def is_done(self, run: RunContext) -> bool:  # noqa: ARG002
        """What is in the store already is looked at file by file."""
        return False

    async def run(self, run: RunContext) -> None:
        """Copy what the store lacks."""
        wheels = bundle_of(run).wheels

        def places() -> dict[str, Path]:
            return {wheel.entry: store_place(run.workspace, wheel.filename, wheel.sha256) for wheel in wheels}

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


# -- making a bundle


class AnyUv(InstallUv):
    """A uv to work with; the copy that came with this program is run where it lies."""

    async def is_done(self, run: RunContext) -> bool:
        """Tell whether there is one."""
        if await super().is_done(run) and run.uv is not None:
            return True
        run.uv = find_bundled_uv()
        return run.uv is not None


class AnyPython(InstallPython):
    """A Python with which uv can resolve for any other; its version does not matter."""

    async def is_done(self, run: RunContext) -> bool:
        """Tell whether this computer has one."""
        if await super().is_done(run):
            return True
        usable = [candidate.python for candidate in run.facts.candidates if candidate.usable and candidate.python]
        run.python = next(iter(usable), None)
        return run.python is not None


class Gather(Step):
    """Everything that goes into the bundle."""

    id = "gather"

    def __init__(self, source: Source) -> None:
        self._source = source
        self.contents: Contents | None = None

    async def is_done(self, run: RunContext) -> bool:  # noqa: ARG002
        """There is always something to look at."""
        return False

    async def run(self, run: RunContext) -> None:
        """Gather it from the workspace, or with the network."""
        gather = from_workspace if self._source.recorded is not None else from_network
        self.contents = await gather(run, self._source)
        if self.contents.left_out:
            run.log(text("bundle.left_out", run.language, packages=", ".join(self.contents.left_out)))


class WriteBundle(Step):
    """The bundle itself."""

    id = "bundle"

    def __init__(self, gather: Gather, out: Path) -> None:
        self._gather = gather
        self._out = out
        self.content: dict[str, Any] = {}
        """What the new bundle is; empty until it is there."""

    @property
    def contents(self) -> Contents:
        """What goes into it.

        Raises:
            AmlError: nothing was gathered.
        """
        if self._gather.contents is None:
            raise AmlError("AML_BUNDLE_STORE", files="", count=0)
        return self._gather.contents

    async def is_done(self, run: RunContext) -> bool:  # noqa: ARG002
        """It is always written."""
        return False

    async def run(self, run: RunContext) -> None:
        """Write it, read it back, put it in place."""
        manifest, members = await asyncio.to_thread(self.contents.lay_out)
        sha256 = await in_thread(
            lambda moving: write_bundle(self._out, manifest, members, moving),
            Moving(),
            lambda now: show(run, now),
            final=True,  # a bundle that is in its place is there, whenever the cancel came
        )
        self.content = bundle_content(self._out, self._out.stat().st_size, sha256, manifest)


def bundle_plan(run: RunContext, source: Source, out: Path, *, keeps: bool) -> PlanEvent:
    """Return what making a bundle does; ``keeps`` tells that what is fetched stays in the workspace."""
    size: int | None = 0
    if source.recorded is not None:
        if kept_archive(run.workspace, source.target.minor, run.facts.host) is None:
            size = None
    else:
        profile = run.wish.profile
        size = profile.download_bytes(source.target.platform, source.target.minor) if profile is not None else None
    return PlanEvent(
        steps=planned(["gather", "bundle"], run.language),
        download_bytes=size,
        disk_bytes=None,
        hosts=index_hosts(run) if source.recorded is None else (),
        writes=(str(out), *([str(run.workspace.downloads)] if size != 0 and keeps else [])),
        replaces=(str(out),) if out.exists() else (),
    )
