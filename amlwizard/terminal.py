"""How the text front end speaks: results on standard output, progress and errors on standard error, JSON for programs."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import time
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol, TextIO

from amlwizard.core.catalogue import has_text, text
from amlwizard.core.errors import ExitCode
from amlwizard.core.events import (
    ChangesEvent,
    FinishedEvent,
    LogEvent,
    PlanEvent,
    RunState,
    StepEvent,
    StepState,
    StoreEvent,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType
    from rich.progress import Progress

    from amlwizard.core.events import Event

EXIT_CODES: Final = {
    RunState.READY: ExitCode.DONE,
    RunState.DONE: ExitCode.DONE,
    RunState.FAILED: ExitCode.FAILED,
    RunState.REFUSED: ExitCode.REFUSED,
    RunState.NOT_READY: ExitCode.NOT_READY,
    RunState.BUSY: ExitCode.BUSY,
    RunState.CANCELLED: ExitCode.CANCELLED,
}
_SIGNS: Final = {
    StepState.DONE: ("✓", "+"),
    StepState.SKIPPED: ("–", "-"),
    StepState.FAILED: ("✗", "x"),
    StepState.CANCELLED: ("○", "o"),
}
_REFRESH_SECONDS: Final = 0.1
_ONLY_TASK: Final[Any] = 0
"""The number that rich gives to the first task of a bar."""
_CONTROL_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")


class Output:
    """The two standard streams, made safe: any character can be written, and output that cannot be written is noticed.

    When standard output cannot be written any more ``lost`` holds the reason, ``on_lost`` is called once and everything
    further is dropped. A lost standard error is dropped in silence: it carries no result.
    """

    def __init__(self) -> None:
        self.on_lost: Callable[[], None] = lambda: None
        self.lost: OSError | ValueError | None = None
        self._stdout = _safe_stream(sys.stdout)
        self.stderr = _safe_stream(sys.stderr)

    def json(self, content: dict[str, Any]) -> None:
        """Write one JSON object as one line. It is plain ASCII, so no encoding of a terminal or a pipe can harm it."""
        self._write(json.dumps(content))

    @property
    def has_no_reader(self) -> bool:
        """Tell whether whoever read standard output has gone, as ``head`` does when it has enough."""
        gone = errno.EINVAL if os.name == "nt" else errno.EPIPE
        return isinstance(self.lost, ValueError) or (self.lost is not None and self.lost.errno in {errno.EPIPE, gone})

    def result(self, line: str = "") -> None:
        """Write a line of the result."""
        self._write(printable(line))

    def note(self, line: str = "") -> None:
        """Write a line of progress, or of an error."""
        try:
            self.stderr.write(printable(line) + "\n")
            self.stderr.flush()
        except (OSError, ValueError):
            _silence(self.stderr)

    def _write(self, line: str) -> None:
        if self.lost is not None:
            return
        try:
            self._stdout.write(line + "\n")
            self._stdout.flush()
        except (OSError, ValueError) as error:
            self.lost = error
            _silence(self._stdout)
            self.on_lost()


class Reporter(Protocol):
    """Shows what a run tells."""

    def emit(self, event: Event) -> None:
        """Show one event; never raises for a stream that is gone."""
        ...

    def stopping(self) -> None:
        """Tell that the cancel was heard."""
        ...

    def close(self) -> None:
        """Take away what moves."""
        ...


class JsonReporter:
    """Every event as one JSON object a line; what went wrong also as a sentence on standard error."""

    def __init__(self, output: Output, language: str) -> None:
        self._output = output
        self._language = language
        self._stopping = False

    def emit(self, event: Event) -> None:
        """Write the event."""
        self._output.json(event.to_json())
        if not isinstance(event, FinishedEvent) or EXIT_CODES[event.state] is ExitCode.DONE:
            return
        if self._output.has_no_reader and event.state is RunState.CANCELLED and not self._stopping:
            return  # it ended because its reader has gone
        show_failure(self._output, event)

    def stopping(self) -> None:
        """Tell that the cancel was heard."""
        self._stopping = True
        self._output.note(text("cli.stopping", self._language))

    def close(self) -> None:
        """Nothing moves."""


class PlainReporter:
    """One line for each step that ended, for pipes and log files."""

    def __init__(self, output: Output, language: str) -> None:
        self._output = output
        self._language = language
        self._titles: dict[str, str] = {}

    def emit(self, event: Event) -> None:
        """Show one event."""
        match event:
            case PlanEvent():
                self._plan(event)
            case StepEvent(state=StepState.STARTED | StepState.PROGRESS):
                self._moving(event)
            case StepEvent():
                self.close()
                self._output.note(self._step_line(event))
            case LogEvent(remark=True):
                self.close()
                self._output.note(event.line)
            case StoreEvent():
                from amlwizard.store_text import store_lines

                self.close()
                for line in store_lines(event.content, self._language):
                    self._output.result(line)
            case ChangesEvent():
                self.close()
                self._changes(event)
            case FinishedEvent():
                self.close()
                show_finished(self._output, event, self._language)
            case _:
                pass  # other log lines are for the log file, findings for ``detect``

    def stopping(self) -> None:
        """Tell that the cancel was heard."""
        self.close()
        self._output.note(text("cli.stopping", self._language))

    def close(self) -> None:
        """Take away what moves."""

    def _moving(self, event: StepEvent) -> None:
        """Show that a step goes on."""

    def _plan(self, plan: PlanEvent) -> None:
        self._titles = {step.id: step.title for step in plan.steps}
        if plan.steps:
            self._output.note(" ".join(size_sentences(plan, self._language)))

    def _changes(self, event: ChangesEvent) -> None:
        from amlwizard.core.wording import changes_lines

        for line in changes_lines(event, self._language):
            self._output.note(line)

    def _step_line(self, event: StepEvent) -> str:
        from amlwizard.core.wording import duration_text, step_title

        language = self._language
        title = step_title(event.id, self._titles.get(event.id, ""), language)
        sign = _SIGNS[event.state][0 if _can_encode(self._output.stderr, _SIGNS[event.state][0]) else 1]
        seconds = "" if event.seconds is None else duration_text(event.seconds, language)
        state = text(f"cli.step_state.{event.state.value}", language)
        return f"  {sign} {padded(title, 14)}  {padded(state, 9)}  {seconds}".rstrip()


class TerminalReporter(PlainReporter):
    """The same with a line that moves: what is going on now, a bar, the speed and the time left."""

    def __init__(self, output: Output, language: str) -> None:
        super().__init__(output, language)
        self._bar: Progress | None = None
        self._refreshed = 0.0

    def close(self) -> None:
        """Take the moving line away."""
        bar, self._bar = self._bar, None
        if bar is not None:
            with suppress(OSError, ValueError):
                bar.stop()

    def _moving(self, event: StepEvent) -> None:
        from amlwizard.core.wording import progress_text, rate_text

        now = time.monotonic()
        if self._bar is not None and event.state is StepState.PROGRESS and now - self._refreshed < _REFRESH_SECONDS:
            return
        self._refreshed = now
        with suppress(OSError, ValueError):  # a terminal that is gone takes nothing from the run
            fresh = self._bar is None
            bar = self._bar = self._bar or self._make_bar()
            bar.update(
                _ONLY_TASK,
                description=printable(progress_text(event, self._language)),
                total=event.total,
                completed=event.done or 0,
                rate=rate_text(event.rate, self._language) if event.unit == "bytes" and event.rate else "",
            )
            if fresh:
                bar.start()
            bar.refresh()

    def _make_bar(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, Task, TextColumn

        class TerminalConsole(Console):
            def on_broken_pipe(self) -> None:
                raise BrokenPipeError  # not the end of the process: a run is to be cancelled properly

        class KnownBarColumn(BarColumn):
            def render(self, task: Task) -> RenderableType:  # type: ignore[override]
                return "" if task.total is None else super().render(task)

        bar = Progress(
            TextColumn("  {task.description}", markup=False),
            KnownBarColumn(bar_width=24),
            TextColumn("{task.fields[rate]}", markup=False),
            console=TerminalConsole(file=self._output.stderr, highlight=False),
            auto_refresh=False,  # moves when something happens, without a thread
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        bar.add_task("", total=None, rate="")
        return bar


def make_reporter(output: Output, language: str, *, as_json: bool) -> Reporter:
    """Return the reporter that fits whoever reads."""
    if as_json:
        return JsonReporter(output, language)
    if output.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return TerminalReporter(output, language)
    return PlainReporter(output, language)


def show_finished(output: Output, event: FinishedEvent, language: str) -> None:
    """Show how a run ended: on standard output where it went well."""
    if EXIT_CODES[event.state] is not ExitCode.DONE:
        show_failure(output, event)
        return
    from amlwizard.core.wording import duration_text

    output.result(event.message)
    for line in event.detail.splitlines():
        output.result(f"  | {line}")
    if event.hint:
        output.result(event.hint)
    rows = [
        (text("cli.finished.python", language), event.python or ""),
        (text("cli.finished.packages", language), "" if event.packages is None else str(event.packages)),
        (text("cli.finished.time", language), duration_text(event.seconds, language)),
    ]
    for line in columns([row for row in rows if row[1]]):
        output.result(f"  {line}")


def show_failure(output: Output, event: FinishedEvent) -> None:
    """Show on standard error what went wrong, the tool's last lines, and what to do next."""
    message, *further = event.message.split("\n")
    output.note(message if event.state is RunState.CANCELLED else f"{message} ({event.code})")
    for line in further:
        output.note(line)
    for line in event.detail.splitlines():
        output.note(f"  | {line}")
    if event.hint:
        output.note(event.hint)


