"""Looks at a bundle as a whole: what it is, every hash, every package with its licence."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amlwizard.core.bundle.places import check_sbom_place
from amlwizard.core.bundle.reading import Bundle, LockedWheel, open_bundle, read_downloads
from amlwizard.core.bundle.report import bundle_content
from amlwizard.core.bundle.sbom import sbom_text
from amlwizard.core.bundle.tools import check_tools
from amlwizard.core.bundle.wheel_facts import licence_of
from amlwizard.core.errors import AmlError
from amlwizard.core.events import BundleEvent, StepEvent, StepState
from amlwizard.core.moving import Moving, in_thread
from amlwizard.core.outcome import done_event
from amlwizard.core.records import write_text_atomically
from amlwizard.core.system_errors import not_written

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.events import Emit, FinishedEvent

STEP = "check_bundle"


@dataclass(frozen=True)
class Package:
    """One package of a bundle; ``licence`` is empty where the wheel does not tell."""

    wheel: LockedWheel
    licence: str


@dataclass(frozen=True)
class Report:
    """What a bundle is, all its hashes being right. ``sha256`` is that of the file, None for a folder."""

    bundle: Bundle
    sha256: str | None
    packages: tuple[Package, ...]

    @property
    def content(self) -> dict[str, Any]:
        """The report as plain JSON values; sizes in bytes."""
        manifest = self.bundle.manifest
        size = self.bundle.total_bytes
        return bundle_content(self.bundle.path, size, self.sha256, manifest) | {
            "files": {
                name: {"size": record.size, "sha256": record.sha256} for name, record in sorted(manifest.files.items())
            },
            "packages": [
                {
                    "name": package.wheel.name,
                    "version": package.wheel.version,
                    "license": package.licence,
                    "file": package.wheel.entry,
                    "size": package.wheel.size,
                    "sha256": package.wheel.sha256,
                }
                for package in self.packages
            ],
        }


async def inspect(path: Path, sbom: Path | None, emit: Emit, language: str) -> tuple[Report, FinishedEvent]:
    """Check a bundle and tell what is in it; the result is also emitted, its end is returned.

    Args:
        path: the bundle.
        sbom: where a CycloneDX list of its components is written.
        emit: is told how far the check is, and the result.
        language: of the last event's words.

    Raises:
        RefusedError: it is not what it should be, or the list would be written over it or into it.
    """
    began = time.monotonic()
    if sbom is not None:
        await asyncio.to_thread(check_sbom_place, sbom, path)
    bundle = await asyncio.to_thread(open_bundle, path)
    emit(StepEvent(STEP, StepState.STARTED))

    def show(now: Moving) -> None:
        emit(StepEvent(STEP, StepState.PROGRESS, now.done, now.total, "bytes", now.rate, now.subject))

    def check(moving: Moving) -> str | None:
        actual = bundle.check(moving)
        check_tools(bundle, moving)
        return actual

    try:
        sha256 = await in_thread(check, Moving(bundle.total_bytes), show)
        report = await asyncio.to_thread(_report, bundle, sha256)
    except (AmlError, asyncio.CancelledError) as error:
        emit(StepEvent(STEP, StepState.FAILED if isinstance(error, AmlError) else StepState.CANCELLED))
        raise
    emit(StepEvent(STEP, StepState.DONE, seconds=time.monotonic() - began))
    if sbom is not None:
        await asyncio.to_thread(_write_sbom, sbom, report)
    emit(BundleEvent(report.content))
    arguments: dict[str, object] = {"path": str(path), "count": len(bundle.manifest.files)}
    seconds = time.monotonic() - began
    return report, done_event("AML_BUNDLE_SOUND", arguments, language, seconds, packages=len(report.packages))


def _report(bundle: Bundle, sha256: str | None) -> Report:
    read_downloads(bundle)
    packages = []
    for wheel in bundle.wheels:
        with bundle.container.open(wheel.entry) as stream:
            packages.append(Package(wheel, licence_of(stream)))
    return Report(bundle, sha256, tuple(packages))


def _write_sbom(target: Path, report: Report) -> None:
    try:
        write_text_atomically(
            target, sbom_text(report.bundle.manifest, [(each.wheel, each.licence) for each in report.packages])
        )
    except OSError as error:
        raise not_written(error, target) from error
