"""A look at what the workspace already uses, and at nothing else: enough for a rebuild, and much quicker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from amlwizard.core.detection.interpreter import ARGUMENTS, parse_answer
from amlwizard.core.detection.places import SOURCE_RECORD, SOURCE_WORKSPACE, Surroundings, subfolders
from amlwizard.core.detection.probing import ask, failure, no_answer
from amlwizard.core.detection.python_places import prefix_python
from amlwizard.core.detection.search import MINIMUM_UV
from amlwizard.core.errors import AmlError
from amlwizard.core.facts import Candidate, EnvironmentFacts, Facts, Host, PythonFacts
from amlwizard.core.refused_start import not_started
from amlwizard.core.running import Exited, NotStarted
from amlwizard.core.uv_cli import UvCli

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amlwizard.core.paths import Workspace
    from amlwizard.core.running import Runner


async def probe_python(runner: Runner, executable: Path, env: Mapping[str, str], host: Host) -> PythonFacts | None:
    """Start one interpreter and return what it says of itself, or None."""
    answer = await ask(runner, (str(executable), *ARGUMENTS), env)
    return parse_answer(answer, host) if answer.outcome == Exited(0) else None


async def first_start(runner: Runner, executable: Path, env: Mapping[str, str], host: Host, version: str) -> PythonFacts:
    """Start an interpreter that was just set up and return what it says of itself.

    Raises:
        AmlError: ``AML_UV_PYTHON_FAILED`` with what it said instead, or why the system does not let it start.
    """
    answer = await ask(runner, (str(executable), *ARGUMENTS), env)
    if isinstance(answer.outcome, NotStarted):
        raise not_started(executable, answer.outcome)
    facts = parse_answer(answer, host) if answer.outcome == Exited(0) else None
    if facts is None:
        raise AmlError("AML_UV_PYTHON_FAILED", version=version, cause=failure(answer) or no_answer(answer))
    return facts


async def known_facts(
    workspace: Workspace, runner: Runner, env: Mapping[str, str], host: Host, environment: EnvironmentFacts
) -> Facts | None:
    """Return the workspace's own uv and the interpreter that its environment stands on, or None where either fails."""
    base = _base_interpreter(workspace)
    if base is None:
        return None
    version, python = await asyncio.gather(_uv_version(workspace, runner, env), probe_python(runner, base, env, host))
    if version is None or python is None:
        return None
    own_uv = Candidate("uv", workspace.uv, SOURCE_RECORD, version, usable=True)
    own_python = Candidate("python", base, SOURCE_RECORD, python.version_text, usable=True, python=python)
    return Facts(host, (own_uv, own_python), own_uv, own_python, environment)


async def own_facts(
    workspace: Workspace, runner: Runner, env: Mapping[str, str], host: Host, environment: EnvironmentFacts
) -> Facts:
    """Return the workspace's private uv and its managed interpreters, of which none is chosen, and nothing else."""
    programs = await _managed(workspace, host)
    version, found = await asyncio.gather(
        _uv_version(workspace, runner, env),
        asyncio.gather(*(probe_python(runner, program, env, host) for program in programs)),
    )
    own_uv = Candidate("uv", workspace.uv, SOURCE_WORKSPACE, version, usable=True) if version is not None else None
    pythons = [
        Candidate("python", program, SOURCE_WORKSPACE, facts.version_text, usable=True, python=facts)
        for program, facts in zip(programs, found, strict=True)
        if facts is not None
    ]
    return Facts(host, (*([own_uv] if own_uv is not None else []), *pythons), own_uv, None, environment)


async def workspace_pythons(workspace: Workspace, runner: Runner, env: Mapping[str, str], host: Host) -> list[PythonFacts]:
    """Return the interpreter that the environment stands on, then the managed ones; what does not answer is left out."""
    base = await asyncio.to_thread(_base_interpreter, workspace)
    programs = dict.fromkeys([*([base] if base is not None else []), *await _managed(workspace, host)])
    found = await asyncio.gather(*(probe_python(runner, program, env, host) for program in programs))
    return [facts for facts in found if facts is not None]


async def _managed(workspace: Workspace, host: Host) -> list[Path]:
    around = Surroundings(host.system, {}, workspace.root, workspace)
    prefixes = await asyncio.to_thread(subfolders, workspace.interpreters)
    return [program for prefix in prefixes if (program := prefix_python(around, prefix)) is not None]


async def _uv_version(workspace: Workspace, runner: Runner, env: Mapping[str, str]) -> str | None:
    """Return the version of the private uv where it runs and is new enough."""
    if not workspace.uv.is_file():
        return None
    answer = await ask(runner, UvCli(workspace.uv, workspace).version(), env)
    version = answer.last_line.split()[1:2]
    if answer.outcome != Exited(0) or not version:
        return None
    try:
        return version[0] if Version(version[0]) >= MINIMUM_UV else None
    except InvalidVersion:
        return None


def _base_interpreter(workspace: Workspace) -> Path | None:
    """Return the interpreter that the environment was made with, from its own link or from pyvenv.cfg."""
    try:
        target = workspace.python.resolve(strict=True)
    except OSError:
        return None
    return None if target == workspace.python else target
