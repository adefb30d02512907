"""The runner of the text mode: asyncio's own subprocesses, no Qt."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from amlwizard.core.running import CRASH_STATUS, Exited, Signalled
from amlwizard.process.runner import BaseRunner, Child

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.core.running import Command, OnStart
    from amlwizard.process.runner import Stream

_NAMES = {1: "stdout", 2: "stderr"}


class _AsyncioChild(Child, asyncio.SubprocessProtocol):
    """One child; asyncio calls the protocol's methods."""

    transport: asyncio.SubprocessTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)  # noqa: S101 - tells the type checker what asyncio gives
        self.transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.streams[_NAMES[fd]].feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        if fd in _NAMES:
            self.streams[_NAMES[fd]].end()

    def process_exited(self) -> None:
        # Unlike ``wait``, this does not wait for a grandchild that holds the pipes.
        code = self.transport.get_returncode() or 0
        if not self.exited.done():
            crashed = code & 0xFFFF_FFFF if sys.platform == "win32" and code & 0xFFFF_FFFF >= CRASH_STATUS else -code
            self.exited.set_result(Signalled(crashed) if crashed > 0 else Exited(code))

    def hold(self, stream: str, held: bool) -> None:
        pipe = self.transport.get_pipe_transport(1 if stream == "stdout" else 2)
        if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing():
            (pipe.pause_reading if held else pipe.resume_reading)()

    def close(self) -> None:
        self.transport.close()


class AsyncioRunner(BaseRunner):
    """Runs commands on an asyncio event loop."""

    async def _start(
        self, command: Command, env: dict[str, str], adopt: OnStart, make: Callable[[Child, str], Stream]
    ) -> Child:
        def protocol() -> _AsyncioChild:
            child = _AsyncioChild()
            if not command.attached:
                for name in _NAMES.values():
                    make(child, name)
            return child

        output = None if command.attached else asyncio.subprocess.PIPE

        transport, child = await asyncio.get_running_loop().subprocess_exec(
            protocol,
            *command.argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            cwd=command.cwd,
            start_new_session=sys.platform != "win32",
        )
        adopt(transport.get_pid())
        return child
