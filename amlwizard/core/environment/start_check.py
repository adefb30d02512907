"""Finds the files that keep an environment's Python from starting: ``.pth`` files and the customising modules."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import Phrase
from amlwizard.core.data_text import parse_json
from amlwizard.core.environment.findings import Finding
from amlwizard.core.running import Exited, NotStarted, Outcome, TimedOut, describe_outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amlwizard.core.environment.record_check import Distribution

TRACE_SECONDS: Final = 60.0
"""The longest time that one file may take to start, also under a virus scanner or from a network drive."""
_PREFIX: Final = "aml-start "

Trace = Callable[[Sequence[str]], Awaitable[tuple[Outcome, list[str], list[str]]]]
"""Runs the probe without some files; returns how it ended and the lines of both its streams."""


@dataclass(frozen=True)
class Traced:
    """The files without which Python gets further, and its version where it comes to a good end without them."""

    files: tuple[Finding, ...]
    version: str


def start_reason(outcome: Outcome, errors: Sequence[str]) -> object:
    """Return why a start came to no good end."""
    if isinstance(outcome, NotStarted):
        return outcome.reason
    if outcome == Exited(0):
        return Phrase("verify.spoiled")
    if isinstance(outcome, TimedOut):
        return Phrase("verify.no_answer", {"seconds": f"{outcome.seconds:g}"})
    return errors[-1] if errors else describe_outcome(outcome)


async def find_start_files(environment: Path, distributions: Iterable[Distribution], trace: Trace) -> Traced:
    """Return a finding for each file without which Python gets further, until it works; none where it is not a file.

    Args:
        environment: the environment, whose Python does not start as it should.
        distributions: what is installed, with its files.
        trace: runs ``start_check.py`` of the probes.
    """
    owners = {os.path.normcase(file): item.name for item in distributions for file in item.files}
    found: dict[str, Finding] = {}
    while True:
        outcome, lines, errors = await trace(tuple(found))
        reports = _reports(lines)
        blamed = reports[-1] if reports else None
        if blamed is True:
            blamed = await _spoiler([*map(str, reports[:-1])], tuple(found), trace)
        if not isinstance(blamed, str) or blamed in found:
            return Traced(tuple(found.values()), _version(reports))
        found[blamed] = _finding(environment, blamed, owners, start_reason(outcome, errors))


async def _spoiler(files: Sequence[str], left_out: tuple[str, ...], trace: Trace) -> str | None:
    """Return the one of some files, all of which came to an end, without which what follows is sound."""
    for file in reversed(dict.fromkeys(files)):
        _, lines, _ = await trace((*left_out, file))
        if _version(_reports(lines)):
            return file
    return None


def _version(reports: Sequence[object]) -> str:
    """Return the version of a Python that came to a good end, else nothing."""
    last = reports[-1] if reports else None
    return str(last["version"]) if isinstance(last, dict) else ""


def _reports(lines: Sequence[str]) -> list[object]:
    """Return what the probe reports; a line that its end cut off is no report."""
    reports: list[object] = []
    for line in lines:
        if line.startswith(_PREFIX):
            with suppress(ValueError):
                reports.append(parse_json(line.removeprefix(_PREFIX)))
    return reports


def _finding(environment: Path, file: str, owners: dict[str, str], reason: object) -> Finding:
    place = _place_in(environment, Path(file))
    shown = {"file": place or file, "reason": reason}
    owner = owners.get(os.path.normcase(place)) if place else None
    if owner is not None:
        return Finding("verify.start_file_of", shown | {"package": owner}, owner)
    return Finding("verify.start_file", shown, loose=_top(place))


def _place_in(environment: Path, file: Path) -> str:
    """Return where a file lies in the environment, empty where it lies elsewhere; a link itself is not followed."""
    try:
        return str((file.parent.resolve() / file.name).relative_to(environment.resolve()))
    except ValueError:
        return ""


def _top(place: str) -> str:
    """Return what is loose of it: a module that is a folder as a whole."""
    path = Path(place)
    return str(path.parent if path.name == "__init__.py" else path) if place else ""
