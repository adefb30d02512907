"""Garbage that holds Qt objects is collected in the window's thread and in no other."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

from PySide6.QtCore import QEvent, QObject

from amlwizard.ui.garbage import GarbageCollector
from tests.support.waiting import until


def test_it_is_collected_by_the_event_loop_and_not_by_a_thread_that_allocates(qapp: Any) -> None:
    import qasync

    freed: list[int] = []
    parent = QObject()
    gc.enable()
    GarbageCollector(parent)
    assert not gc.isenabled()

    kept: list[list[int]] = []

    def allocate() -> None:
        kept.extend([index] for index in range(100_000))  # far more than any threshold

    async def main() -> None:
        class Cycle:
            def __init__(self) -> None:
                self.self = self

            def __del__(self) -> None:
                freed.append(threading.get_ident())

        Cycle()
        await asyncio.to_thread(allocate)
        assert freed == []
        await until(lambda: bool(freed))

    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qapp)) as runner:
        runner.run(main())
    assert freed == [threading.get_ident()]
    parent.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
