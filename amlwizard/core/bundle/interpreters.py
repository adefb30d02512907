"""The interpreter of a bundle: the archive in the store, or one fetched now."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.errors import AmlError
from amlwizard.core.fetching import Download
from amlwizard.core.python_install import PythonArchive, keep_archive
from amlwizard.core.unchecked_archives import fetch_for_uv

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext


async def fetch_with_archive(run: RunContext, archive: PythonArchive, others: Sequence[Download]) -> None:
    """Fetch files into the store together with an archive, of which only what has the right hash gets there.

    Raises:
        AmlError: a network code, or ``AML_UV_PYTHON_FAILED`` where uv does not accept the archive.
    """
    if archive.sha256 is not None:
        file = run.workspace.downloads / archive.filename
        await run.fetch([*others, Download((archive.url,), file, archive.sha256)])
    else:
        uv, trial = run.uv_cli(), run.tmp / "python-trial"
        file = await fetch_for_uv(
            run, archive, lambda mirror: uv.python_install(archive.key, mirror=mirror, folder=trial), others
        )
    await asyncio.to_thread(keep_archive, run.workspace, archive, file)


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
