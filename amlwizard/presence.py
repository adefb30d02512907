"""The window among others of its kind: one for each workspace, and a second one calls the first."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import TYPE_CHECKING, Final

from amlwizard.core.errors import BusyError
from amlwizard.ui.calls import Answer, Call
from amlwizard.window_claim import ClaimedError, WindowClaim, claim_window, window_address

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.ui.doorbell import Doorbell
    from amlwizard.ui.wizard import SetupWizard

ANSWER_SECONDS: Final = 10.0
"""How long a window that has the claim may take to answer; it may just be starting."""
_LOOK_SECONDS: Final = 0.05
_TOKEN: Final = "XDG_ACTIVATION_TOKEN"  # noqa: S105 - the name of a variable


def claim_or_call(root: Path, bundle: str | None, seconds: float = ANSWER_SECONDS) -> WindowClaim | Answer | None:
    """Claim a workspace for a window, or call the one that has it. Blocks; needs a Qt application.

    Returns:
        The claim, what the other window answered, or None where windows cannot find each other on this computer.

    Raises:
        BusyError: the other window does not answer (``AML_WINDOW_SILENT``).
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return claim_window(root)
        except ClaimedError as error:
            try:
                from amlwizard.ui.doorbell import ring
            except ImportError:
                return None
            _let_others_come_forward()
            call = Call(bundle, os.environ.get(_TOKEN, ""))
            answer = ring(window_address(root), call, deadline - time.monotonic())
            if answer is not None:
                return answer
            if time.monotonic() > deadline:
                raise BusyError("AML_WINDOW_SILENT", root=str(root), pid=error.pid or "?") from error
            time.sleep(_LOOK_SECONDS)


class Presence:
    """Keeps the claim on the workspace that a window shows, and answers for it."""

    def __init__(self, wizard: SetupWizard, root: Path, claim: WindowClaim | None) -> None:
        self._wizard = wizard
        self._root = root
        self._claim = claim
        self._bell: Doorbell | None = None
        self._moved = asyncio.Event()
        wizard.controller.survey_changed.connect(self._look)

    async def keep(self) -> None:
        """Stand for the workspace that the window shows, whichever it is, until this is cancelled."""
        try:
            bell = await asyncio.to_thread(_load_bell)
            while bell is not None:
                self._listen(bell)
                await self._moved.wait()
                self._moved.clear()
                self._leave()
                self._claim = await asyncio.to_thread(_claim_if_free, self._root)
        finally:
            self._leave()

    def _look(self) -> None:
        surveyed = self._wizard.controller.surveyed
        if surveyed is not None and surveyed.root != self._root:
            self._root = surveyed.root
            self._moved.set()

    def _listen(self, bell: type[Doorbell]) -> None:
        if self._claim is None:
            return
        self._bell = bell(self._claim.address, self._on_call)
        if not self._bell.listens:  # nobody could call this window, so another one may open
            self._leave()

    def _leave(self) -> None:
        if self._bell is not None:
            self._bell.close()
            self._bell.deleteLater()
            self._bell = None
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def _on_call(self, call: Call) -> Answer:
        if call.token:  # Qt looks there for the right to take the focus
            os.environ[_TOKEN] = call.token
        self._wizard.come_forward()
        os.environ.pop(_TOKEN, None)
        return Answer(call.bundle is not None and self._wizard.open_bundle(call.bundle))


def _load_bell() -> type[Doorbell] | None:
    """Load what listens; in a thread, as the window must not stand still for it.

    Qt's part for it needs more of a Linux system than the window does; where that is missing, each window is on its own.
    """
    try:
        from amlwizard.ui.doorbell import Doorbell
    except ImportError:
        return None
    return Doorbell


def _claim_if_free(root: Path) -> WindowClaim | None:
    try:
        return claim_window(root)
    except ClaimedError:  # two windows were led to the same folder; the workspace's own lock keeps their runs apart
        return None


if sys.platform == "win32":
    import ctypes

    _ANY_PROCESS = 0xFFFFFFFF

    def _let_others_come_forward() -> None:
        """Pass on the right to come to the front, which only the program has that was started last."""
        ctypes.WinDLL("user32").AllowSetForegroundWindow(_ANY_PROCESS)

else:

    def _let_others_come_forward() -> None:
        """Only Windows asks for it."""
