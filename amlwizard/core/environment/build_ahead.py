"""Installs wheels into the staged environment while others are still on their way.

Unpacking is work for the processor and the disk, fetching for the network: one after the other they take as long as both
together. All of it is a gain in time alone: what was not installed ahead, or could not be, Build installs.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

from amlwizard.core.catalogue import error_texts
from amlwizard.core.environment.build import begin_staged
from amlwizard.core.environment.commit import undo_stage
from amlwizard.core.environment.threads import outlast, run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.lock import local_lock
from amlwizard.core.paths import venv_python
from amlwizard.core.records import write_text_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from amlwizard.core.context import RunContext
    from amlwizard.core.journal import Journal
    from amlwizard.core.lock import StoredWheel

FIRST_SECONDS: Final = 1.0
"""So long a fetch is left alone: a shorter one wants both processors of a small computer for itself."""
_PAUSE_SECONDS: Final = 0.2


class BuildAhead:
    """Does so inside its ``with``; afterwards ``run.journal`` tells of the stage, where there is one."""

    def __init__(self, run: RunContext, arrived: Callable[[], list[StoredWheel]]) -> None:
        self._run = run
        self._arrived = arrived
        self._installed: set[str] = set()
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._work())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task = self._task
        if task is None:
            return
        self._over.set()
        if kind is not None:
            task.cancel()
        cancelled = await outlast(task, task.cancel)
        if cancelled is not None:
            raise cancelled
        if kind is None:
            task.result()  # what nobody foresaw is told

    async def _work(self) -> None:
        run = self._run
        try:
            await self._pause(FIRST_SECONDS)
            if self._over.is_set():
                return
            run.journal = await self._begin()
            while not self._over.is_set():
                await self._install()
                await self._pause(_PAUSE_SECONDS)
        except (AmlError, OSError) as error:
            run.log(error_texts(error, run.language)[0] if isinstance(error, AmlError) else str(error))
            await self._drop()
        except BaseException:
            await self._drop()
            raise

    async def _begin(self) -> Journal:
        run = self._run
        variables = run.child_environment(run.uv_variables())
        python = run.require_python().executable
        return await begin_staged(
            run.uv_cli(), run.runner, variables, python=python, on_line=lambda line: run.log(line.text)
        )

    async def _drop(self) -> None:
        self._run.journal = None
        self._run.tell_removal()
        await run_whole(undo_stage, self._run.workspace)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), seconds)

    async def _install(self) -> None:
        run = self._run
        wheels = [wheel for wheel in await asyncio.to_thread(self._arrived) if wheel.name not in self._installed]
        if not wheels:
            return
        lock = run.tmp / "pylock.ahead.toml"
        await run_whole(write_text_atomically, lock, local_lock(wheels, [], lock=lock))
        argv = run.uv_cli().install_locked(lock, venv_python(run.workspace.staged), [])
        result = await run.run_tool(argv, variables=run.uv_variables(), cwd=run.workspace.root)
        if result.code:
            raise run.failure(result, otherwise="AML_SYNC_FAILED", command=argv[0], reason=str(result.code))
        self._installed.update(wheel.name for wheel in wheels)
