"""The short report of a run, made of what a window already knows, for its clipboard."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from amlwizard.core.diagnose.known_secrets import known_secrets
from amlwizard.core.diagnose.redaction import Redactor
from amlwizard.core.diagnose.report import run_report_text
from amlwizard.core.settings import home_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amlwizard.core.choices import Choices
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.facts import Facts, Holder


def copied_report(
    kind: str,
    event: FinishedEvent,
    choices: Choices,
    facts: Facts | None,
    holder: Holder | None,
    language: str,
    more: Sequence[str],
) -> str:
    """Return the report, redacted; reads no file.

    Args:
        kind: what was asked for, as ``rebuild``.
        event: how it ended.
        choices: what was chosen.
        facts: what was found before, as far as somebody looked.
        holder: the other run that holds the workspace.
        language: the user's.
        more: lines to be put below, such as the last ones of the log.
    """
    clean = Redactor(known_secrets(os.environ, choices.credentials, ()), home_folder(os.environ)).text
    report = run_report_text(kind, event, choices, facts, holder, language, clean)
    return "\n".join([report, *map(clean, more), ""])
