"""What cannot be had without a network, known before anything is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from packaging.markers import Marker
from packaging.pylock import Pylock
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from amlwizard.core.lacking import Lacking, incomplete_store
from amlwizard.core.requirement_entries import PLACES
from amlwizard.core.requirements import is_complete_hashed_lock
from amlwizard.core.storing import missing_files, out_of_reach, wanted_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amlwizard.core.context import RunContext
    from amlwizard.core.lock import LockedFile
    from amlwizard.core.storing import Wanted


async def refuse_incomplete_store(run: RunContext, wanted: Wanted | None) -> None:
    """Refuse an offline run whose packages are known and not all in the store.

    Args:
        run: the run, whose interpreter is known.
        wanted: what its lock installs; None where there is no lock yet.

    Raises:
        AmlError: ``AML_STORE_INCOMPLETE`` names the files or the packages.
    """
    if wanted is None and isinstance(run.wish.content, Pylock):
        wanted = await asyncio.to_thread(wanted_files, run, run.wish.content)
    if wanted is not None:
        absent = lacking_files(await out_of_reach(run, await missing_files(run, wanted)))
    else:
        absent = await asyncio.to_thread(lambda: list(_absent_pins(run)))
    if absent:
        size = None if wanted is not None else await asyncio.to_thread(_profile_bytes, run)
        raise incomplete_store(absent, run.workspace.downloads, run.language, all_bytes=size)


def lacking_files(files: Sequence[LockedFile]) -> list[Lacking]:
    """Return locked files as what is lacking."""
    return [Lacking.of(file.filename or file.name, file.size, file.url) for file in files]


def _profile_bytes(run: RunContext) -> int | None:
    """Return the size of all wheels of a profile, where the store holds none of them or of anything else."""
    profile, host = run.wish.profile, run.facts.host
    if profile is None or next(run.workspace.downloads.glob("*.whl"), None) is not None:
        return None
    return profile.download_bytes(host.platform, run.require_python().minor)


def _absent_pins(run: RunContext) -> Iterator[Lacking]:
    """Yield what a complete list pins and the store has no file of. A folder of packages may bring any of them."""
    content = run.wish.content
    if isinstance(content, Pylock) or not is_complete_hashed_lock(content):
        return
    if run.choices.find_links or (run.choices.index_url or "").startswith("file:"):
        return
    if any(option.name in PLACES for option in content.options):
        return
    environment = run.require_python().marker_environment
    stored = {_named(path.name) for path in run.workspace.downloads.glob("*")}
    for entry in content.requirements:
        applies = not entry.marker or Marker(entry.marker).evaluate(environment)
        if applies and entry.name and (entry.name, _version(entry.pinned_version)) not in stored:
            yield Lacking(f"{entry.name} {entry.pinned_version}")


def _named(filename: str) -> tuple[str, Version | None]:
    try:
        if filename.endswith(".whl"):
            name, version, _, _ = parse_wheel_filename(filename)
        else:
            name, version = parse_sdist_filename(filename)
    except (InvalidSdistFilename, InvalidWheelFilename):
        return filename, None
    return canonicalize_name(name), version


def _version(text: str | None) -> Version | None:
    try:
        return Version(text or "")
    except InvalidVersion:
        return None
