"""What the window says of a failure, put together from the catalogue in the window's language."""

from __future__ import annotations

from pathlib import Path

import pytest

from amlwizard.core.catalogue import LANGUAGES, WINDOW, code_texts
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.locked_hints import note_locks
from amlwizard.core.organisation import Organisation
from amlwizard.core.outcome import finished_event
from amlwizard.core.refused_lines import refusal_of
from amlwizard.ui.endings import end_text
from amlwizard.ui.findings import error_sentence
from amlwizard.ui.wishes import Job
from amlwizard.ui.words import Words


def bad_lines() -> AmlError:
    told = {"file": "/x/requirements.txt", "text": "a b", "reason": "?"}
    return refusal_of([RefusedError("AML_REQUIREMENTS_BAD_LINE", line=line, **told) for line in (1, 2)])


def locked_proxy() -> AmlError:
    error = AmlError("AML_PROXY_UNREACHABLE", proxy="127.0.0.1:9", host="index.example.org", cause="refused")
    note_locks(error, Organisation(Path("/etc/settings.json"), frozenset({"proxy"})))
    return error


@pytest.mark.parametrize("error", [bad_lines(), locked_proxy()], ids=lambda error: error.code)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_failure_is_told_the_same_before_a_run_and_after_it(error: AmlError, language: str) -> None:
    said = "\n".join(code_texts(error.code, error.arguments, language, WINDOW))
    words, event = Words(language), finished_event(error, None, "en")
    assert error_sentence(words, error) == said
    assert end_text(words, event, Job.INSTALL, None) == said


def test_a_hint_about_what_is_locked_names_the_controls_of_the_window() -> None:
    told = error_sentence(Words("en"), locked_proxy())
    assert "Set by your organisation" in told
    assert "Copy for IT" in told
    assert "amlwizard diagnose" not in told
