"""The findings as the ``detected`` event shows them, with every reason in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amlwizard.core.catalogue import text
from amlwizard.core.outcome import environment_content

if TYPE_CHECKING:
    from amlwizard.core.facts import Candidate, EnvironmentFacts, Facts


def detected_content(facts: Facts, language: str = "en") -> dict[str, Any]:
    """Return the values of a ``DetectedEvent``."""
    return {
        "uv": candidate_content(facts.uv, language) if facts.uv is not None else None,
        "python": candidate_content(facts.python, language) if facts.python is not None else None,
        "candidates": [candidate_content(candidate, language) for candidate in facts.candidates],
        "host": facts.host.to_json(),
        "graphics": [card.to_json() for card in facts.graphics],
        "environment": _environment_content(facts.environment, language),
    }


def candidate_content(candidate: Candidate, language: str) -> dict[str, Any]:
    """Return one row."""
    return candidate.to_json(_words(candidate.reason, candidate.arguments, language))


def _environment_content(environment: EnvironmentFacts, language: str) -> dict[str, Any]:
    return {
        **environment_content(environment, language),
        "python": environment.python,
        "packages": environment.packages,
        "digest": environment.digest,
        "lock": environment.lock,
        "added": [
            {"name": package.name, "version": package.version, "locked": package.locked} for package in environment.added
        ],
        "kept": [{"name": package.name, "version": package.version} for package in environment.kept],
    }


def _words(key: str, arguments: dict[str, object], language: str) -> str:
    return text(key, language, **arguments) if key else ""
