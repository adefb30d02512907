"""Both runners, each on its own event loop."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from amlwizard.core.running import Runner

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")


class Harness:
    """Makes runners of one kind and runs coroutines on the event loop that they need."""

    def __init__(self, kind: str, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self.kind = kind
        self._run = run
        self._count = 0

    def runner(self) -> Runner:
        """Return a new runner with a tag of its own."""
        self._count += 1
        tag = f"test-{os.getpid()}-{id(self)}-{self._count}"
        if self.kind == "qprocess":
            from amlwizard.process.qprocess_runner import QProcessRunner

            return QProcessRunner(tag)
        from amlwizard.process.asyncio_runner import AsyncioRunner

        return AsyncioRunner(tag)

    def run(self, coroutine: Coroutine[Any, Any, Any], seconds: float = 240) -> Any:
        """Run a coroutine to its end on a new event loop."""
        return self._run(asyncio.wait_for(coroutine, seconds))


@pytest.fixture(params=["asyncio", "qprocess"])
def harness(request: pytest.FixtureRequest) -> Harness:
    if request.param == "asyncio":
        return Harness("asyncio", asyncio.run)
    return qt_harness(request)


def qt_harness(request: pytest.FixtureRequest) -> Harness:
    """Return the harness of the Qt runner."""
    from PySide6.QtCore import QCoreApplication  # before qasync, which takes the binding that is there

    assert "PySide6" in sys.modules
    application = request.getfixturevalue("qapp")
    assert isinstance(application, QCoreApplication)

    def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
        import qasync

        try:
            with qasync.QEventLoop(application) as loop:
                return loop.run_until_complete(coroutine)
        finally:
            # A dead loop is a cycle that owns Qt timers. They must not be left to a collection in some other thread.
            del loop
            gc.collect()

    return Harness("qprocess", run)
