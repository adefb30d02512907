"""How a run ended, in sentences for its page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.catalogue import WINDOW, code_texts, has_text
from amlwizard.core.events import RunState
from amlwizard.ui.findings import holder_sentence
from amlwizard.ui.wishes import Job

if TYPE_CHECKING:
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.facts import Holder
    from amlwizard.ui.words import Words

HELD: Final = "AML_WORKSPACE_BUSY"
"""How a wish ends that meets another run in its folder."""
_NETWORK: Final = ("AML_NET_", "AML_INDEX_", "AML_CA_FILE_")
_NETWORK_CODES: Final = frozenset({"AML_UV_INSTALL_FAILED", "AML_PYTHON_UNREACHABLE"})
_NOT_NETWORK: Final = frozenset({"AML_NET_LOCAL", "AML_NET_WRITE", "AML_INDEX_SHADOWS", "AML_INDEX_STRATEGY_INVALID"})
_LEFT_BY_CANCEL: Final = {Job.UNINSTALL: "run.uninstall.partly", Job.STORE: "run.store.partly"}
"""What is said of a cancelled job that leaves not everything as it was."""
_SHOWN: Final = 8
"""How many programs are listed on the page."""


def is_good(event: FinishedEvent) -> bool:
    """Tell whether a run came to its aim."""
    return event.state in {RunState.READY, RunState.DONE}


def is_about_network(event: FinishedEvent) -> bool:
    """Tell whether other settings of the network, or a word with IT, may help."""
    return event.code in _NETWORK_CODES or (event.code.startswith(_NETWORK) and event.code not in _NOT_NETWORK)


def is_in_the_way(event: FinishedEvent) -> bool:
    """Tell whether nothing is wrong but that others use the folder or the environment."""
    return event.code == HELD or bool(_programs(event))


def end_text(words: Words, event: FinishedEvent, job: Job, holder: Holder | None) -> str:
    """Return what happened and what to do next.

    Args:
        words: the language.
        event: the end.
        job: what was asked for.
        holder: who holds the folder at this moment.
    """
    if event.code == HELD:
        return holder_sentence(words, holder) if holder is not None else words(_over(job))
    if has_text(f"{event.code}.message"):
        message, hint = code_texts(event.code, event.arguments, words.language, WINDOW)
    else:
        message, hint = event.message or words(f"run.ended.{event.state.value}"), event.hint
    if programs := _programs(event):
        lead = words.known(f"run.programs.{event.code}", {}, message)
        message = "\n".join([lead, *_program_lines(words, programs)])
    if event.state is RunState.CANCELLED and event.code != "AML_WINDOW_CANCELLED":
        stopped = event.arguments.get("stopped")
        if stopped:
            message += words("run.stopped", number=stopped)
        hint = hint or words(_LEFT_BY_CANCEL.get(job, "run.untouched"))
    if job is Job.UNINSTALL and is_good(event):
        hint = event.detail
    return f"{message}\n{hint}".strip()


def _over(job: Job) -> str:
    return "busy.over.uninstall" if job is Job.UNINSTALL else "busy.over"


def report_lines(words: Words, event: FinishedEvent) -> list[str]:
    """Return what a report has to say besides that: every program, and a tool's last lines."""
    return [*(_line(words, *program) for program in _programs(event)), *event.detail.splitlines()]


def _programs(event: FinishedEvent) -> tuple[tuple[str, Any], ...]:
    programs = event.arguments.get("programs")
    return programs if isinstance(programs, tuple) else ()


def _program_lines(words: Words, programs: tuple[tuple[str, Any], ...]) -> list[str]:
    shown = programs if len(programs) <= _SHOWN else programs[: _SHOWN - 1]
    lines = [f"    {_line(words, *program)}" for program in shown]
    if len(shown) < len(programs):
        lines.append(f"    {words('run.programs.more', number=len(programs) - len(shown))}")
    return lines


def _line(words: Words, name: str, pid: Any) -> str:
    return words("run.program", name=name, pid=pid)
