"""Why a candidate did not run, in words; what each system answers, as facts."""

from __future__ import annotations

import errno

import pytest

from amlwizard.core.detection import probing
from amlwizard.core.detection.probing import Answer, failure
from amlwizard.core.running import NotStarted


@pytest.mark.parametrize(
    ("system", "number", "key"),
    [
        ("windows", 5, "candidate.not_executable"),
        ("windows", errno.EACCES, "candidate.not_executable"),
        ("windows", 2, "candidate.cannot_start"),
        ("linux", errno.EACCES, "candidate.not_executable"),
        ("linux", errno.EIO, "candidate.cannot_start"),
        ("macos", errno.EACCES, "candidate.not_executable"),
    ],
)
def test_a_denied_start_is_told_by_the_number_of_the_system(
    monkeypatch: pytest.MonkeyPatch, system: str, number: int, key: str
) -> None:
    monkeypatch.setattr(probing, "system_name", lambda _platform: system)
    phrase = failure(Answer(NotStarted("no", number), (), ()))
    assert phrase is not None
    assert phrase.key == key
