"""The log file of one run: what the front ends are told, with times."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import code_texts
from amlwizard.core.events import ChangesEvent, Event, FinishedEvent, LogEvent, StepEvent, StepState
from amlwizard.core.records import copy_atomically, utc_now, write_text_atomically
from amlwizard.core.system_errors import not_written
from amlwizard.core.wording import changes_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amlwizard.core.paths import Workspace

KEPT: Final = 20
"""How many log files stay."""


class RunLog:
    """A log file in ``runtime/logs``; where it cannot be written the run goes on without it."""

    def __init__(self, workspace: Workspace, kind: str, language: str) -> None:
        stamp = utc_now().replace(":", "").replace("-", "")
        self.path = workspace.logs / f"{stamp}-{kind}-{os.getpid()}.log"
        self._language = language
        self._stream = None
        with suppress(OSError):
            workspace.logs.mkdir(parents=True, exist_ok=True)
            for old in sorted(workspace.logs.glob("*.log"))[: -(KEPT - 1)]:
                with suppress(OSError):  # open in an editor, on Windows
                    old.unlink()
            self._stream = self.path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")

    @property
    def is_open(self) -> bool:
        """Tell whether there is a file."""
        return self._stream is not None

    def write(self, event: Event) -> None:
        """Write what an event says, if it belongs into a log."""
        if isinstance(event, LogEvent):
            self._write_line(f"{event.step or '-'}: {event.line}")
        elif isinstance(event, StepEvent) and event.state is not StepState.PROGRESS:
            seconds = "" if event.seconds is None else f" {event.seconds:.2f} s"
            self._write_line(f"{event.id}: {event.state.value}{seconds}")
        elif isinstance(event, ChangesEvent):
            for line in changes_lines(event, self._language):
                self._write_line(f"changes: {line}")
        elif isinstance(event, FinishedEvent):
            self._write_line(f"{event.state.value} {event.code} {event.message} {event.detail}".rstrip())
            if self._language != "en":  # for whoever helps and does not read the user's language
                self._write_line(f"english: {code_texts(event.code, event.arguments)[0]}")

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            with suppress(OSError):
                self._stream.close()

    def _write_line(self, line: str) -> None:
        if self._stream is not None:
            with suppress(OSError):
                self._stream.write(f"{utc_now()} {line}\n")
                self._stream.flush()


def save_log(workspace: Workspace, log: str | None, lines: Sequence[str], target: Path) -> None:
    """Save the whole log of a run somewhere else.

    Args:
        workspace: where the run is, or was.
        log: its file, empty where it has none; None while the run of this process goes on, and its file is looked for.
        lines: saved where there is no file.
        target: a file that is there is replaced.

    Raises:
        AmlError: it cannot be written.
    """
    try:
        if log is None:
            own = sorted(workspace.logs.glob(f"*-{os.getpid()}.log"))
            source = own[-1] if own else None
        else:
            source = Path(log) if log and Path(log).exists() else None
        if source is not None:
            copy_atomically(source, target)
        else:
            write_text_atomically(target, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise not_written(error, target) from error
