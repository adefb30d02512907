"""Interpreter archives whose hash uv alone knows (DESIGN 3.4): it checks them while it unpacks them from a private mirror.

Until then they lie beside the store under a name of their own, so that a later run goes on with what an earlier one began.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from amlwizard.core.environment.threads import run_whole
from amlwizard.core.fetching import Download

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace
    from amlwizard.core.python_install import PythonArchive


def unchecked_place(workspace: Workspace, archive: PythonArchive) -> Path:
    """Return where an archive lies before uv has found it right."""
    return workspace.downloads / f"{archive.filename}.unchecked.part"


async def fetch_for_uv(
    run: RunContext,
    archive: PythonArchive,
    command: Callable[[str], tuple[str, ...]],
    others: Sequence[Download] = (),
) -> Path:
    """Fetch an archive and let uv unpack it; one that uv finds damaged is fetched anew once, and then not kept.

    Args:
        run: the run.
        archive: the archive, without a hash.
        command: returns uv's command line for the address of a mirror.
        others: files of the store that are fetched together with it.

    Returns:
        The file that uv has found right.

    Raises:
        AmlError: a network code, ``AML_HASH_REFUSED``, or ``AML_UV_PYTHON_FAILED``.
    """
    place = unchecked_place(run.workspace, archive)
    mirror = run.tmp / "python-mirror"
    tries = 0
    while True:
        tries += 1
        known = [] if place.is_file() else [Download((archive.url,), place, None)]
        await run.fetch([*others, *known])
        await run_whole(_show, place, mirror / archive.build / archive.filename)
        result = await run.run_tool(command(mirror.as_uri()), variables=run.uv_variables(downloads=True))
        if result.code == 0:
            return place
        failure = run.failure(result, otherwise="AML_UV_PYTHON_FAILED", version=str(archive.version))
        if failure.code != "AML_HASH_REFUSED":
            raise failure
        place.unlink(missing_ok=True)
        if tries == 2:
            raise failure


def _show(place: Path, shown: Path) -> None:
    """Let a file appear at another path, without a copy where both are on one file system."""
    shown.parent.mkdir(parents=True, exist_ok=True)
    shown.unlink(missing_ok=True)
    try:
        os.link(place, shown)
    except OSError:
        shutil.copyfile(place, shown)
