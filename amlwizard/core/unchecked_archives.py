"""Interpreter archives whose hash uv alone knows (DESIGN 3.4): it checks them while it unpacks them from a mirror.

Until then they lie in a folder of their own beside the store, which has the shape of a mirror, so that a later run goes on
with what an earlier one began.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from amlwizard.core.environment.threads import run_whole
from amlwizard.core.fetching import Download

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.paths import Workspace
    from amlwizard.core.python_install import PythonArchive

_DAMAGED = frozenset({"AML_HASH_REFUSED", "AML_UV_PYTHON_FAILED"})
"""uv begins to unpack before it knows the hash, so that a damaged archive may look like anything; a full disk does not."""


async def fetch_for_uv(
    run: RunContext,
    archive: PythonArchive,
    command: Callable[[str], tuple[str, ...]],
    others: Sequence[Download] = (),
) -> Path:
    """Fetch an archive and let uv unpack it, and so check it; a damaged one is fetched anew once.

    Args:
        run: the run.
        archive: the archive, without a hash.
        command: returns uv's command line for the address of a mirror.
        others: files of the store that are fetched together with it.

    Returns:
        The file, which is right; it lies beside the store.

    Raises:
        AmlError: a network code, ``AML_HASH_REFUSED``, or ``AML_UV_PYTHON_FAILED``.
    """
    mirror = run.workspace.unchecked
    place = mirror / archive.build / archive.filename
    argv = command(mirror.as_uri())
    tries = 0
    while True:
        tries += 1
        known = [] if place.is_file() else [Download((archive.url,), place, None)]
        await run.fetch([*others, *known])
        result = await run.run_tool(argv, variables=run.uv_variables(downloads=True))
        if result.code == 0:
            return place
        failure = run.failure(result, otherwise="AML_UV_PYTHON_FAILED", version=str(archive.version))
        if failure.code in _DAMAGED:
            await run_whole(drop_unchecked, run.workspace, place)
        if failure.code not in _DAMAGED or tries == 2:
            raise failure


def drop_unchecked(workspace: Workspace, place: Path) -> None:
    """Remove an archive from beside the store where it still lies there, and the folders that are empty then."""
    if place.is_relative_to(workspace.unchecked):
        place.unlink(missing_ok=True)
        with suppress(OSError):  # another one is there
            place.parent.rmdir()
            workspace.unchecked.rmdir()
