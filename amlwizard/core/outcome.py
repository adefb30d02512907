"""How a run ended, in words of the user's language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import code_texts, cut_lines, error_texts, refused_lines, text
from amlwizard.core.errors import AmlError, ExitCode
from amlwizard.core.events import FinishedEvent, RunState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amlwizard.core.facts import EnvironmentFacts

_STATES = {
    ExitCode.FAILED: RunState.FAILED,
    ExitCode.REFUSED: RunState.REFUSED,
    ExitCode.NOT_READY: RunState.NOT_READY,
    ExitCode.BUSY: RunState.BUSY,
    ExitCode.CANCELLED: RunState.CANCELLED,
}


_SENTENCE_ENDS: Final = re.compile(r"(?<=[;。；])|(?<=\.)(?=\s)")
_COMMAND: Final = re.compile(r"\bamlwizard [a-z]")
_OPTION: Final = re.compile(
    r"(?<![^\s(（：])--(?!(?:root|offline|json|help|no-binary|only-binary|no-index)\b)[a-z][a-z0-9-]*"
)


def cancelled(stopped: int = 0) -> AmlError:
    """Return what a cancelled run ends with; ``stopped`` is how many of its processes were still alive."""
    error = AmlError("AML_CANCELLED", stopped=stopped)
    error.exit_code = ExitCode.CANCELLED
    return error


def finished_event(
    error: AmlError,
    root: Path | None,
    language: str,
    seconds: float = 0.0,
    *,
    state: RunState | None = None,
    detail: str = "",
) -> FinishedEvent:
    """Return the event of a run that did not come to its aim; its state is the error's own unless another is given."""
    message, hint = error_texts(error, language)
    if error.options_of:
        hint = with_command(hint, error.options_of)
    if error.code == "AML_CANCELLED" and error.arguments.get("stopped"):
        message += text("run.stopped", language, number=error.arguments["stopped"])
    return FinishedEvent(
        state=state or _STATES[ExitCode(error.exit_code)],
        code=error.code,
        message=message,
        hint=hint,
        root=str(root or ""),
        seconds=seconds,
        arguments=error.arguments,
        detail=cut_lines(detail or error.detail),
        lines=tuple(
            {
                "file": line.get("file", line.get("second_file")),
                "line": line.get("line", line.get("second_line")),
                "code": line["code"],
                "message": sentence,
            }
            for sentence, line in refused_lines(error.arguments, language)
        ),
    )


def with_command(hint: str, command: str) -> str:
    """Return a hint in which each sentence names a command before the options that it speaks of.

    What every command has, and what stands in a requirements file, is left alone.
    """
    return "".join(
        sentence if _COMMAND.search(sentence) else _OPTION.sub(rf"amlwizard {command} \g<0>", sentence, count=1)
        for sentence in _SENTENCE_ENDS.split(hint)
    )


def done_event(
    code: str,
    arguments: dict[str, object],
    language: str,
    seconds: float,
    *,
    root: Path | None = None,
    packages: int | None = None,
    detail: str = "",
    path: Path | None = None,
) -> FinishedEvent:
    """Return the event of a run that did what it was for, and left the environment as it was."""
    message, hint = code_texts(code, arguments, language)
    return FinishedEvent(
        state=RunState.DONE,
        code=code,
        message=message,
        hint=hint,
        root=str(root or ""),
        packages=packages,
        seconds=seconds,
        arguments=arguments,
        detail=detail,
        path=str(path or ""),
    )


def environment_content(environment: EnvironmentFacts, language: str) -> dict[str, str]:
    """Return the environment's state, why it is that, and the one action that mends it."""
    reason = text(environment.reason, language, **environment.arguments) if environment.reason else ""
    return {"state": environment.state, "reason": reason, "action": environment.action}


def success_event(
    code: str,
    state: RunState,
    root: Path,
    python: Path,
    environment: EnvironmentFacts,
    language: str,
    seconds: float,
    *,
    detail: str = "",
    more: Mapping[str, object] | None = None,
) -> FinishedEvent:
    """Return the event of a run that came to its aim; ``more`` are arguments of the code besides the usual ones."""
    arguments: dict[str, object] = {
        "root": str(root),
        "version": environment.python or "",
        "packages": environment.packages if environment.packages is not None else 0,
        **(more or {}),
    }
    message, hint = code_texts(code, arguments, language)
    return FinishedEvent(
        state=state,
        code=code,
        message=message,
        hint=hint,
        root=str(root),
        python=str(python),
        packages=environment.packages,
        lock=environment.lock,
        seconds=seconds,
        arguments=arguments,
        detail=detail,
        environment=environment_content(environment, language),
    )