def size_sentences(plan: PlanEvent, language: str) -> list[str]:
    """Return what a plan costs, in sentences."""
    from amlwizard.core.wording import size_text

    if plan.download_bytes is None:
        sentences = [text("cli.plan.download_unknown" if plan.chooses else "cli.plan.download_untold", language)]
    elif plan.download_bytes:
        sentences = [text("cli.plan.download", language, size=size_text(plan.download_bytes, language))]
    else:
        sentences = [text("cli.plan.download_none", language)]
    if plan.disk_bytes:
        sentences.append(text("cli.plan.disk", language, size=size_text(plan.disk_bytes, language)))
    return sentences


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines whose cells stand below each other; the last column may be of any length."""
    if not rows:
        return []
    widths = [max(map(display_width, cells)) for cells in zip(*rows, strict=True)][:-1]
    return [
        "  ".join([*(padded(cell, width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]


def padded(cell: str, width: int) -> str:
    """Return a text filled up to a width of terminal cells."""
    return cell + " " * (width - display_width(cell))


def display_width(line: str) -> int:
    """Return how many cells of a terminal a text takes; Chinese characters take two."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "FW" else 1 for sign in line
    )


def printable(line: str) -> str:
    """Return a text without the control sequences, such as a tool's colours, by which it could steer the terminal."""
    line = _CONTROL_SEQUENCE.sub("", line)
    return "".join(sign if sign == "\t" or sign == "\n" or unicodedata.category(sign) != "Cc" else "�" for sign in line)


def catalogued(prefix: str, key: str, language: str) -> str:
    """Return the words for one of a set of names, and the name itself where it has none."""
    return text(f"{prefix}.{key}", language) if has_text(f"{prefix}.{key}") else key


def _safe_stream(stream: TextIO | None) -> TextIO:
    if stream is None:  # started without the stream, as by pythonw or >&-
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - lives as long as the process
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def _silence(stream: TextIO) -> None:
    """Let what is still buffered vanish, or the interpreter would complain about it when it ends."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _can_encode(stream: TextIO, sign: str) -> bool:
    try:
        sign.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
