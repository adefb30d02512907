"""A timer in the window's thread, whose beats tell how long that thread was held up."""

from __future__ import annotations

import time
from typing import Final

from PySide6.QtCore import Qt, QTimer

BEAT_SECONDS: Final = 0.01


class Heart:
    """Beats from now on, and notes how late the latest beat was.

    Attributes:
        late: seconds by which a beat came too late, at worst. Other programs that keep the processor from this one count
            too, and so does what waits without work: for a disk, a lock, a sleep.
        work: seconds that the thread itself worked between two beats, at worst. Nothing else counts.
    """

    def __init__(self) -> None:
        self.late = self.work = 0.0
        self._beaten = time.perf_counter()
        self._worked = time.thread_time()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(round(BEAT_SECONDS * 1000))

    def _beat(self) -> None:
        now, worked = time.perf_counter(), time.thread_time()
        self.late = max(self.late, now - self._beaten - BEAT_SECONDS)
        self.work = max(self.work, worked - self._worked)
        self._beaten, self._worked = now, worked

    def stop(self) -> None:
        """Beat no more."""
        self._timer.stop()
