"""The steps of making a bundle; those of setting a workspace up from one, which every installation loads, stand apart."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amlwizard.core.bundle.gathering import Source, from_network, from_workspace
from amlwizard.core.bundle.report import bundle_content
from amlwizard.core.bundle.steps import show
from amlwizard.core.bundle.writing import write_bundle
from amlwizard.core.catalogue import text
from amlwizard.core.choices import UvMethod
from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.errors import AmlError
from amlwizard.core.events import PlanEvent
from amlwizard.core.moving import Moving, in_thread
from amlwizard.core.plan import planned
from amlwizard.core.plan_hosts import package_hosts
from amlwizard.core.python_install import kept_archive
from amlwizard.core.steps import InstallPython, InstallUv, Step
from amlwizard.core.uv_install import install_private_uv

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.bundle.contents import Contents
    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace


class AnyUv(InstallUv):
    """A uv to work with; the copy that came with this program is run where it lies."""

    async def is_done(self, run: RunContext) -> bool:
        """Tell whether there is one."""
        if await super().is_done(run) and run.uv is not None:
            return True
        run.uv = find_bundled_uv()
        return run.uv is not None

    async def run(self, run: RunContext) -> None:
        """Install it: what makes an environment without uv makes no bundle.

        Raises:
            AmlError: ``AML_UV_INSTALL_FAILED``, or ``AML_BUNDLE_NO_UV`` where none is to be used.
        """
        if run.choices.uv_method is UvMethod.NONE:
            raise AmlError("AML_BUNDLE_NO_UV", root=str(run.workspace.root))
        run.uv = await install_private_uv(run)


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

    def __init__(self, source: Source, elsewhere: Workspace | None = None) -> None:
        """``elsewhere`` is where something is fetched to that the workspace lacks, if nothing can be put into that."""
        self._source = source
        self._elsewhere = elsewhere
        self.contents: Contents | None = None

    async def run(self, run: RunContext) -> None:
        """Gather it from the workspace, or with the network."""
        if self._source.recorded is not None:
            fetching = run if self._elsewhere is None else replace(run, workspace=self._elsewhere)
            self.contents = await from_workspace(run, self._source, fetching)
        else:
            self.contents = await from_network(run, self._source)
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
        hosts=package_hosts(run) if source.recorded is None else (),
        writes=(str(out), *([str(run.workspace.downloads)] if size != 0 and keeps else [])),
        replaces=(str(out),) if out.exists() else (),
    )
