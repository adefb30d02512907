"""Builds the environment without uv, at its final path: what ``venv`` makes cannot be moved (DESIGN 3.7)."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from amlwizard.core import pip_cli
from amlwizard.core.environment.build import (
    VENV_SECONDS,
    OnPackages,
    check_installed,
    run_or_raise,
    run_watched,
)
from amlwizard.core.environment.commit import begin_in_place, undo_in_place
from amlwizard.core.environment.launchers import mend_first_lines
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.paths import venv_python
from amlwizard.core.running import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from amlwizard.core.journal import Journal
    from amlwizard.core.lock import StoredWheel
    from amlwizard.core.paths import Workspace
    from amlwizard.core.pip_cli import PipSettings
    from amlwizard.core.running import OnLine, Runner


async def build_in_place(
    workspace: Workspace,
    runner: Runner,
    variables: Mapping[str, str],
    *,
    python: Path,
    wheels: Sequence[StoredWheel],
    expected: Mapping[str, str],
    pip_settings: PipSettings,
    on_line: OnLine,
    on_packages: OnPackages = lambda _done, _total: None,
    on_undo: Callable[[], None] = lambda: None,
) -> Journal:
    """Move the old environment aside and build a new one in its place from the store's wheels.

    Where that fails or is cancelled, the old one is back. After success the old one still waits aside: the caller verifies,
    then calls ``commit_in_place``, or ``undo_in_place``.

    Raises:
        AmlError: as ``build_staged``.
    """
    try:
        journal = await run_whole(begin_in_place, workspace)
        command = Command(pip_cli.venv(python, workspace.venv), variables, workspace.root, total_seconds=VENV_SECONDS)
        await run_or_raise(runner, command, on_line, "AML_VENV_FAILED")
        with TemporaryDirectory(prefix="pip-", dir=variables.get("TMPDIR")) as folder:
            requirements = Path(folder, "requirements.txt")
            pip_cli.write_local_requirements(requirements, wheels)
            install = pip_cli.install_local(venv_python(workspace.venv), requirements)
            await run_watched(
                runner,
                Command(install, variables, workspace.root),
                on_line,
                workspace.venv,
                len(expected),
                on_packages,
            )
        await run_whole(check_installed, workspace.venv, expected)
        await run_whole(mend_first_lines, workspace.venv)
        await run_whole(pip_cli.write_pip_conf, workspace.venv, pip_settings)
    except BaseException:
        on_undo()
        await run_whole(undo_in_place, workspace)
        raise
    return journal
