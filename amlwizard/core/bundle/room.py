"""Whether there is room for a bundle and for what is fetched for it, asked before anything is."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from amlwizard.core.detection.bundled import uv_at_hand
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.plan import PYTHON_BYTES, PYTHON_DOWNLOAD_BYTES, UV_BYTES
from amlwizard.core.wording import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.bundle.gathering import Source
    from amlwizard.core.bundle.uv_program import UvProgram
    from amlwizard.core.context import RunContext
    from amlwizard.core.facts import Facts
    from amlwizard.core.fetching import Download
    from amlwizard.core.python_install import PythonArchive
    from amlwizard.core.wish import Wish


def check_first(place: Path, out: Path, source: Source, wish: Wish, facts: Facts, language: str) -> None:
    """Make sure that a folder outside of a workspace has room for all that is known to be fetched before Resolve.

    Raises:
        RefusedError: as ``_check``.
    """
    if source.recorded is not None:
        _check(RefusedError, place, out, PYTHON_DOWNLOAD_BYTES, 0, language, outside=True)
        return
    target, profile = source.target, wish.profile
    packages = (profile.download_bytes(target.platform, target.minor) if profile is not None else None) or 0
    tools = 0 if uv_at_hand(facts) is not None else UV_BYTES
    if not any(candidate.usable and candidate.python is not None for candidate in facts.candidates):
        tools += PYTHON_BYTES
    needed = packages + PYTHON_DOWNLOAD_BYTES + tools
    _check(RefusedError, place, out, needed, packages, language, outside=True)


def check_whole(run: RunContext, out: Path, archive: PythonArchive, downloads: Sequence[Download], uv: UvProgram) -> None:
    """Make sure of the same once it is known what is fetched; by then tools may be. Blocks for a moment.

    Raises:
        AmlError: as ``_check``.
    """
    kept = run.workspace.downloads / archive.filename
    fetched = sum(each.size or 0 for each in downloads if not each.target.is_file())
    packed = sum(each.size or 0 for each in downloads) + (uv.file.stat().st_size if uv.file.is_file() else 0)
    if kept.is_file():
        packed += kept.stat().st_size
    else:
        fetched += PYTHON_DOWNLOAD_BYTES if archive.sha256 is not None else PYTHON_DOWNLOAD_BYTES + PYTHON_BYTES
        packed += PYTHON_DOWNLOAD_BYTES
    root = run.workspace.root
    _check(AmlError, root, out, fetched, packed, run.language, outside=root.is_relative_to(run.tmp))


def _check(
    error: type[AmlError], store: Path, out: Path, fetched: int, packed: int, language: str, *, outside: bool
) -> None:
    """Make sure that what is fetched has room where it is kept, and the bundle where it goes.

    Raises:
        AmlError: of the given kind, ``AML_BUNDLE_TMP_SPACE``, ``AML_DISK_SPACE`` or ``AML_BUNDLE_SPACE``.
    """
    place = next(folder for folder in (store, *store.parents) if folder.is_dir())
    together = place.stat().st_dev == out.parent.stat().st_dev
    needed, free = fetched + (packed if together else 0), shutil.disk_usage(place).free
    if fetched and needed > free:
        sizes = {"needed": size_text(needed, language), "free": size_text(free, language)}
        if outside:
            variable = "TEMP" if os.name == "nt" else "TMPDIR"
            raise error("AML_BUNDLE_TMP_SPACE", folder=str(place), variable=variable, **sizes)
        raise error("AML_DISK_SPACE", root=str(store), **sizes)
    free = shutil.disk_usage(out.parent).free
    if packed > free:
        raise error("AML_BUNDLE_SPACE", folder=str(out.parent), needed=packed, free=free)
