"""How a tool ended: its exit code, or the error for a tool that came to no end of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.errors import AmlError
from amlwizard.core.refused_start import not_started
from amlwizard.core.running import Exited, NotStarted, Signalled, TimedOut

if TYPE_CHECKING:
    from amlwizard.core.running import Outcome


def exit_code(outcome: Outcome, program: str, detail: str) -> int:
    """Return the code that a tool ended with.

    Args:
        outcome: what the runner says.
        program: the tool, as it is named to the user.
        detail: its last lines.

    Raises:
        AmlError: it was not started, was killed, or reached a limit.
    """
    match outcome:
        case Exited(code):
            return code
        case NotStarted():
            raise not_started(program, outcome)
        case Signalled(number):
            raise AmlError("AML_TOOL_KILLED", detail=detail, program=program, signal=number)
        case TimedOut(seconds, idle):
            code_name = "AML_TOOL_SILENT" if idle else "AML_TOOL_TIMEOUT"
            raise AmlError(code_name, detail=detail, program=program, seconds=round(seconds))
