"""Sentences about what was found, made of findings and the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.bundle.floors import Floor
from amlwizard.core.catalogue import WINDOW, code_texts
from amlwizard.core.wording import moment_text, number_text, size_text

if TYPE_CHECKING:
    from amlwizard.core.errors import AmlError
    from amlwizard.core.facts import Candidate, EnvironmentFacts, Facts, Holder
    from amlwizard.ui.words import Words


_FULL: Final = frozenset({"AML_NO_SPACE", "AML_DISK_SPACE"})


def error_sentence(words: Words, error: AmlError) -> str:
    """Return the message and the hint of an error as one paragraph."""
    return "\n".join(code_texts(error.code, error.arguments, words.language, WINDOW)).strip()


def is_about_root(error: AmlError) -> bool:
    """Tell whether it is the folder that cannot be used, so that another one helps."""
    return error.code.startswith(("AML_ROOT_", "AML_FOLDER_")) or error.code in _FULL


def environment_sentence(words: Words, environment: EnvironmentFacts) -> str:
    """Return the state of the environment: why it is that, and what mends it."""
    if environment.ready and environment.python and environment.packages is not None:
        return words("environment.ready.full", python=environment.python, packages=number_text(environment.packages))
    reason = words.known(environment.reason, environment.arguments, "") if environment.reason else ""
    state = reason or words.known(f"environment.{environment.state}", {}, environment.state)
    if environment.action == "wait":
        return state
    lead = words.known(f"window.state.{environment.state}", {}, "")
    action = words.known(f"window.action.{environment.state}", {}, "")
    action = words.known(f"window.action.{environment.action}", {}, action)
    return words("window.sentences", first=lead, second=state, third=action).strip()


def is_in_between(environment: EnvironmentFacts | None) -> bool:
    """Tell whether a state may be what a run at work goes through, so that nothing can be said of it meanwhile."""
    return environment is not None and not environment.ready


def environment_sign(environment: EnvironmentFacts) -> str:
    """Return the sign of a state: an alarm only where something is wrong."""
    return {"ready": "tick", "absent": "info", "stale": "info"}.get(environment.state, "triangle")


def holder_sentence(words: Words, holder: Holder) -> str:
    """Return which other run is at work in the folder, since when, and that the window waits for it."""
    who = words("busy.somebody")
    if holder.command and holder.since:
        who = words("busy.holder", command=holder.command, pid=holder.pid, since=moment_text(holder.since))
    return words("window.sentences", first=who, second=words("busy.watching"), third="").strip()


def closed_sentence(words: Words, holder: Holder | None, refusal: AmlError | None) -> str:
    """Return why nothing can be changed in the folder: another run is at work, or this account may not."""
    if holder is not None:
        return holder_sentence(words, holder)
    return error_sentence(words, refusal) if refusal is not None else ""


def tool_sentence(words: Words, facts: Facts, kind: str) -> str:
    """Return which uv or Python would be used, or that one will be set up."""
    chosen = facts.uv if kind == "uv" else facts.python
    if chosen is None:
        return words(f"found.{kind}.none")
    return words(f"found.{kind}", version=chosen.version, source=source_text(words, chosen.source))


def source_text(words: Words, source: str) -> str:
    """Return where a candidate was found, in words."""
    return words.known(f"source.{source}", {}, source)


def candidate_note(words: Words, candidate: Candidate, *, chosen: bool) -> str:
    """Return why a candidate was passed over, or that it is used."""
    reason = words.known(candidate.reason, candidate.arguments, candidate.reason) if candidate.reason else ""
    if chosen:
        return words("row.chosen") if not reason else words("row.chosen.remark", remark=reason)
    if reason or not candidate.usable:
        return reason or words("row.unusable")
    return words("row.usable.uv" if candidate.kind == "uv" else "row.usable")


def bundle_sentence(words: Words, content: dict[str, Any] | None) -> str:
    """Return platform, Python, packages and size of a bundle, by the values of a ``BundleEvent``; empty without one."""
    if content is None:
        return ""
    floor = str(Floor.from_json(content["floor"]) or "")
    return words(
        "page.start.bundle.facts",
        platform=content["platform"],
        floor=words("page.start.bundle.floor", floor=floor) if floor else "",
        python=content["python"],
        packages=content["packages"],
        size=size_text(int(content["size"]), words.language),
    )
