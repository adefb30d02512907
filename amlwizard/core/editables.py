"""Builds the editable folders of a lock ahead: what that needs comes into uv's cache, so that Build works offline."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.catalogue import message_phrase
from amlwizard.core.data_text import parse_toml
from amlwizard.core.errors import AmlError
from amlwizard.core.extended_lock import added_names
from amlwizard.core.plain_files import read_plain_text

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.lock import LockedFile

_DEFAULT_BACKEND: Final = "setuptools"


async def prepare_editable(run: RunContext, file: LockedFile) -> None:
    """Build an editable folder into uv's cache, from what is there, else with the network.

    Raises:
        AmlError: ``AML_EDITABLE_OFFLINE``, or ``AML_ADDED_OFFLINE`` where it was added by hand, names the package and its
            build backend; else what the build said.
    """
    if file.path is None:
        return
    source = file.path / file.subdirectory if file.subdirectory else file.path
    out = run.tmp / "editable" / file.name
    python = run.require_python().executable
    for offline in (True,) if run.choices.offline else (True, False):
        argv = run.uv_cli().build_editable(source, out, python, offline=offline)
        result = await run.run_tool(argv, variables=run.uv_variables(), cwd=run.tmp)
        if result.code == 0:
            return
    failure = run.failure(result, otherwise="AML_BUILD_FAILED", package=file.name)
    if failure.code != "AML_OFFLINE_MISSING":
        raise failure
    raise await asyncio.to_thread(_out_of_reach, run, file.name, source, failure)


def _out_of_reach(run: RunContext, name: str, source: Path, failure: AmlError) -> AmlError:
    error = AmlError(
        "AML_EDITABLE_OFFLINE", detail=failure.detail, package=name, folder=str(source), backend=build_backend(source)
    )
    if run.lock is None or name not in added_names(run.lock):
        return error
    return AmlError("AML_ADDED_OFFLINE", detail=failure.detail, packages=name, cause=message_phrase(error))


def build_backend(source: Path) -> str:
    """Return what a folder is built with: its build backend and what that needs, as the folder names them. Blocks."""
    try:
        content: Any = parse_toml(read_plain_text(source / "pyproject.toml"))
    except (OSError, ValueError):
        return _DEFAULT_BACKEND
    system = content.get("build-system")
    requires = system.get("requires") if isinstance(system, dict) else None
    named = ", ".join(map(str, requires)) if isinstance(requires, list) else ""
    return named or str(system.get("build-backend", "") if isinstance(system, dict) else "") or _DEFAULT_BACKEND
