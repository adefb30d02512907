"""Collects cyclic garbage in the window's own thread.

Python collects in whichever thread happens to allocate. A Qt object in a cycle is then destroyed there, its timers and
events are not, and the window crashes some time later. So while there is a window, the automatic collection is off.
"""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer

_INTERVAL_MS: Final = 500


class GarbageCollector(QObject):
    """Looks now and then whether a generation is due by Python's own thresholds; it lives as long as its parent."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        timer = QTimer(self)
        timer.timeout.connect(self._collect)
        timer.start(_INTERVAL_MS)

    def _collect(self) -> None:
        due = [count > limit > 0 for count, limit in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        if due[0]:
            gc.collect(2 if all(due) else 1 if due[1] else 0)
