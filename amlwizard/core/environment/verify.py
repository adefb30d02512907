"""Proves that an environment works: its files, its interpreter, its modules (DESIGN 3.8)."""

from __future__ import annotations

import asyncio
import errno
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.data_text import parse_json
from amlwizard.core.detection.probing import PROBE_SECONDS
from amlwizard.core.environment.findings import Finding, VerifyReport
from amlwizard.core.environment.modules import modules_to_import
from amlwizard.core.environment.record_check import LINKED, check_records
from amlwizard.core.environment.required import required_names
from amlwizard.core.environment.start_check import TRACE_SECONDS, find_start_files, start_reason
from amlwizard.core.environment.threads import run_stoppable, run_whole
from amlwizard.core.paths import venv_python
from amlwizard.core.running import IDLE_SECONDS, Command, Outcome, OutputLine, TimedOut, describe_outcome
from amlwizard.core.system_errors import is_full
from amlwizard.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amlwizard.core.environment.record_check import Distribution, RecordReport
    from amlwizard.core.running import Runner

OnProgress = Callable[[int, int, str], None]
"""Done, total, and the unit: ``files``, or the ``modules`` that are imported."""

_LONGEST_ARGUMENT: Final = 16_000
"""Characters of module names for one child; Windows allows 32,767 for a whole command line."""
_PREFIX: Final = "aml-import "
_FIELDS: Final = {
    "start": ("version", "prefix"),
    "begin": ("module",),
    "end": ("module", "kind"),
    "finished": (),
}
"""The texts that each of the probe's reports holds."""
_OF_FAILURE: Final = ("error", "text", "absent")


@dataclass
class _Imports:
    """What the importing children found."""

    problems: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    version: str = ""
    done: int = 0


async def verify_environment(
    environment: Path,
    runner: Runner,
    job_environment: Mapping[str, str],
    *,
    main_imports: Sequence[str] = (),
    expected: Mapping[str, str] | None = None,
    write_bytecode: bool = True,
    on_progress: OnProgress = lambda _done, _total, _unit: None,
    start_seconds: float = PROBE_SECONDS,
    trace_seconds: float = TRACE_SECONDS,
) -> VerifyReport:
    """Check the files against their records, then start the interpreter and import what is installed.

    Args:
        environment: the environment's folder.
        runner: runs the importing children.
        job_environment: the variables of a job.
        main_imports: modules that jobs will import first, such as ``scipy.stats``; with ``write_bytecode`` the bytecode of
            all that they load is written, so that jobs, which write none, start quickly.
        expected: normalised names and versions that the lock wants; None where any will do.
        write_bytecode: let the children write bytecode into the environment.
        on_progress: told from other threads as well how far it is.
        start_seconds: how long a start takes at most before each file that takes part in it is looked at.
        trace_seconds: the longest time that one of those may take.
    """
    report = await _check_files(environment, expected, on_progress)
    problems = list(report.problems)
    if not report.distributions:
        problems.append(Finding("verify.no_packages", {"path": str(environment)}))
    inside = all(problem.key != LINKED for problem in problems)  # otherwise bytecode would be written somewhere else
    variables = _child_variables(job_environment, write_bytecode=write_bytecode and inside)
    distributions = {item.name: item for item in report.distributions}
    child = _Child(environment, runner, variables, start_seconds, trace_seconds, distributions)
    owners = await asyncio.to_thread(modules_to_import, report.distributions)
    imports = await _import_all(child, owners, main_imports, on_progress)
    broken = {finding.package for finding in problems}
    return VerifyReport(
        problems=(*problems, *imports.problems),
        warnings=tuple(finding for finding in imports.warnings if finding.package not in broken),
        remarks=report.remarks,
        packages=len({distribution.name for distribution in report.distributions}),
        python_version=imports.version,
        notes=tuple(imports.notes),
    )


