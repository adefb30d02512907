"""What was found, in words."""

from __future__ import annotations

from pathlib import Path

from amlwizard.core.facts import Candidate
from amlwizard.ui.findings import candidate_note
from amlwizard.ui.words import Words


def test_a_chosen_candidate_with_a_remark() -> None:
    candidate = Candidate("uv", Path("uv"), "bundled", "0.13.9", usable=True, reason="a remark of another part")
    assert candidate_note(Words("en"), candidate, chosen=True) == "Will be used. a remark of another part"
