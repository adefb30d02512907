"""Builds a staged environment beside the old one with uv, offline from the store (DESIGN 3.7)."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from amlwizard.core.ended import exit_code
from amlwizard.core.environment.commit import begin_stage, undo_stage
from amlwizard.core.environment.layout import distribution_of, metadata_names, site_folders
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.paths import venv_python
from amlwizard.core.pip_cli import PipSettings, write_pip_conf
from amlwizard.core.running import IDLE_SECONDS, Command, OutputLine
from amlwizard.core.tool_output import failure_from_output

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amlwizard.core.journal import Journal
    from amlwizard.core.running import OnLine, Runner
    from amlwizard.core.uv_cli import UvCli

OnPackages = Callable[[int, int], None]
"""Installed, and how many there will be."""

VENV_SECONDS: Final = 300.0
_POLL_SECONDS: Final = 0.1
_DETAIL_LINES: Final = 20


async def begin_staged(
    uv: UvCli, runner: Runner, variables: Mapping[str, str], *, python: Path, on_line: OnLine
) -> Journal:
    """Make an empty staged environment; where that fails or is cancelled, nothing of it is left.

    Args and errors: as ``build_staged``.
    """
    workspace = uv.workspace
    try:
        journal = await run_whole(begin_stage, workspace)
        argv = uv.venv(workspace.staged, python)
        await run_or_raise(
            runner, Command(argv, variables, workspace.root, total_seconds=VENV_SECONDS), on_line, "AML_VENV_FAILED"
        )
    except BaseException:
        await run_whole(undo_stage, workspace)
        raise
    return journal


async def build_staged(
    uv: UvCli,
    runner: Runner,
    variables: Mapping[str, str],
    *,
    python: Path,
    lock: Path,
    expected: Mapping[str, str],
    pip_settings: PipSettings,
    begun: Journal | None = None,
    on_line: OnLine,
    on_packages: OnPackages = lambda _done, _total: None,
    on_undo: Callable[[], None] = lambda: None,
) -> Journal:
    """Build the staged environment; where that fails or is cancelled, nothing of it is left.

    Args:
        uv: uv for this workspace.
        runner: runs uv.
        variables: the whole environment of the children, ``uv.environment()`` included.
        python: the interpreter to build on.
        lock: ``pylock.local.toml``, whose paths lead into the store.
        expected: normalised names and versions that the lock installs here.
        pip_settings: for the environment's own pip.
        begun: what ``begin_staged`` returned, where the staged environment is there already.
        on_line: told each line of output.
        on_packages: told how many distributions are in place.
        on_undo: called before what was built is removed, which may take seconds.

    Returns:
        The journal entry, whose ``build`` belongs into the marker.

    Raises:
        AmlError: ``AML_VENV_FAILED``, ``AML_SYNC_FAILED``, ``AML_STEP_STALLED`` or ``AML_PACKAGES_NOT_INSTALLED``.
    """
    workspace = uv.workspace
    journal = begun or await begin_staged(uv, runner, variables, python=python, on_line=on_line)
    try:
        sync = uv.sync(lock, venv_python(workspace.staged))
        command = Command(sync, variables, workspace.root)
        await run_watched(runner, command, on_line, workspace.staged, len(expected), on_packages)
        await run_whole(check_installed, workspace.staged, expected)
        await run_whole(write_pip_conf, workspace.staged, pip_settings)
    except BaseException:
        on_undo()
        await run_whole(undo_stage, workspace)
        raise
    return journal


async def run_or_raise(runner: Runner, command: Command, on_line: OnLine, code: str) -> None:
    """Run a command; anything but exit code 0 raises what its last lines speak of, such as a full disk, else the code."""
    last: list[str] = []

    def keep(line: OutputLine) -> None:
        last[:] = [*last[1 - _DETAIL_LINES :], line.text]
        on_line(line)

    status = exit_code(await runner.run(command, keep), command.argv[0], "\n".join(last))
    if status != 0:
        raise failure_from_output(last, otherwise=code, command=command.argv[0], reason=f"exit code {status}")


async def run_watched(
    runner: Runner,
    command: Command,
    on_line: OnLine,
    environment: Path,
    total: int,
    on_packages: OnPackages,
    *,
    idle_seconds: float = IDLE_SECONDS,
) -> None:
    """Run an installing command and watch the disk meanwhile: installers say nothing until they are through.

    Raises:
        AmlError: ``AML_SYNC_FAILED``, or ``AML_STEP_STALLED`` with the last lines where nothing was said and nothing moved
            for too long.
    """
    loop = asyncio.get_running_loop()
    seen, moved = (-1, -1), loop.time()
    last: deque[str] = deque(maxlen=_DETAIL_LINES)

    def keep(line: OutputLine) -> None:
        nonlocal moved
        moved = loop.time()
        last.append(line.text)
        on_line(line)

    task = asyncio.ensure_future(run_or_raise(runner, command, keep, "AML_SYNC_FAILED"))
    try:
        while not (await asyncio.wait([task], timeout=_POLL_SECONDS))[0]:
            now = await run_whole(_progress, environment)
            if now != seen:
                seen, moved = now, loop.time()
                on_packages(min(now[0], total), total)
            elif loop.time() - moved > idle_seconds:
                detail = "\n".join(last)
                raise AmlError("AML_STEP_STALLED", detail=detail, command=command.argv[0], seconds=round(idle_seconds))
        task.result()
        on_packages(total, total)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


def check_installed(environment: Path, expected: Mapping[str, str]) -> None:
    """Make sure that what should be installed is: an exit code of 0 alone proves nothing.

    Raises:
        AmlError: ``AML_PACKAGES_NOT_INSTALLED`` with their names.
    """
    found = {distribution_of(name)[0] for site in site_folders(environment) for name in metadata_names(site)}
    missing = sorted(expected.keys() - found)
    if missing:
        raise AmlError("AML_PACKAGES_NOT_INSTALLED", packages=", ".join(missing), count=len(missing))


def _progress(environment: Path) -> tuple[int, int]:
    """Return how many distributions are in place, and how many entries there are at all."""
    sites = site_folders(environment)
    return sum(len(metadata_names(site)) for site in sites), sum(len(os.listdir(site)) for site in sites)  # noqa: PTH208
