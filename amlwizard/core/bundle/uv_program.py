"""The uv of a bundle: the workspace's private program, the copy that came with this one, or the wheel for a platform."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from packaging.utils import parse_wheel_filename

from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.detection.probing import PROBE_SECONDS
from amlwizard.core.errors import AmlError
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.paths import executable_name
from amlwizard.core.records import read_record
from amlwizard.core.uv_cli import UvCli
from amlwizard.core.uv_install import check_bundled_hash, find_uv_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.bundle.targets import Target
    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace
    from amlwizard.core.simple_index import IndexFile

_VERSION: Final = re.compile(r"uv (\d+\.\d+\.\d+\S*)", re.ASCII)


@dataclass(frozen=True)
class UvProgram:
    """What goes into a bundle: a program or a wheel, its entry's name, its version and its SHA-256."""

    file: Path
    entry: str
    version: str
    sha256: str


async def local_program(run: RunContext) -> UvProgram:
    """Return the workspace's own uv, or the copy that came with this program, after a look at its hash.

    Raises:
        AmlError: ``AML_BUNDLE_NO_UV``.
    """
    private = await asyncio.to_thread(_private_program, run.workspace)
    if private is not None:
        return private
    bundled = find_bundled_uv()
    if bundled is None:
        raise AmlError("AML_BUNDLE_NO_UV", root=str(run.workspace.root))
    await asyncio.to_thread(check_bundled_hash, bundled)
    result = await run.run_tool(UvCli(bundled, run.workspace).version(), total_seconds=PROBE_SECONDS)
    version = _VERSION.match(result.stdout[0]) if result.stdout else None
    if version is None:
        raise AmlError("AML_BUNDLE_NO_UV", root=str(run.workspace.root))
    return UvProgram(bundled, _entry(), version[1], await asyncio.to_thread(file_sha256, bundled))


def _private_program(workspace: Workspace) -> UvProgram | None:
    """Return the workspace's own uv if it is what was recorded when it was put there. Blocks."""
    private = workspace.uv
    record = read_record(workspace.uv_record) or {}
    if not private.is_file() or record.get("sha256") != file_sha256(private):
        return None
    return UvProgram(private, _entry(), str(record.get("version")), str(record.get("sha256")))


def _entry() -> str:
    return f"uv/{executable_name('uv')}"


async def wheel_on_index(run: RunContext, target: Target) -> IndexFile:
    """Return the newest uv wheel for a platform that the index offers.

    Raises:
        AmlError: a network code, ``AML_UV_NO_WHEEL`` or ``AML_NO_HASH``.
    """
    *_, tags = target.tag_sets()
    return await find_uv_wheel(run, list(dict.fromkeys(tag.platform for tag in tags)))


def of_wheel(wheel: IndexFile, file: Path) -> UvProgram:
    """Return the uv in a wheel that was fetched."""
    version = str(parse_wheel_filename(wheel.filename)[1])
    return UvProgram(file, f"uv/{wheel.filename}", version, wheel.sha256 or "")
