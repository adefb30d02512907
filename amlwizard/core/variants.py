"""Which build of a package was chosen where there are several, such as one for a graphics card and one without.

Versions tell them apart by what stands behind their ``+``; two indexes may hold two builds of one version.
"""

from __future__ import annotations

import ast
import asyncio
from typing import TYPE_CHECKING, Final

from packaging.version import InvalidVersion, Version

from amlwizard.core.catalogue import text
from amlwizard.core.environment.by_hand import installed_distributions
from amlwizard.core.environment.layout import site_folders
from amlwizard.core.events import LogEvent
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.storing import wanted_files
from amlwizard.core.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from packaging.pylock import Pylock

    from amlwizard.core.context import RunContext

_WITH_VARIANTS: Final = frozenset({"torch", "torchvision", "torchaudio", "jaxlib", "tensorflow", "xformers"})
"""Packages whose plain version is one build of several."""


async def tell_variants(run: RunContext, lock: Pylock) -> None:
    """Show which builds a lock names and from where, and where one takes the place of another one."""
    await _tell(run, lambda: list(_chosen(run, lock)))


async def tell_accelerators(run: RunContext, environment: Path) -> None:
    """Show for which accelerator installed packages say that they were built; nothing of them is started."""
    await _tell(run, lambda: list(_accelerators(run, environment)))


async def _tell(run: RunContext, find: Callable[[], list[str]]) -> None:
    for line in await asyncio.to_thread(find):
        run.emit(LogEvent(run.step, line, remark=True))


def _chosen(run: RunContext, lock: Pylock) -> Iterator[str]:
    installed = installed_distributions(run.workspace.venv) if run.workspace.venv.is_dir() else {}
    for file in wanted_files(run, lock).files:
        version = file.version or ""
        label, before = _label(version), installed.get(file.name, ())
        old = before[-1].version if before else version
        if label or file.name in _WITH_VARIANTS:
            host = host_of(file.url) if file.url else text("variant.here", run.language)
            yield text("variant.chosen", run.language, name=file.name, version=version, host=host)
        if _label(old) != label:
            yield text("variant.changes", run.language, name=file.name, old=old, new=version)


def _accelerators(run: RunContext, environment: Path) -> Iterator[str]:
    for site in site_folders(environment):
        for name in sorted(run.expected):
            about = _build_facts(site / name / "version.py")
            if "cuda" not in about and "hip" not in about:
                continue
            kinds = [f"{kind} {about[key]}" for key, kind in (("cuda", "CUDA"), ("hip", "ROCm")) if about.get(key)]
            key = "variant.built_for" if kinds else "variant.built_for_cpu"
            yield text(key, run.language, name=name, accelerator=", ".join(kinds))


def _build_facts(file: Path) -> dict[str, str | None]:
    """Return the plain values that a package's ``version.py`` sets, such as ``cuda``; empty where there is no such file."""
    try:
        tree = ast.parse(read_plain_text(file))
    except (OSError, ValueError, SyntaxError, RecursionError):
        return {}
    facts: dict[str, str | None] = {}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            value = getattr(node, "value", None)
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
                facts[target.id] = str(value.value) if value.value is not None else None
    return facts


def _label(version: str) -> str | None:
    try:
        return Version(version).local
    except InvalidVersion:
        return None
