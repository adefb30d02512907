"""The text front end: one command line in, an exit code out. It works where no Qt library can be loaded.

Imports are made where they are needed: ``install`` on a ready workspace has to be over before anyone notices.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amlwizard import __version__
from amlwizard.cli_options import Invocation, parse, wants_json
from amlwizard.core.catalogue import error_texts, text
from amlwizard.core.errors import AmlError, ExitCode, RefusedError
from amlwizard.core.events import ChangesEvent, FinishedEvent, LogEvent
from amlwizard.core.outcome import cancelled, finished_event
from amlwizard.core.settings_files import chosen_language
from amlwizard.interrupts import Cancel, run_cancellable
from amlwizard.terminal import EXIT_CODES, Output, make_reporter
from amlwizard.text_mode import build_choices, build_engine, make_runner

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from amlwizard.core.choices import Choices
    from amlwizard.core.events import Event
    from amlwizard.terminal import Reporter

JOB_NOT_STARTED: Final = 125
"""The exit code of ``run`` where no script was started, so that it is not taken for the script's own."""
NO_READER: Final = 141
"""The exit code where the reader of the result has gone: a shell's for a program that SIGPIPE ended."""
_CHOICE_OF_OPTION: Final = {"extra_index_url": "extra_index_urls"}
_NOT_MERGED: Final = frozenset({"json", "deep", "expect", "prune", "drop_added", "check"})
"""Options that no setting knows."""
_CHANGES: Final = frozenset(
    {"install", "rebuild", "add", "remove", "undo", "update python", "update uv", "repair", "uninstall"}
)
"""What sets up a workspace, changes it or removes it."""


def main(arguments: Sequence[str]) -> int:
    """Run one command line; return its exit code. Nothing is raised, whatever happens."""
    language = chosen_language(os.environ)
    front = _Front(Output(), language, as_json=wants_json(arguments))
    try:
        return front.run(parse(arguments))
    except AmlError as error:
        return front.finish(error)
    except (asyncio.CancelledError, KeyboardInterrupt):
        return front.finish(cancelled())
    except Exception as error:  # noqa: BLE001 - the last resort: a sentence and a log file instead of a traceback
        from amlwizard.core.crash import crash_error

        return front.finish(crash_error(error, front.root))


def load_window() -> Callable[[str, Callable[[RefusedError], None], Callable[[str], None], str | None, str | None], int]:
    """Load the window's libraries; return ``app.run_window``.

    Raises:
        ImportError: a library of the window cannot be loaded.
    """
    import PySide6.QtWidgets  # noqa: F401 - the first that fails where something is missing

    from amlwizard.app import run_window

    return run_window


def has_screen(platform: str, environ: Mapping[str, str]) -> bool:
    """Tell whether a window can be shown; only on Linux and the like there may be no screen."""
    if platform in {"win32", "darwin"}:
        return True
    return any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


