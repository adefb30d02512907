"""The short report: what is not known is left out or named, and nothing long hides a secret at its cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amlwizard.core.catalogue import Phrase
from amlwizard.core.choices import Choices
from amlwizard.core.diagnose.computer import Disk, Network
from amlwizard.core.diagnose.findings import Findings, Holders
from amlwizard.core.diagnose.limits import Part
from amlwizard.core.diagnose.log_files import PastRun
from amlwizard.core.diagnose.redaction import Redactor
from amlwizard.core.diagnose.report import copied_report, report_text
from amlwizard.core.diagnose.request import Request
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import FinishedEvent, RunState
from amlwizard.core.facts import Holder
from amlwizard.core.organisation import Organisation
from amlwizard.core.settings import Setting, Settings, Source
from tests.support.scripted_engine import FACTS

CLEAN = Redactor({"correct-horse-battery"}, Path("/home/somebody")).text
REQUEST = Request(Path("/out.zip"), Choices(Path("/home/somebody/aml")), Settings(), ())
NOTHING = Findings(
    "2026-01-01T00:00:00Z",
    REQUEST,
    "Debian",
    host=Part("host", 0, reason="broken"),
    facts=Part("detection", 60, reason=Phrase("diagnose.no_answer", {"seconds": "60"})),
    environment=Part("environment", 0, reason="broken"),
    runs=Part("logs", 0, reason="broken"),
    holders=Part("holders", 0, reason="broken"),
    disks=Part("disks", 0, reason="broken"),
    network=Part("network", 0, reason="broken"),
    reached=Part("reached", 0, reason="broken"),
    store=Part("store", 0, reason="broken"),
)
EVENT = FinishedEvent(
    RunState.FAILED,
    "AML_CANNOT_WRITE",
    "无法写入",
    arguments={"path": "/w/x", "reason": "full"},
    environment={"state": "absent", "reason": "尚无环境。", "action": "install"},
)


def test_where_nothing_is_known_every_part_says_so() -> None:
    lines = report_text(NOTHING, "zh_CN", CLEAN).splitlines()
    assert sum("Not known (未能查明): " in line for line in lines) == 9
    assert any(line.endswith("every uv and Python: no answer within 60 s") for line in lines)
    assert "    全部 uv 和 Python：60 秒内没有回应" in lines


def test_tells_disks_network_settings_and_holders() -> None:
    values = {
        "proxy": Setting("http://proxy.example.org", Source.MACHINE, "/etc/settings.json"),
        "findLinks": Setting(("/a", "/b"), Source.USER, "/home/somebody/s.json"),
    }
    settings = Settings(values, frozenset({"proxy"}), {}, ("prxoy (/home/somebody/s.json)",))
    error = RefusedError("AML_UV_MISSING", path="/no/uv", place="--uv", reason="gone")
    findings = replace(
        NOTHING,
        request=replace(REQUEST, settings=settings, refusals=(error,)),
        facts=Part("detection", 1, FACTS),
        runs=Part("logs", 0, (PastRun("install", "2026-01-01T00:00:00Z"),)),
        holders=Part("holders", 0, Holders(Holder(), (Holder(7, "2026-01-01T00:00:00Z", "train.py"),))),
        disks=Part("disks", 0, [Disk(("/a",), 10**9, 10**10, read_only=True), Disk(("/b",), None, None, reason="gone")]),
        network=Part(
            "network", 0, Network({"HTTPS_PROXY": "proxy.example.org:3128"}, "", "", True, {"h.example.org": "p"})
        ),
    )
    told = report_text(findings, "en", CLEAN)
    for sentence in (
        "Last run: install of 2026-01-01T00:00:00Z; it is still going on, or was ended from outside",
        "In use by: a program that did not note its name, which changes it",
        "In use by: train.py (process 7) since 2026-01-01T00:00:00Z, which uses the environment",
        "Disk: read-only, 1.0 GB of 10 GB free; on it: /a",
        "Disk: unknown (gone); on it: /b",
        "Proxy: proxy.example.org:3128; not for: -",
        "Certificates: those of the system",
        "Host: h.example.org, by the proxy p",
        "Setting: findLinks = /a, /b (from ~/s.json)",
        "Setting: proxy = http://proxy.example.org (from /etc/settings.json, fixed by the organisation)",
        "Setting: passed over, as amlwizard does not know it: prxoy (~/s.json)",
        "(AML_UV_MISSING)",
        "Found: uv 0.13.9, usable: yes, /usr/bin/uv (PATH)",
    ):
        assert sentence in told


def test_tells_what_is_set_by_the_organisation_and_which_hosts_others_would_not_check() -> None:
    fixed = Organisation(Path("/etc/settings.json"), frozenset({"caFile"}), bundle_only=True)
    choices = replace(REQUEST.choices, organisation=fixed, trusted_hosts=("h.example.org (PIP_TRUSTED_HOST)",))
    told = report_text(replace(NOTHING, request=replace(REQUEST, choices=choices)), "zh_CN", CLEAN)
    assert "Setting (设置): Set by your organisation (/etc/settings.json): bundleOnly, caFile." in told
    assert "由贵单位设置（/etc/settings.json）：bundleOnly, caFile。" in told
    assert "h.example.org (PIP_TRUSTED_HOST)" in told


def test_a_secret_at_the_place_where_a_long_line_is_cut_goes() -> None:
    message = "x" * 990 + " correct-horse-battery " + "y" * 100
    runs = (PastRun("install", "2026-01-01T00:00:00Z", "failed", "AML_INTERNAL", message),)
    told = report_text(replace(NOTHING, runs=Part("logs", 0, runs)), "en", CLEAN)
    assert "correct" not in told
    assert "x" * 900 in told


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
