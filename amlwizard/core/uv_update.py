"""A newer uv than the workspace has: what there is, and putting it in the place of the old one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from amlwizard.core.choices import UvMethod
from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.events import PlanEvent
from amlwizard.core.plan import UV_BYTES, UV_DOWNLOAD_BYTES, planned
from amlwizard.core.plan_hosts import distinct_hosts
from amlwizard.core.planning import learn_default_index
from amlwizard.core.steps import Step
from amlwizard.core.uv_install import find_uv_wheel, install_by, running_version

if TYPE_CHECKING:
    from amlwizard.core.context import RunContext
    from amlwizard.core.simple_index import IndexFile


@dataclass(frozen=True)
class UvUpdate:
    """A newer uv, and the way to get it; ``size`` is what is to be fetched, ``url`` from where."""

    before: str
    after: str
    method: UvMethod
    size: int = 0
    url: str | None = None


async def find_uv_update(run: RunContext) -> UvUpdate | None:
    """Return the newest uv that can be had, the copy that came with this program or a wheel of the index; writes nothing.

    None where the workspace has that one.

    Raises:
        AmlError: ``AML_UPDATE_UV_FOREIGN``, ``AML_UPDATE_OFFLINE``, or why the index cannot be asked.
    """
    present = run.facts.uv
    if present is None or run.uv != run.workspace.uv:
        raise RefusedError("AML_UPDATE_UV_FOREIGN", path=str(run.workspace.tools))
    before = Version(present.version)
    bundled = await _bundled_version(run)
    found = UvUpdate(str(before), str(bundled), UvMethod.BUNDLED) if bundled is not None and bundled > before else None
    if run.choices.offline:
        if found is None:
            raise RefusedError("AML_UPDATE_OFFLINE", name="uv", version=str(before))
        return found
    try:
        wheel = await _offered_wheel(run)
    except AmlError:
        if found is None:
            raise
        return found
    version = parse_wheel_filename(wheel.filename)[1] if wheel is not None else before
    if wheel is None or version <= max(before, bundled or before):
        return found
    size = UV_DOWNLOAD_BYTES if wheel.size is None else wheel.size
    return UvUpdate(str(before), str(version), UvMethod.INDEX, size, wheel.url)


async def _bundled_version(run: RunContext) -> Version | None:
    bundled = await asyncio.to_thread(find_bundled_uv)
    try:
        return Version(await running_version(run, bundled)) if bundled is not None else None
    except AmlError:  # it does not run here, and so is no offer
        return None


async def _offered_wheel(run: RunContext) -> IndexFile | None:
    """Return the newest wheel of the index, None where the index has no uv."""
    await learn_default_index(run)
    try:
        return await find_uv_wheel(run)
    except AmlError as error:
        if error.code in {"AML_UV_NO_WHEEL", "AML_NET_NOT_FOUND", "AML_INDEX_UNKNOWN"}:
            return None
        raise


def uv_plan(update: UvUpdate, run: RunContext) -> PlanEvent:
    """Return the plan of an update of uv."""
    return PlanEvent(
        steps=planned(["install_uv"], run.language),
        download_bytes=update.size,
        disk_bytes=update.size + UV_BYTES,
        hosts=distinct_hosts([update.url]),
        writes=(str(run.workspace.tools),),
        replaces=(str(run.workspace.uv),),
    )


class UpdateUv(Step):
    """The newer uv, in the place of the old one."""

    id = "install_uv"

    def __init__(self, update: UvUpdate) -> None:
        self._update = update

    async def run(self, run: RunContext) -> None:
        """Fetch and check it, start it, and put it in place of the old one, which stays where that fails or is cancelled.

        Raises:
            AmlError: why it cannot be had, or does not start.
        """
        await install_by(run, self._update.method)
