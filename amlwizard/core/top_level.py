"""What was asked for, as a lock can carry it to another computer: the top-level requirements as lines of a file.

Nothing of this computer is in them: no credential, no value of a variable, no local path. A lock that somebody was given
can be resolved anew from them where it does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

from amlwizard.core.errors import RefusedError
from amlwizard.core.lock import own_table, own_texts
from amlwizard.core.requirement_entries import PLACES
from amlwizard.core.requirements import RequirementsClosure, closure_of_text
from amlwizard.core.urls import without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from packaging.pylock import Pylock

    from amlwizard.core.requirement_entries import RequirementEntry

_FLAGS: Final = frozenset({"--pre", "--require-hashes", "--no-binary", "--only-binary"})
"""Options that are part of the wish wherever it is resolved; those that name a place travel where it can be reached."""


@dataclass(frozen=True)
class TopLevel:
    """Requirements, constraints and options as lines of requirements files."""

    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    @classmethod
    def of(cls, closure: RequirementsClosure) -> Self:
        """Return what of a requirements file makes sense on another computer, without files of this one."""
        requirements = [*_option_lines(closure), *(_line(entry) for entry in closure.requirements if not is_local(entry))]
        constraints = [_line(entry) for entry in closure.constraints if not is_local(entry)]
        return cls(tuple(dict.fromkeys(requirements)), tuple(dict.fromkeys(constraints)))

    @classmethod
    def carried_by(cls, lock: Pylock) -> Self:
        """Return what a lock says it was resolved from; empty where it does not."""
        about = own_table(lock)
        return cls(own_texts(about, "requirements"), own_texts(about, "constraints"))

    def with_added(self, lines: Sequence[str]) -> TopLevel:
        """Return the same with requirements that a user added by hand, those of this computer left out."""
        travel = [without_credentials(line) for line in lines if not line.startswith("-") and not _is_local_line(line)]
        return replace(self, requirements=tuple(dict.fromkeys([*self.requirements, *travel])))

    def without_hashes(self) -> TopLevel:
        """Return the same without hashes: those are of the files of all platforms, of which a lock needs only its own."""
        return replace(self, requirements=tuple(line.partition(" --hash=")[0].rstrip() for line in self.requirements))

    def to_toml(self) -> dict[str, Any]:
        """Return the entries of a lock's own table."""
        content = {"requirements": list(self.requirements), "constraints": list(self.constraints)}
        return {key: lines for key, lines in content.items() if lines}

    def closure(self, path: Path, environ: Mapping[str, str]) -> RequirementsClosure:
        """Return the requirements file that these lines are.

        Args:
            path: the lock that carries them.
            environ: where ``${NAME}`` is looked up.

        Raises:
            RefusedError: ``AML_SHARED_REQUIREMENTS`` where they lead to files of this computer, or as ``parse_closure``.
        """
        for line in (*self.requirements, *self.constraints):
            name = line.partition(" ")[0].partition("=")[0]
            travels = name in _FLAGS or (name in PLACES and _is_remote(line))
            if line.startswith("-") and not travels:
                raise RefusedError("AML_SHARED_REQUIREMENTS", file=str(path), line=line[:80])
        closure = closure_of_text(path, "\n".join(self.requirements), "\n".join(self.constraints), environ)
        for entry in closure.entries:
            if is_local(entry):
                raise RefusedError("AML_SHARED_REQUIREMENTS", file=str(path), line=entry.text)
        return closure


def is_local(entry: RequirementEntry) -> bool:
    """Tell whether a requirement is a file, a folder or a repository of this computer."""
    return entry.path is not None or (entry.url or "").startswith("git+file:")


def _is_local_line(line: str) -> bool:
    """Tell whether a line names a place of this computer in the place of a version."""
    _, at, place = line.partition(" @ ")
    return bool(at) and not _is_remote(place)


def _line(entry: RequirementEntry) -> str:
    """Return a requirement without credentials, the variables in it unfilled; what was editable need not be there."""
    written = entry.written.removeprefix("--editable").removeprefix("-e").lstrip(" =") if entry.editable else entry.written
    return without_credentials(written)


def _option_lines(closure: RequirementsClosure) -> list[str]:
    lines = []
    for line in closure.option_lines:
        name = line.partition(" ")[0].partition("=")[0]
        if (name in _FLAGS and "--find-links" not in line) or (name in PLACES and _is_remote(line)):
            lines.append(without_credentials(line))
    return lines


def _is_remote(line: str) -> bool:
    return "://" in line and "file:" not in line