class _Front:
    """One command line on its way."""

    def __init__(self, output: Output, language: str, *, as_json: bool) -> None:
        self.root: Path | None = None
        self._output = output
        self._language = language
        self._as_json = as_json
        self._cancelled_by_user = True
        self._for_window = False

    def run(self, invocation: Invocation) -> int:
        """Do what was asked for; return the exit code.

        Raises:
            AmlError: it was refused, or failed outside the engine.
        """
        if invocation.version:
            self._show([f"amlwizard {__version__}"])
        elif invocation.help:
            from amlwizard.cli_help import help_lines

            self._show(help_lines(invocation.command, self._language))
        elif invocation.command == "gui":
            return self._open_window(invocation)
        elif invocation.command == "run":
            return self._job_command(invocation)
        elif invocation.command == "bundle inspect":
            return self._inspect_bundle(invocation)
        elif invocation.command == "diagnose":
            return self._diagnose(invocation)
        else:
            return self._engine_command(invocation)
        return self._code(ExitCode.DONE)

    def finish(self, error: AmlError) -> int:
        """Show a failure that no engine has shown; return the exit code."""
        if self._output.lost is not None:  # what was asked for ended because nobody could be told
            return self._code(ExitCode.FAILED)
        event = finished_event(error, self.root, self._language)
        make_reporter(self._output, self._language, as_json=self._as_json).emit(event)
        if self._for_window:
            from amlwizard.start_failure import show_unseen

            show_unseen("\n".join(filter(None, (event.message, event.hint))))
        return self._code(error.exit_code)

    def _show(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._output.result(line)

    def _code(self, code: int) -> int:
        """Return the exit code, and say so where the result could not be written; a reader that has gone needs no word."""
        lost = self._output.lost
        if lost is None:
            return code
        if self._output.has_no_reader:
            return code if code == ExitCode.CANCELLED and self._cancelled_by_user else NO_READER
        error = AmlError("AML_OUTPUT", reason=getattr(lost, "strerror", None) or str(lost))
        message, hint = error_texts(error, self._language)
        self._output.note(f"{message} ({error.code})")
        self._output.note(hint)
        return ExitCode.FAILED

    def _open_window(self, invocation: Invocation) -> int:
        self._for_window = True
        if invocation.no_gui:
            raise RefusedError("AML_NO_GUI")
        if not has_screen(sys.platform, os.environ):
            raise RefusedError("AML_NO_SCREEN")
        try:
            open_window = load_window()
        except ImportError as error:
            if (error.name or "").startswith("amlwizard"):
                raise
            from amlwizard.qt_start import not_imported

            raise not_imported(error) from error
        bundle, root = (invocation.values.get(key) for key in ("bundle", "root"))
        return self._code(open_window(self._language, self._leave, self._output.result, bundle, root))

    def _leave(self, error: RefusedError) -> None:
        """Show why the window cannot be opened and end the program before Qt ends it by a signal."""
        code: int = ExitCode.FAILED
        try:
            code = self.finish(error)
        except Exception as failure:  # noqa: BLE001 - the words may be lost as well
            from amlwizard.start_failure import tell_start_failure

            tell_start_failure(failure)
        finally:
            os._exit(code)

    def _engine_command(self, invocation: Invocation) -> int:
        given = invocation.values
        values = {_CHOICE_OF_OPTION.get(key, key): value for key, value in given.items() if key not in _NOT_MERGED}
        expect = given["expect"].lower() if "expect" in given else None
        if invocation.command == "bundle create":
            from amlwizard.core.choices import BundleOrder

            order = BundleOrder(Path(values.pop("place")), values.pop("platform", None), values.pop("python_version", None))
            values["order"] = order
        named = {name: tuple(values.pop("place")) for name in ("add", "remove") if name == invocation.command}
        if given.get("drop_added"):
            values["keep_added"] = False
        deep, prune = bool(given.get("deep")), bool(given.get("prune"))
        add, remove = named.get("add", ()), named.get("remove", ())
        update = None
        if invocation.command.startswith("update "):
            from amlwizard.core.choices import Part

            update = Part(invocation.command.removeprefix("update "))
        choices = replace(
            build_choices(changes=prune or invocation.command in _CHANGES, **values),
            deep=deep,
            prune=prune,
            expect=expect,
            add=add,
            remove=remove,
            update=update,
        )
        if invocation.command in {"install", "plan"}:
            from amlwizard.core.bundle.carried import with_carried_bundle

            choices = with_carried_bundle(choices)
        self.root = choices.root
        reporter = make_reporter(self._output, self._language, as_json=self._as_json)
        looks = invocation.command in {"detect", "plan"} or bool(given.get("check"))
        ask = self._ask_engine if looks else self._run_engine

        try:
            return self._code(
                self._cancellable(
                    lambda: ask(invocation.command, choices, reporter), lambda: self._tell_stopping(reporter, looks=looks)
                )
            )
        finally:
            reporter.close()

    async def _ask_engine(self, command: str, choices: Choices, reporter: Reporter) -> int:
        """Let the engine look; what it found is the result."""
        engine = build_engine(self._language)
        emit = reporter.emit if self._as_json else self._show_remark
        if command == "detect":
            facts = await engine.detect(choices, emit)
            if not self._as_json:
                from amlwizard.core.remarks import settings_lines
                from amlwizard.findings_text import facts_lines

                for line in settings_lines(choices, self._language):
                    self._output.note(line)
                self._show(facts_lines(facts, choices.root, self._language))
        else:
            plan = await engine.plan(choices, emit)
            if not self._as_json:
                from amlwizard.findings_text import plan_lines

                self._show(plan_lines(plan, choices.root, self._language))
        return ExitCode.DONE

    def _show_remark(self, event: Event) -> None:
        """Show what the result, of which the text is made, does not hold."""
        if isinstance(event, LogEvent) and event.remark:
            self._output.note(event.line)
        elif isinstance(event, ChangesEvent):
            from amlwizard.core.wording import changes_lines

            self._show(changes_lines(event, self._language))

    async def _run_engine(self, command: str, choices: Choices, reporter: Reporter) -> int:
        """Let the engine work; its events tell everything, the end included."""
        engine = build_engine(self._language)
        run = {
            "install": engine.install,
            "rebuild": engine.rebuild,
            "verify": engine.verify,
            "repair": engine.repair,
            "add": engine.change,
            "remove": engine.change,
            "undo": engine.undo,
            "update python": engine.update,
            "update uv": engine.update,
            "uninstall": engine.uninstall,
            "store": engine.store,
            "bundle create": engine.make_bundle,
        }[command]
        return EXIT_CODES[(await run(choices, reporter.emit)).state]

    def _inspect_bundle(self, invocation: Invocation) -> int:
        """Look at a bundle as a whole; it is the reader's own file, so no workspace is needed."""
        from amlwizard.bundle_text import bundle_lines
        from amlwizard.core.bundle.inspecting import inspect

        reporter = make_reporter(self._output, self._language, as_json=self._as_json)
        path = Path.cwd() / invocation.values["place"]
        sbom = Path.cwd() / invocation.values["sbom"] if "sbom" in invocation.values else None
        results: list[FinishedEvent] = []

        async def work() -> int:
            report, finished = await inspect(path, sbom, reporter.emit, self._language)
            if not self._as_json:
                self._show(bundle_lines(report, self._language))
            results.append(finished)
            return ExitCode.DONE

        try:
            code = self._cancellable(work, lambda: self._tell_stopping(reporter, looks=True))
            for event in results:
                reporter.emit(event)
            return self._code(code)
        finally:
            reporter.close()

    def _diagnose(self, invocation: Invocation) -> int:
        """Write a report; settings that are wrong go into it, and refuse nothing."""
        from amlwizard.core.diagnose.limits import use_loose_threads
        from amlwizard.core.diagnose.request import make_request

        out = Path(os.path.abspath(invocation.values["out"]))  # noqa: PTH100 - resolves "..", but no links
        request = make_request(invocation.values.get("root"), os.environ, Path.cwd())
        self.root = request.choices.root
        reporter = make_reporter(self._output, self._language, as_json=self._as_json)

        async def work() -> int:
            use_loose_threads()
            return EXIT_CODES[(await build_engine(self._language).diagnose(request, out, reporter.emit)).state]

        try:
            return self._code(self._cancellable(work, reporter.stopping))
        finally:
            reporter.close()

    def _job_command(self, invocation: Invocation) -> int:
        try:
            return self._run_job(invocation)
        except AmlError as error:
            code = self.finish(error)
            return code if code == ExitCode.CANCELLED else JOB_NOT_STARTED

    def _run_job(self, invocation: Invocation) -> int:
        from amlwizard.core import jobs
        from amlwizard.core.paths import Workspace

        values = invocation.values
        choices = build_choices(root=values.get("root"))
        self.root = choices.root
        workspace = Workspace(choices.root)
        let_through = values.get("env", ())
        for name in let_through:
            if name not in os.environ:
                self._output.note(text("cli.env_not_set", self._language, name=name))
        if values.get("print_env"):
            jobs.ready_python(workspace)
            folder = Path.cwd() / values["job_dir"] if "job_dir" in values else None
            folder = folder or jobs.new_job_folder(jobs.jobs_folder(workspace))
            variables = jobs.job_variables(workspace, folder, os.environ, let_through=let_through)
            if self._as_json:
                self._output.json(variables)
            else:
                self._show([f"{name}={value}" for name, value in sorted(variables.items())])
            return self._code(ExitCode.DONE)

        async def work() -> int:
            await build_engine(self._language).clear_up(choices, self._show_remark)
            job = jobs.make_job(
                workspace, invocation.script, cwd=Path.cwd(), job_dir=values.get("job_dir"), let_through=let_through
            )
            folder = jobs.jobs_folder(workspace)
            if job.job_dir is None and folder != workspace.jobs:
                self._output.note(text("cli.job_elsewhere", self._language, root=workspace.root, folder=folder))
            return await jobs.run_job(job, make_runner(), os.environ)

        return self._cancellable(work, lambda: self._output.note(text("cli.stopping", self._language)))

    def _cancellable(self, work: Callable[[], Coroutine[Any, Any, int]], on_cancel: Callable[[], None]) -> int:
        async def run(cancel: Cancel) -> int:
            cancel.on_request = on_cancel
            if self._as_json:  # otherwise the result alone is written there, when all is done
                self._output.on_lost = lambda: self._reader_lost(cancel)
            return await work()

        return run_cancellable(run)

    def _reader_lost(self, cancel: Cancel) -> None:
        """Cancel, and remember that it was not the user who did."""
        self._cancelled_by_user = cancel.requested
        cancel.request()

    def _tell_stopping(self, reporter: Reporter, *, looks: bool) -> None:
        """Tell that the cancel was heard, but for a look, which has nothing to undo, and a reader that has gone."""
        if self._cancelled_by_user or not (looks or self._output.has_no_reader):
            reporter.stopping()
