"""Starting a candidate once, with a limit, and saying why it did not answer."""

from __future__ import annotations

import errno
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import Phrase
from amlwizard.core.host import system_name
from amlwizard.core.refused_start import BINARY, POLICY, VIRUS, refused_start
from amlwizard.core.running import Command, Exited, NotStarted, Outcome, OutputLine, Runner, Signalled, TimedOut

if TYPE_CHECKING:
    from collections.abc import Mapping

PROBE_SECONDS: Final = 15.0
_STORE_CODES: Final = (9009, 49)
_NOT_EXECUTABLE: Final = 126
_DENIED: Final = {"windows": (errno.EACCES, 5)}
"""The numbers by which a start is denied; Windows has one of its own beside everybody's."""
_REFUSED: Final = {
    POLICY: "candidate.blocked_by_policy",
    VIRUS: "candidate.taken_for_virus",
    BINARY: "candidate.wrong_binary",
}
_LINES_KEPT: Final = 200
_LINE_WIDTH: Final = 200
_CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Answer:
    """How a probe ended and the last lines that it printed."""

    outcome: Outcome
    stdout: tuple[str, ...]
    stderr: tuple[str, ...]

    @property
    def last_line(self) -> str:
        """Return the last line that says something, fit for one row."""
        for line in reversed(self.stdout + self.stderr):
            clean = _CONTROL.sub("", line).strip()
            if clean:
                return clean[:_LINE_WIDTH]
        return ""


async def ask(runner: Runner, argv: tuple[str, ...], env: Mapping[str, str], seconds: float = PROBE_SECONDS) -> Answer:
    """Run a candidate with these arguments, in the root folder so that no project's settings are met."""
    lines: dict[str, list[str]] = {"stdout": [], "stderr": []}

    def keep(line: OutputLine) -> None:
        kept = lines[line.stream]
        kept.append(line.text)
        if len(kept) > _LINES_KEPT:
            del kept[0]

    command = Command(argv, env, Path(os.path.abspath(os.sep)), total_seconds=seconds)  # noqa: PTH100
    outcome = await runner.run(command, keep)
    return Answer(outcome, tuple(lines["stdout"]), tuple(lines["stderr"]))


def no_answer(answer: Answer) -> Phrase:
    """Return the reason for a candidate that ran to a good end without telling what it is."""
    if answer.last_line:
        return Phrase("candidate.no_answer", {"line": answer.last_line})
    return Phrase("candidate.no_answer_silently")


def failure(answer: Answer) -> Phrase | None:
    """Return why the candidate did not run to a good end, or None where it did."""
    match answer.outcome:
        case Exited(code=0):
            return None
        case Exited(code=code) if code in _STORE_CODES:
            return Phrase("candidate.store_placeholder")
        case Exited(code=code) if code == _NOT_EXECUTABLE and not answer.last_line:
            return Phrase("candidate.not_executable")
        case Exited(code=code) if answer.last_line:
            return Phrase("candidate.does_not_run", {"code": code, "line": answer.last_line})
        case Exited(code=code):
            return Phrase("candidate.does_not_run_silently", {"code": code})
        case Signalled(signal=signal):
            return Phrase("candidate.signalled", {"signal": signal})
        case TimedOut(seconds=seconds):
            return Phrase("candidate.no_answer_in_time", {"seconds": f"{seconds:g}"})
        case NotStarted(reason=reason, error=error) as refused:
            system = system_name(sys.platform)
            because = refused_start(refused, system)
            if because is not None:
                return Phrase(_REFUSED[because], {"reason": reason})
            if error in _DENIED.get(system, (errno.EACCES,)):
                return Phrase("candidate.not_executable")
            return Phrase("candidate.cannot_start", {"reason": reason})
