"""Finds a pip for an interpreter: its own, else one in an environment that lives for this run only (DESIGN 3.3, 3.7).

Debian and Ubuntu ship Python without pip, and their ensurepip refuses to put one there; into an environment it goes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core import pip_cli
from amlwizard.core.catalogue import text
from amlwizard.core.environment.build import VENV_SECONDS
from amlwizard.core.errors import AmlError
from amlwizard.core.paths import venv_python

if TYPE_CHECKING:
    from packaging.version import Version

    from amlwizard.core.context import RunContext
    from amlwizard.core.facts import PythonFacts


async def python_with_pip(run: RunContext, python: PythonFacts, minimum: Version) -> Path:
    """Return an interpreter of the same version and tags whose ``-m pip`` works and is new enough.

    Args:
        run: the run; what has to be made lies in its temporary folder and goes with it.
        python: the interpreter that a pip is wanted for.
        minimum: the oldest pip that will do.

    Raises:
        AmlError: ``AML_PIP_MISSING`` where there is none and none can be had, ``AML_VENV_FAILED``, or what pip said.
    """
    if await _has_pip(run, python.executable, minimum):
        return python.executable
    private = run.private_pips.get(python.executable)
    if private is None:
        private = run.private_pips[python.executable] = await _make(run, python, minimum)
    if not await _has_pip(run, private, minimum):
        await _upgrade(run, private, minimum)
    return private


async def _has_pip(run: RunContext, executable: Path, minimum: Version) -> bool:
    result = await run.run_tool(pip_cli.version(executable), variables=run.pip_variables())
    found = pip_cli.parse_version(result.stdout) if result.code == 0 else None
    return found is not None and found >= minimum


async def _make(run: RunContext, python: PythonFacts, minimum: Version) -> Path:
    if not (python.has_venv and python.has_ensurepip):
        package = f"python{python.minor}-venv"
        raise AmlError("AML_PIP_MISSING", python=str(python.executable), minimum=str(minimum), package=package)
    run.log(text("engine.private_pip", run.language, python=str(python.executable)))
    environment = Path(tempfile.mkdtemp(prefix="pip-", dir=run.tmp))
    command = pip_cli.venv(python.executable, environment)
    result = await run.run_tool(command, variables=run.pip_variables(), total_seconds=VENV_SECONDS)
    if result.code != 0:
        reason = f"exit code {result.code}"
        raise run.failure(result, otherwise="AML_VENV_FAILED", tool="venv", command=command[0], reason=reason)
    return venv_python(environment)


async def _upgrade(run: RunContext, private: Path, minimum: Version) -> None:
    """Get a newer pip from the index: Python releases keep the one that was current at their time."""
    result = await run.run_tool(pip_cli.upgrade_pip(private, minimum), variables=run.pip_variables())
    if result.code != 0:
        raise run.failure(result, otherwise="AML_PIP_FAILED", tool="pip", program="pip")
