"""The interpreter of a bundle: the archive in the store, or one fetched now."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.errors import AmlError
from amlwizard.core.fetching import Download
from amlwizard.core.python_install import PythonArchive, keep_archive

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext


async def fetch_with_archive(run: RunContext, archive: PythonArchive | None, others: Sequence[Download]) -> None:
    """Fetch files into the store together with an archive, of which only what has the right hash gets there.

    Raises:
        AmlError: a network code, or ``AML_UV_PYTHON_FAILED`` where uv does not accept the archive.
    """
    if archive is None:
        await run.fetch(others)
        return
    stored = run.workspace.downloads / archive.filename
    known = archive.sha256 is not None
    target = stored if known else run.tmp / "python-mirror" / archive.build / archive.filename
    await run.fetch([*others, Download((archive.url,), target, archive.sha256)])
    if not known:
        await _let_uv_check(run, archive)
    await asyncio.to_thread(keep_archive, run.workspace, archive, target)


async def _let_uv_check(run: RunContext, archive: PythonArchive) -> None:
    """Let uv unpack an archive in a private folder: it alone knows the hash of what its own list names."""
    argv = run.uv_cli().python_install(
        archive.key, mirror=(run.tmp / "python-mirror").as_uri(), folder=run.tmp / "python-trial"
    )
    result = await run.run_tool(argv, variables=run.uv_variables(downloads=True))
    if result.code != 0:
        raise run.failure(result, otherwise="AML_UV_PYTHON_FAILED", version=str(archive.version))


def read_kept(run: RunContext, archive: PythonArchive) -> tuple[PythonArchive, Path, str]:
    """Return an archive of the store with its hash, its file, and its description for a bundle.

    Raises:
        AmlError: ``AML_BUNDLE_STORE``; it is not there any more.
    """
    file = run.workspace.downloads / archive.filename
    try:
        text = file.with_name(f"{file.name}.json").read_text(encoding="utf-8")
        entry = json.loads(text)[archive.key]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AmlError("AML_BUNDLE_STORE", files=file.name, count=1) from error
    return replace(archive, sha256=str(entry["sha256"])), file, text
