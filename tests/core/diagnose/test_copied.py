"""What the window copies is the short report, redacted, of what it knows already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.diagnose.copied import copied_report
from amlwizard.core.events import FinishedEvent, RunState
from amlwizard.core.facts import Holder
from tests.support.scripted_engine import FACTS

EVENT = FinishedEvent(
    RunState.FAILED,
    "AML_CANNOT_WRITE",
    "无法写入",
    arguments={"path": "/w/x", "reason": "full"},
    environment={"state": "absent", "reason": "尚无环境。", "action": "install"},
)


@pytest.fixture
def choices(monkeypatch: pytest.MonkeyPatch) -> Choices:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("USERPROFILE", "/home/somebody")
    logins = {"https://index.example.org": ("bob", "correct-horse")}
    return Choices(
        Path("/home/somebody/aml"), credentials=logins, ambient=("index-url https://index.example.org (pip.conf)",)
    )


def test_tells_the_end_in_english_with_the_users_sentence_below(choices: Choices) -> None:
    report = copied_report("rebuild", EVENT, choices, FACTS, None, "zh_CN", ["", "said correct-horse"])
    lines = [line.strip() for line in report.splitlines()]
    place = next(number for number, line in enumerate(lines) if ". Last run (上次运行): " in line)
    assert lines[place].endswith("rebuild: failed, AML_CANNOT_WRITE. /w/x could not be written: full")
    assert lines[place + 1] == "无法写入 /w/x：full"
    assert any(line.endswith(f"Workspace (工作区): {Path('~/aml')}") for line in lines)
    assert any(". Setting (设置): index-url https://index.example.org (pip.conf)" in line for line in lines)
    assert lines[-1] == "said ****"


def test_tells_what_is_known_where_nobody_has_looked(choices: Choices) -> None:
    event = replace(EVENT, environment=None)
    report = copied_report("install", event, choices, None, Holder(7, "2026-01-01T00:00:00Z", "repair"), "en", [])
    assert "In use by: repair (process 7) since 2026-01-01T00:00:00Z, which changes it" in report
    assert "Environment: " not in report
    assert "上" not in report
