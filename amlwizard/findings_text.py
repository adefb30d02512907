"""What ``detect`` and ``plan`` found, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.catalogue import text
from amlwizard.core.paths import Workspace
from amlwizard.core.plain_text import plain_text
from amlwizard.core.wording import added_text, card_text, size_text, step_title
from amlwizard.terminal import catalogued, columns, size_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amlwizard.core.events import PlanEvent
    from amlwizard.core.facts import Candidate, EnvironmentFacts, Facts, GraphicsCard


def facts_lines(facts: Facts, root: Path, language: str) -> list[str]:
    """Return the computer, what is chosen, the environment's state, and every candidate with what it is."""
    host = facts.host
    environment = facts.environment
    # "left unfinished" is no word for what is just being made, nor "another program" for a newer amlwizard
    state = "" if environment.action in {"wait", "upgrade"} else catalogued("cli.environment", environment.state, language)
    reason = text(environment.reason, language, **environment.arguments) if environment.reason else ""
    rows = [
        (
            text("cli.detect.computer", language),
            text(
                "cli.detect.host",
                language,
                platform=host.platform,
                release=" ".join(part for part in (host.release, host.libc) if part),
                cpus=host.cpu_count,
                memory=size_text(host.memory_bytes, language),
            ),
        ),
        *_graphics_rows(facts.graphics, language),
        ("uv", _chosen("uv", facts.uv, facts, language)),
        ("Python", _chosen("python", facts.python, facts, language)),
        (text("cli.detect.environment", language), " ".join(part for part in (state, reason) if part)),
        *([("", text(f"action.{environment.action}", language))] if environment.action != "none" else []),
        *(("", sentence) for sentence in _added_sentences(environment, language)),
        ("", str(Workspace(root).venv)),
    ]
    if not facts.candidates:
        return columns(rows)
    return [*columns(rows), "", text("cli.detect.candidates", language), *_candidate_lines(facts.candidates, language)]


def _graphics_rows(cards: Sequence[GraphicsCard], language: str) -> list[tuple[str, str]]:
    told = [card_text(card, language) for card in cards] or [text("cli.detect.graphics.none", language)]
    return [(text("cli.detect.graphics", language) if number == 0 else "", line) for number, line in enumerate(told)]


def plan_lines(plan: PlanEvent, root: Path, language: str) -> list[str]:
    """Return what a plan would do, in sentences."""
    if not plan.steps:
        return [text("cli.plan.nothing", language, root=root)]
    separator = text("cli.separator", language)
    steps = separator.join(step_title(step.id, step.title, language) for step in plan.steps)
    lines = [text("cli.plan.steps", language, root=root, steps=steps), *size_sentences(plan, language)]
    if plan.hosts:
        lines.append(text("cli.plan.hosts", language, hosts=separator.join(plan.hosts)))
    for key, paths in (("cli.plan.writes", plan.writes), ("cli.plan.replaces", plan.replaces)):
        if paths:
            lines += [text(key, language), *(f"  {plain_text(path)}" for path in paths)]
    return lines


def _added_sentences(environment: EnvironmentFacts, language: str) -> list[str]:
    told = (("added.found", environment.added), ("added.kept_before", environment.kept))
    return [text(key, language, packages=added_text(added, language)) for key, added in told if added]


def _chosen(kind: str, candidate: Candidate | None, facts: Facts, language: str) -> str:
    if candidate is None:  # although one may be usable: uv becomes the workspace's own, and a version may be wished for
        others = any(other.kind == kind and other.usable for other in facts.candidates)
        return text("cli.detect.none_fits" if others else "cli.detect.none", language)
    source = catalogued("cli.source", candidate.source, language)
    return text("cli.detect.chosen", language, version=candidate.version, path=candidate.path, source=source)


def _candidate_lines(candidates: tuple[Candidate, ...], language: str) -> list[str]:
    heads = [text(f"cli.detect.head.{name}", language) for name in ("kind", "version", "usable", "source", "path")]
    lines = columns(
        [
            heads,
            *(
                [
                    catalogued("cli.kind", candidate.kind, language),
                    candidate.version or "-",
                    text("cli.detect.yes" if candidate.usable else "cli.detect.no", language),
                    catalogued("cli.source", candidate.source, language),
                    plain_text(str(candidate.path)),
                ]
                for candidate in candidates
            ),
        ]
    )
    result = [f"  {lines[0]}"]
    for candidate, line in zip(candidates, lines[1:], strict=True):
        result.append(f"  {line}")
        if candidate.reason:
            result.append(f"      {text(candidate.reason, language, **candidate.arguments)}")
    return result
