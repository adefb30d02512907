"""How a second window for the same workspace reaches the first one: by a local socket of the user, never by a network.

The module is loaded once the window is painted, for the sake of what it imports.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from amlwizard.ui.calls import read_answer, read_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.ui.calls import Answer, Call

_LONGEST: Final = 65_536
"""In bytes; what is longer is no call of ours."""


class Doorbell(QObject):
    """Listens at an address for calls and answers each by what ``on_call`` returns.

    Attributes:
        listens: False where this system does not let it listen there, as where the path is too long for a socket.
    """

    def __init__(self, address: str, on_call: Callable[[Call], Answer]) -> None:
        super().__init__()
        self._on_call = on_call
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)
        QLocalServer.removeServer(address)  # that of a window that was killed: whoever listens here has the claim
        self.listens = self._server.listen(address)

    def close(self) -> None:
        """Listen no more."""
        self._server.close()

    def _on_connection(self) -> None:
        while (caller := self._server.nextPendingConnection()) is not None:
            caller.setReadBufferSize(_LONGEST)
            caller.disconnected.connect(caller.deleteLater)
            caller.readyRead.connect(partial(self._hear, caller))
            self._hear(caller)

    def _hear(self, caller: QLocalSocket) -> None:
        if not caller.canReadLine():
            if caller.bytesAvailable() >= _LONGEST:
                caller.abort()
            return
        call = read_call(bytes(caller.readLine().data()))
        if call is not None:
            caller.write(self._on_call(call).line())
        caller.disconnectFromServer()


def ring(address: str, call: Call, seconds: float) -> Answer | None:
    """Call the window at an address; None where it does not answer in time. Blocks; needs a Qt application."""
    deadline = time.monotonic() + seconds

    def left() -> int:
        return max(1, int((deadline - time.monotonic()) * 1000))

    caller = QLocalSocket()
    caller.connectToServer(address)
    if not caller.waitForConnected(left()):
        return None
    caller.write(call.line())
    while not caller.canReadLine():
        if not caller.waitForReadyRead(left()):
            return None
    return read_answer(bytes(caller.readLine().data()))
