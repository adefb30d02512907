"""What a chosen bundle is, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amlwizard.core.bundle.floors import Floor
from amlwizard.core.wording import size_text

if TYPE_CHECKING:
    from amlwizard.ui.words import Words


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
