"""The runner of the window: QProcess, on an event loop of Qt."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
import uuid
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QCoreApplication, QProcess, QProcessEnvironment, QSocketNotifier

from amlwizard.core.running import Exited, Signalled
from amlwizard.process.runner import BaseRunner, Child

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.core.running import Command, OnStart
    from amlwizard.process.runner import Stream

_READ_BYTES: Final = 64 * 1024
_NAMES: Final = ("stdout", "stderr")
_NUMBERS: Final = (errno.EPERM, errno.ENOENT, errno.EACCES, errno.ENOEXEC)
"""Qt says why a program was not started in words alone; on POSIX they end in the system's, or its own for them."""


def _words(number: int) -> tuple[str, str]:
    plain = os.strerror(number)
    return plain, QCoreApplication.translate("QIODevice", plain)  # in the language of the window


class _QtChild(Child):
    """What both kinds of output have in common: the process and its end."""

    def __init__(self) -> None:
        super().__init__()
        # Owned by the application: Python's collector may run in any thread, and must not delete Qt objects there.
        self.process = QProcess(QCoreApplication.instance())
        self.refused: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.process.setStandardInputFile(QProcess.nullDevice())
        self.process.finished.connect(self._on_finished)
        self.process.errorOccurred.connect(self._on_error)

    def start(self) -> None:
        """Start the process; ``process.state()`` tells whether it is under way."""
        self.process.start()

    async def listen(self) -> None:
        """Begin to read where that has to wait for the start."""

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and not self.refused.done():
            self.refused.set_result(self.process.errorString())

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        if not self.exited.done():
            crashed = status is QProcess.ExitStatus.CrashExit
            self.exited.set_result(Signalled(code & 0xFFFF_FFFF) if crashed else Exited(code))

    def close(self) -> None:
        self.process.close()
        self.process.deleteLater()


class _PosixChild(_QtChild):
    """Reads its output from pipes of our own: QProcess reads as fast as it can and cannot be held back."""

    def __init__(self) -> None:
        super().__init__()
        parameters: Any = QProcess.UnixProcessParameters()
        flags = QProcess.UnixProcessFlag
        wanted = flags.CreateNewSession | flags.CloseFileDescriptors | flags.ResetSignalHandlers
        parameters.flags = wanted
        self.process.setUnixProcessParameters(parameters)
        self._notifiers: dict[str, QSocketNotifier] = {}
        self._write_ends: list[int] = []
        for name, direct in zip(
            _NAMES, (self.process.setStandardOutputFile, self.process.setStandardErrorFile), strict=True
        ):
            read_end, write_end = os.pipe()
            os.set_blocking(read_end, False)
            self._write_ends.append(write_end)
            direct(f"/dev/fd/{write_end}")
            notifier = QSocketNotifier(read_end, QSocketNotifier.Type.Read, self.process)
            notifier.activated.connect(lambda *_, name=name: self._read(name))
            self._notifiers[name] = notifier

    def start(self) -> None:
        super().start()
        while self._write_ends:
            os.close(self._write_ends.pop())

    def _read(self, name: str) -> None:
        notifier = self._notifiers.get(name)
        if notifier is None or not notifier.isEnabled():
            return
        try:
            data = os.read(notifier.socket(), _READ_BYTES)
        except BlockingIOError:
            return
        if data:
            self.streams[name].feed(data)
        else:
            self._close(name)
            self.streams[name].end()

    def _close(self, name: str) -> None:
        notifier = self._notifiers.pop(name, None)
        if notifier is not None:
            notifier.setEnabled(False)
            os.close(notifier.socket())

    def hold(self, stream: str, held: bool) -> None:
        if stream in self._notifiers:
            self._notifiers[stream].setEnabled(not held)

    def close(self) -> None:
        for name in _NAMES:
            self._close(name)
        super().close()


if sys.platform == "win32":
    import _winapi
    from asyncio.windows_utils import PipeHandle

    class _OwnChild(_QtChild):
        """Reads its output from named pipes of our own, which QProcess opens as files, for the same reason."""

        def __init__(self) -> None:
            super().__init__()
            self._pipes: dict[str, PipeHandle] = {}
            self._transports: dict[str, asyncio.ReadTransport] = {}
            for name, direct in zip(
                _NAMES, (self.process.setStandardOutputFile, self.process.setStandardErrorFile), strict=True
            ):
                place = rf"\\.\pipe\amlwizard-{uuid.uuid4()}"
                access = _winapi.PIPE_ACCESS_INBOUND | _winapi.FILE_FLAG_OVERLAPPED | _winapi.FILE_FLAG_FIRST_PIPE_INSTANCE
                pipe = _winapi.CreateNamedPipe(place, access, _winapi.PIPE_WAIT, 1, 0, _READ_BYTES, 0, 0)
                self._pipes[name] = PipeHandle(pipe)
                direct(place)

        async def listen(self) -> None:
            loop = asyncio.get_running_loop()
            while self._pipes:
                name, pipe = self._pipes.popitem()
                receiver = _Receiver(self.streams[name])
                self._transports[name], _ = await loop.connect_read_pipe(lambda receiver=receiver: receiver, pipe)

        def hold(self, stream: str, held: bool) -> None:
            transport = self._transports.get(stream)
            if transport is not None and not transport.is_closing():
                (transport.pause_reading if held else transport.resume_reading)()

        def close(self) -> None:
            for ends in (self._pipes, self._transports):
                for end in ends.values():
                    end.close()
            super().close()

    class _Receiver(asyncio.Protocol):
        def __init__(self, stream: Stream) -> None:
            self._stream = stream

        def data_received(self, data: bytes) -> None:
            self._stream.feed(data)

        def connection_lost(self, _error: Exception | None) -> None:
            self._stream.end()

else:
    _OwnChild = _PosixChild


class QProcessRunner(BaseRunner):
    """Runs commands by QProcess; the running event loop is one of Qt."""

    async def _start(
        self, command: Command, env: dict[str, str], adopt: OnStart, make: Callable[[Child, str], Stream]
    ) -> Child:
        child = _OwnChild()
        for name in _NAMES:
            make(child, name)
        environment = QProcessEnvironment()
        for variable, value in env.items():
            environment.insert(variable, value)
        process = child.process
        process.setProcessEnvironment(environment)
        process.setWorkingDirectory(str(command.cwd))
        process.setProgram(command.argv[0])
        process.setArguments(list(command.argv[1:]))
        started = asyncio.get_running_loop().create_future()
        process.started.connect(lambda: started.set_result(None))
        child.start()
        pid = process.processId()  # it is 0 as soon as the process has ended
        if pid:
            adopt(pid)
        await asyncio.wait({started, child.refused}, return_when=asyncio.FIRST_COMPLETED)
        if child.refused.done():
            reason = child.refused.result()
            child.close()
            number = next((number for number in _NUMBERS if reason.endswith(_words(number))), None)
            raise OSError(number, reason) if number is not None else OSError(reason)
        await child.listen()
        return child
