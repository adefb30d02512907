"""What a run is going to do: a pure function of choices and findings, shown before anything is done (DESIGN 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import text
from amlwizard.core.events import PlanEvent, PlanStep

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from amlwizard.core.paths import Workspace

STEP_IDS: Final = ("install_uv", "install_python", "resolve", "fetch", "build", "verify", "commit")

UNPACKED_RATIO: Final = 4.2
"""Bytes on disk for each byte of a wheel once unpacked, bytecode included (612 MB for the default profile's 147 MB)."""
UV_BYTES: Final = 65_000_000
"""The uv program, unpacked."""
UV_DOWNLOAD_BYTES: Final = 25_000_000
"""uv's wheel."""
PYTHON_BYTES: Final = 110_000_000
"""A managed interpreter, unpacked."""
PYTHON_DOWNLOAD_BYTES: Final = 30_000_000
"""A managed interpreter's archive."""


NOTHING_TO_DO: Final = PlanEvent((), 0, 0, (), (), ())
"""The plan for a workspace that holds what is wanted already."""


@dataclass(frozen=True)
class Work:
    """What is to be done, as far as it is known now.

    ``package_bytes`` counts the wheels that are not in the store yet (None: not known before Resolve); ``store_bytes``
    those that are. ``builds`` tells that wheels are to be built from sources. ``hosts`` are ``host`` or ``host:port``. Out
    of a bundle everything comes without a download.
    """

    install_uv: bool
    uv_is_bundled: bool
    install_python: bool
    resolve: bool
    package_bytes: int | None
    store_bytes: int
    hosts: tuple[str, ...]
    builds: bool = False
    from_bundle: bool = False


def make_plan(workspace: Workspace, work: Work, *, replaces_environment: bool, language: str) -> PlanEvent:
    """Return the plan of an installation or a rebuild."""
    needed = {
        "install_uv": work.install_uv,
        "install_python": work.install_python,
        "resolve": work.resolve,
        "fetch": not work.from_bundle and (work.package_bytes is None or work.package_bytes > 0 or work.builds),
        "build": True,
        "verify": True,
        "commit": True,
    }
    ids = [step for step in STEP_IDS if needed[step]]
    extra_download = (UV_DOWNLOAD_BYTES if work.install_uv and not work.uv_is_bundled else 0) + (
        PYTHON_DOWNLOAD_BYTES if work.install_python else 0
    )
    if work.from_bundle:
        ids = ["check_bundle", *ids[: ids.index("resolve")], "unpack", *ids[ids.index("resolve") :]]
    steps = planned(ids, language)
    download = None if work.package_bytes is None else work.package_bytes + extra_download
    if work.from_bundle:
        download = 0
    disk: int | None = None
    if work.package_bytes is not None:
        unpacked = int((work.package_bytes + work.store_bytes) * UNPACKED_RATIO)
        disk = download_disk(work) + unpacked
    return PlanEvent(
        steps=steps,
        download_bytes=download,
        disk_bytes=disk,
        hosts=work.hosts if download is None or download > 0 or work.resolve else (),
        writes=tuple(str(path) for path in _writes(workspace, work)),
        replaces=(str(workspace.venv),) if replaces_environment else (),
    )


def planned(ids: Iterable[str], language: str) -> tuple[PlanStep, ...]:
    """Return steps with their titles."""
    return tuple(PlanStep(step, text(f"step.{step}", language)) for step in ids)


def download_disk(work: Work) -> int:
    """Return the bytes that downloads and tools take on disk, the packages' unpacked files not counted."""
    return (
        (work.package_bytes or 0)
        + (UV_BYTES if work.install_uv else 0)
        + (PYTHON_BYTES + PYTHON_DOWNLOAD_BYTES if work.install_python else 0)
    )


def _writes(workspace: Workspace, work: Work) -> list[Path]:
    paths = [workspace.venv, workspace.runtime, workspace.downloads, workspace.cache]
    if work.install_uv:
        paths.append(workspace.tools)
    if work.install_python:
        paths.append(workspace.interpreters)
    return paths
