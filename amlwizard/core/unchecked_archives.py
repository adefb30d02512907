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
    from amlwizard.core.python_install import PythonArchive

_DAMAGED = frozenset({"AML_HASH_REFUSED", "AML_UV_PYTHON_FAILED"})
"""uv begins to unpack before it knows the hash, so that a damaged archive may look like anything; a full disk does not."""


async def fetch_for_uv(
    run: RunContext,
    archive: PythonArchive,
    command: Callable[[str], tuple[str, ...]],
    others: Sequence[Download] = (),
) -> None:
    """Fetch an archive into the store by way of uv, which unpacks it; a damaged one is fetched anew once.

    Args:
        run: the run.
        archive: the archive, without a hash.
        command: returns uv's command line for the address of a mirror.
        others: files of the store that are fetched together with it.

    Raises:
        AmlError: a network code, ``AML_HASH_REFUSED``, or ``AML_UV_PYTHON_FAILED``.
    """
    mirror = run.workspace.unchecked
    place = mirror / archive.build / archive.filename
    argv = command(mirror.as_uri())
    for may_be_damaged in (True, False):
        known = [] if place.is_file() else [Download((archive.url,), place, None)]
        await run.fetch([*others, *known])
        result = await run.run_tool(argv, variables=run.uv_variables(downloads=True))
        if result.code == 0:
            break
        failure = run.failure(result, otherwise="AML_UV_PYTHON_FAILED", version=str(archive.version))
        damaged = failure.code in _DAMAGED
        if damaged:
            await run_whole(_drop, place)
        if not (damaged and may_be_damaged):
            raise failure
    await run_whole(_move, place, run.workspace.downloads / archive.filename)


def _move(place: Path, stored: Path) -> None:
    place.replace(stored)
    _drop(place)


def _drop(place: Path) -> None:
    place.unlink(missing_ok=True)
    with suppress(OSError):  # another one is there
        place.parent.rmdir()
        place.parent.parent.rmdir()
