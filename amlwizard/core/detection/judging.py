"""What an interpreter is good for on this computer, and which one is taken (DESIGN 3.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import Phrase
from amlwizard.core.choices import UvMethod
from amlwizard.core.detection.places import SOURCE_RECORD, SOURCE_SETTING, SOURCE_WORKSPACE
from amlwizard.core.errors import RefusedError
from amlwizard.core.settings import MINIMUM_PYTHON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.specifiers import SpecifierSet

    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import Candidate, Host, PythonFacts

_PRIVATE_SOURCES: Final = (SOURCE_SETTING, SOURCE_RECORD, SOURCE_WORKSPACE)


class Grade(Enum):
    """How far an interpreter may be taken."""

    FITS = "fits"
    ONLY_IF_NAMED = "only if named"
    NEVER = "never"


@dataclass(frozen=True)
class Verdict:
    """A grade with its reason, or with a remark on what fits."""

    grade: Grade
    reason: Phrase = field(default_factory=lambda: Phrase(""))


def judge(facts: PythonFacts, host: Host, choices: Choices, python_range: SpecifierSet | None) -> Verdict:
    """Return what an interpreter that answered is good for."""
    if facts.version[:2] < MINIMUM_PYTHON:
        return Verdict(Grade.NEVER, too_old(facts.version_text))
    if python_range is not None and not python_range.contains(facts.version_text, prereleases=True):
        outside = Phrase("candidate.out_of_range", {"version": facts.version_text, "range": str(python_range)})
        return Verdict(Grade.NEVER, outside)
    without_pip = Phrase("")
    if not facts.has_venv or not facts.has_ensurepip:
        without_pip = _uv_only(facts, host, possible=choices.uv_method is not UvMethod.NONE)
        if choices.uv_method is UvMethod.NONE:
            return Verdict(Grade.NEVER, without_pip)
    doubt = _doubt(facts, host)
    return Verdict(Grade.ONLY_IF_NAMED, doubt) if doubt is not None else Verdict(Grade.FITS, without_pip)


def too_old(version: str) -> Phrase:
    """Return the reason for a version below the minimum."""
    return Phrase("candidate.python_too_old", {"version": version, "minimum": ".".join(map(str, MINIMUM_PYTHON))})


def _doubt(facts: PythonFacts, host: Host) -> Phrase | None:
    """Return why a working interpreter is not taken unless it was named."""
    if facts.implementation != "CPython":
        return Phrase("candidate.not_cpython", {"implementation": facts.implementation})
    if facts.bits != 64 and host.machine != "i686":
        return Phrase("candidate.wrong_bits", {"bits": facts.bits})
    if facts.machine != host.machine:
        return Phrase("candidate.wrong_machine", {"machine": facts.machine, "native": host.machine})
    if facts.release != "final":
        return Phrase("candidate.prerelease", {"version": facts.marker_environment["python_full_version"]})
    if facts.free_threaded:
        return Phrase("candidate.free_threaded")
    return Phrase("candidate.conda") if facts.vendor == "conda" else None


def _uv_only(facts: PythonFacts, host: Host, *, possible: bool) -> Phrase:
    key = "candidate.uv_only" if possible else "candidate.needs_uv"
    if host.system == "linux" and _is_debian(facts):
        return Phrase(f"{key}_debian", {"package": f"python{facts.minor}-venv"})
    return Phrase(key)


def _is_debian(facts: PythonFacts) -> bool:
    return facts.base_prefix == Path("/usr") and Path("/etc/debian_version").exists()


def choose_python(choices: Choices, candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the interpreter that is taken; None means that one must be bootstrapped.

    Args:
        choices: with the interpreter or the version that was named, if any.
        candidates: the interpreters in the order of preference.

    Raises:
        RefusedError: the interpreter that was named does not work (``AML_PYTHON_MISSING``).
    """
    usable = [candidate for candidate in candidates if candidate.usable and candidate.python is not None]
    path = choices.interpreter
    if path is not None:
        for candidate in usable:
            if candidate.source == SOURCE_SETTING:
                return candidate
        named = [candidate for candidate in candidates if candidate.source == SOURCE_SETTING]
        raise RefusedError("AML_PYTHON_MISSING", path=str(path), reason=_phrase(named[-1:]))
    if choices.python is not None:
        usable = [candidate for candidate in usable if candidate.python and _is_version(candidate.python, choices.python)]
    private = [candidate for candidate in usable if candidate.source == SOURCE_WORKSPACE]
    return next(iter(private + usable), None)


def choose_uv(choices: Choices, candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the uv that is used as it is: the named one or the workspace's own; copies elsewhere are only looked at.

    Raises:
        RefusedError: the uv that was named does not work (``AML_UV_MISSING``).
    """
    usable = [candidate for candidate in candidates if candidate.usable and candidate.source in _PRIVATE_SOURCES]
    if choices.uv is not None:
        usable = [candidate for candidate in usable if candidate.source == SOURCE_SETTING]
        if not usable:
            named = [candidate for candidate in candidates if candidate.source == SOURCE_SETTING]
            raise RefusedError("AML_UV_MISSING", path=str(choices.uv), reason=_phrase(named[-1:]))
    return next(iter(usable), None)


def _is_version(facts: PythonFacts, version: str) -> bool:
    wanted = tuple(map(int, version.split(".")))
    return facts.version[: len(wanted)] == wanted


def _phrase(candidates: Sequence[Candidate]) -> Phrase:
    for candidate in candidates:
        return Phrase(candidate.reason, candidate.arguments)
    return Phrase("candidate.missing")