async def _check_files(environment: Path, expected: Mapping[str, str] | None, on_progress: OnProgress) -> RecordReport:
    def on_files(done: int, total: int) -> None:
        on_progress(done, total, "files")

    return await run_stoppable(lambda stopped: check_records(environment, expected, on_files, stopped))


def _child_variables(job_environment: Mapping[str, str], *, write_bytecode: bool) -> dict[str, str]:
    variables = {name: value for name, value in job_environment.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if not write_bytecode:
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
    return variables


async def _import_all(
    child: _Child, owners: Mapping[str, str], main_imports: Sequence[str], on_progress: OnProgress
) -> _Imports:
    """Import the main modules in one child and the rest in another at the same time, so that two cores are used."""
    mains = [name for name in main_imports if name.partition(".")[0] in owners]
    rest = [name for name in owners if name not in mains]
    total = len(mains) + len(rest)
    found = _Imports()

    def advance() -> None:
        found.done += 1
        on_progress(found.done, total, "modules")

    on_progress(0, total, "modules")
    await child.start(found)
    if found.problems:
        return found
    async with asyncio.TaskGroup() as group:
        group.create_task(child.import_modules(mains, owners, found, advance, main=True))
        group.create_task(child.import_modules(rest, owners, found, advance, main=False))
    return found


@dataclass(frozen=True)
class _Child:
    """Starts the environment's interpreter on the import probe."""

    environment: Path
    runner: Runner
    variables: Mapping[str, str]
    start_seconds: float
    trace_seconds: float
    distributions: Mapping[str, Distribution]

    async def start(self, found: _Imports) -> None:
        """Prove that the interpreter starts from its place and has ``encodings`` and ``ssl``; name what is in the way."""
        python = str(venv_python(self.environment))
        outcome, lines, errors = await self._run("import_check.py", (str(self.environment), ""), total=self.start_seconds)
        first = next((event for event in read_events(lines) if event["event"] == "start"), None)
        if first is not None and first.get("same") is True:
            found.version = first["version"]
            return
        if first is None:
            problem = Finding("verify.python_start", {"python": python, "reason": start_reason(outcome, errors)})
        else:
            problem = Finding("verify.prefix", {"python": python, "prefix": first["prefix"]})
        traced = await find_start_files(self.environment, self.distributions.values(), self._trace)
        if isinstance(outcome, TimedOut) and traced.version and not traced.files:  # it is slow, and nothing is wrong
            found.version = traced.version
            return
        found.problems.extend(traced.files or (problem,))

    async def import_modules(
        self, modules: Sequence[str], owners: Mapping[str, str], found: _Imports, advance: Callable[[], None], *, main: bool
    ) -> None:
        """Import modules; one that brings its child down is named, and the rest goes on in a new child."""
        remaining = list(modules)
        while remaining:
            batch = _batch(remaining)
            arguments = (str(self.environment), ",".join(batch))
            ended: list[dict[str, Any]] = []

            def on_event(event: dict[str, Any], ended: list[dict[str, Any]] = ended) -> None:
                if event["event"] == "end":
                    ended.append(event)
                    advance()

            outcome, _, _ = await self._run("import_check.py", arguments, idle=IDLE_SECONDS, on_event=on_event)
            for event in ended:
                await asyncio.to_thread(self._judge, event, owners, found, main=main)
            remaining = remaining[len(ended) :]
            if len(ended) < len(batch):
                crashed = remaining.pop(0)
                package = _owner(crashed, owners)
                key = "verify.import_timeout" if isinstance(outcome, TimedOut) else "verify.import_crash"
                finding = Finding(
                    key, {"package": package, "module": crashed, "reason": describe_outcome(outcome)}, package
                )
                (found.problems if main else found.warnings).append(finding)
                advance()

    def _judge(self, event: Mapping[str, Any], owners: Mapping[str, str], found: _Imports, *, main: bool) -> None:
        """Sort the end of an import in; what only lacks another package that nobody promised is a note. Blocks."""
        if event["kind"] == "ok":
            return
        module = event["module"]
        package = _owner(module, owners)
        reason = f"{event['error']}: {event['text']}" if event["text"] else event["error"]
        arguments: dict[str, object] = {"package": package, "module": module, "reason": reason}
        finding = Finding(f"verify.import_{event['kind']}", arguments, package)
        absent = event["absent"]
        if event["kind"] == "file":
            found.problems.append(finding)
        elif absent and not main and not _provides(absent, owners) and self._is_complete(package, found.version):
            found.notes.append(finding)
        else:
            found.warnings.append(finding)

    def _is_complete(self, package: str, python: str) -> bool:
        """Tell whether all is installed that a distribution cannot do without."""
        distribution = self.distributions.get(package)
        return distribution is not None and required_names(distribution, python) <= self.distributions.keys()

    async def _trace(self, left_out: Sequence[str]) -> tuple[Outcome, list[str], list[str]]:
        arguments = (str(self.environment), *left_out)
        # in all there is a limit as well, as a file that writes without end is not idle
        return await self._run("start_check.py", arguments, "-S", total=IDLE_SECONDS, idle=self.trace_seconds)

    async def _run(
        self,
        probe: str,
        arguments: Sequence[str],
        *options: str,
        total: float | None = None,
        idle: float | None = None,
        on_event: Callable[[dict[str, Any]], None] | None = None,
    ) -> tuple[Outcome, list[str], list[str]]:
        """Run a probe; return how it ended, what it reported, and the last lines of its errors."""
        reports: list[str] = []
        errors: list[str] = []

        def on_line(line: OutputLine) -> None:
            if line.stream == "stdout":
                reports.append(line.text)
                if on_event is not None:
                    for event in read_events([line.text]):
                        on_event(event)
            elif line.text.strip():
                errors[:] = [*errors[-19:], line.text]

        folder = await run_whole(_make_empty_folder, self.variables.get("TMPDIR"))
        try:
            code = await asyncio.to_thread(lambda: resource("probes", probe).read_text(encoding="utf-8"))
            command = Command(
                (str(venv_python(self.environment)), *options, "-c", code, *arguments),
                self.variables,
                folder or Path(self.environment.anchor),
                total_seconds=total,
                idle_seconds=idle,
            )
            outcome = await self.runner.run(command, on_line)
        finally:
            if folder is not None:
                await run_whole(partial(shutil.rmtree, folder, ignore_errors=True))
        return outcome, reports, errors


def _make_empty_folder(place: str | None) -> Path | None:
    """Make a folder in which no module lies that would be taken for an installed one; None where the disk is full."""
    try:
        return Path(tempfile.mkdtemp(prefix="verify-", dir=place))
    except OSError as error:
        if not is_full(error) and error.errno != errno.EROFS:
            raise
        return None


def read_events(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Return what the lines of the probe report."""
    return [event for line in lines if (event := read_event(line)) is not None]


def read_event(line: str) -> dict[str, Any] | None:
    """Return what a line of the probe reports; None for any other line, and for one that the probe's death cut off."""
    if not line.startswith(_PREFIX):
        return None
    try:
        event = parse_json(line.removeprefix(_PREFIX))
    except ValueError:
        return None
    needed = _FIELDS.get(str(event.get("event"))) if isinstance(event, dict) else None
    if needed is None or event.get("kind", "ok") not in ("ok", "file", "other"):
        return None
    if event.get("kind", "ok") != "ok":
        needed += _OF_FAILURE
    return event if all(isinstance(event.get(field), str) for field in needed) else None


def _batch(modules: Sequence[str]) -> list[str]:
    batch: list[str] = []
    length = 0
    for module in modules:
        length += len(module) + 1
        if batch and length > _LONGEST_ARGUMENT:
            break
        batch.append(module)
    return batch


def _provides(module: str, owners: Mapping[str, str]) -> bool:
    return any(name.partition(".")[0] == module for name in owners)


def _owner(module: str, owners: Mapping[str, str]) -> str:
    return owners.get(module) or owners.get(module.partition(".")[0], "")
