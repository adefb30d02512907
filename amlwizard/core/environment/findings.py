"""What verification found, as values."""

from __future__ import annotations

from dataclasses import dataclass, field

from amlwizard.core.catalogue import text


@dataclass(frozen=True)
class Finding:
    """One thing that was found; ``key`` is a catalogue key with ``arguments``, ``package`` the distribution concerned.

    ``loose`` is the place in the environment of what belongs to no package and is to go.
    """

    key: str
    arguments: dict[str, object] = field(default_factory=dict)
    package: str = ""
    loose: str = ""

    def in_words(self, language: str) -> str:
        """Return it as a sentence."""
        return text(self.key, language, **self.arguments)


@dataclass(frozen=True)
class VerifyReport:
    """What verification found.

    ``problems`` make an environment unusable, ``warnings`` do not, ``remarks`` are no fault; ``notes`` are no fault either
    and for the log alone.
    """

    problems: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    remarks: tuple[Finding, ...]
    packages: int
    python_version: str
    notes: tuple[Finding, ...] = ()
    torch: Finding | None = None
    """What PyTorch sees, where it is installed; one of the remarks."""

    @property
    def ok(self) -> bool:
        """Tell whether the environment may be used."""
        return not self.problems

    @property
    def broken_packages(self) -> tuple[str, ...]:
        """Return the normalised names of the distributions that must be installed again."""
        return tuple(sorted({finding.package for finding in self.problems if finding.package}))

    @property
    def loose(self) -> tuple[Finding, ...]:
        """Return what is wrong because of files that belong to no package."""
        return tuple(finding for finding in self.problems if finding.loose)
