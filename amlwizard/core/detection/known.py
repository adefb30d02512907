"""A look at what the workspace already uses, and at nothing else: enough for a rebuild, and much quicker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from amlwizard.core.detection.interpreter import ARGUMENTS, parse_answer
from amlwizard.core.detection.places import SOURCE_RECORD
from amlwizard.core.detection.probing import PROBE_SECONDS, ask
from amlwizard.core.detection.search import MINIMUM_UV
from amlwizard.core.facts import Candidate, EnvironmentFacts, Facts, Host, PythonFacts
from amlwizard.core.paths import executable_name
from amlwizard.core.running import Exited

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amlwizard.core.paths import Workspace
    from amlwizard.core.running import Runner


async def probe_python(runner: Runner, executable: Path, env: Mapping[str, str], host: Host) -> PythonFacts | None:
    """Start one interpreter and return what it says of itself, or None."""
    answer = await ask(runner, (str(executable), *ARGUMENTS), env, PROBE_SECONDS)
    return parse_answer(answer, host) if answer.outcome == Exited(0) else None


async def known_facts(
    workspace: Workspace, runner: Runner, env: Mapping[str, str], host: Host, environment: EnvironmentFacts
) -> Facts | None:
    """Return the workspace's own uv and the interpreter that its environment stands on, or None where either fails."""
    base = _base_interpreter(workspace)
    uv = workspace.tools / executable_name("uv")
    if base is None or not uv.is_file():
        return None
    answer, python = await asyncio.gather(
        ask(runner, (str(uv), "--version"), env, PROBE_SECONDS), probe_python(runner, base, env, host)
    )
    version = answer.last_line.split()[1:2]
    if answer.outcome != Exited(0) or not version or python is None:
        return None
    try:
        if Version(version[0]) < MINIMUM_UV:
            return None
    except InvalidVersion:
        return None
    own_uv = Candidate("uv", uv, SOURCE_RECORD, version[0], usable=True)
    own_python = Candidate("python", base, SOURCE_RECORD, python.version_text, usable=True, python=python)
    return Facts(host, (own_uv, own_python), own_uv, own_python, environment)


def _base_interpreter(workspace: Workspace) -> Path | None:
    """Return the interpreter that the environment was made with, from its own link or from pyvenv.cfg."""
    try:
        target = workspace.python.resolve(strict=True)
    except OSError:
        return None
    return None if target == workspace.python else target
