"""What goes into a bundle, gathered from a workspace or for another computer, and how it is laid out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tomli_w

from amlwizard.core.bundle.additions import NO_ADDITIONS
from amlwizard.core.bundle.floors import Floor, floor_of
from amlwizard.core.bundle.manifest import DOWNLOADS, LOCK, FileRecord, Manifest
from amlwizard.core.bundle.writing import Member
from amlwizard.core.facts import minor_of
from amlwizard.core.records import utc_now

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.bundle.additions import Additions
    from amlwizard.core.bundle.floors import Version
    from amlwizard.core.bundle.uv_program import UvProgram
    from amlwizard.core.lock import StoredWheel


@dataclass(frozen=True)
class WishRecord:
    """What was asked for: ``profile`` or ``file``, its bare name, and its requirements digest."""

    kind: str
    name: str
    digest: str


@dataclass(frozen=True)
class Interpreter:
    """The interpreter archive: its version, file, SHA-256, and its description as uv reads it."""

    version: str
    file: Path
    sha256: str
    description: str


@dataclass(frozen=True)
class Contents:
    """Everything of one bundle.

    ``built_here`` is this computer's glibc where wheels were built on it; ``left_out`` names editable packages, which
    cannot travel; ``accelerator`` is what the wheels were resolved for; ``additions`` says which of them were added.
    """

    platform: str
    wish: WishRecord
    wheels: Sequence[StoredWheel]
    uv: UvProgram
    interpreter: Interpreter
    built_here: Version | None = None
    left_out: tuple[str, ...] = ()
    accelerator: str | None = None
    additions: Additions = NO_ADDITIONS

    def floor(self) -> Floor:
        """Return the oldest system on which the wheels work."""
        names = [wheel.path.name for wheel in self.wheels]
        if self.uv.entry.endswith(".whl"):
            names.append(self.uv.file.name)
        return floor_of(names, self.built_here)

    def lay_out(self) -> tuple[Manifest, list[Member]]:
        """Return the manifest and every other file."""
        lock = Member.of_text(LOCK, lock_text(self.wheels, self.interpreter.version, self.accelerator, self.additions))
        description = Member.of_text(DOWNLOADS, self.interpreter.description)
        archive = _of_file(f"python/{self.interpreter.file.name}", self.interpreter.file, self.interpreter.sha256)
        uv = _of_file(self.uv.entry, self.uv.file, self.uv.sha256)
        wheels = [
            Member(f"wheels/{wheel.path.name}", FileRecord(wheel.size, wheel.sha256), wheel.path) for wheel in self.wheels
        ]
        members = [lock, description, uv, archive, *wheels]
        manifest = Manifest(
            platform=self.platform,
            floor=self.floor(),
            python=self.interpreter.version,
            created=utc_now(),
            kind=self.wish.kind,
            name=self.wish.name,
            digest=self.wish.digest,
            uv=uv.name,
            uv_version=self.uv.version,
            archive=archive.name,
            files={member.name: member.record for member in members},
        )
        return manifest, members


def lock_text(
    wheels: Sequence[StoredWheel], python: str, accelerator: str | None = None, additions: Additions = NO_ADDITIONS
) -> str:
    """Return the lock of a bundle: plain PEP 751, each package by the relative path of its one wheel."""
    packages: list[dict[str, Any]] = [
        {
            "name": wheel.name,
            "version": wheel.version,
            "wheels": [
                {
                    "name": wheel.path.name,
                    "path": f"wheels/{wheel.path.name}",
                    "size": wheel.size,
                    "hashes": {"sha256": wheel.sha256},
                }
            ],
        }
        for wheel in sorted(wheels, key=lambda wheel: wheel.name)
    ]
    minor = minor_of(python)
    lock: dict[str, Any] = {
        "lock-version": "1.0",
        "requires-python": f"=={minor}.*",
        "created-by": "amlwizard",
        "packages": packages,
    }
    about = additions.to_toml()
    if accelerator is not None:
        about["accelerator"] = accelerator
    if about:
        lock["tool"] = {"amlwizard": about}
    return tomli_w.dumps(lock)


def _of_file(name: str, file: Path, sha256: str) -> Member:
    return Member(name, FileRecord(file.stat().st_size, sha256), file)
