"""The short report: what is not known is left out or named, and nothing long hides a secret at its cut."""

from __future__ import annotations

import os
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
from amlwizard.core.diagnose.report import Ended, report_text
from amlwizard.core.diagnose.request import Request
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import FinishedEvent, RunState
from amlwizard.core.facts import Holder
from amlwizard.core.organisation import Organisation
from amlwizard.core.settings import Setting, Settings, Source
from amlwizard.process.asyncio_runner import AsyncioRunner
from amlwizard.wiring import make_engine
from tests.support.scripted_engine import FACTS

CLEAN = Redactor({"correct-horse-battery"}, Path("/home/somebody")).text
REQUEST = Request(Choices(Path("/home/somebody/aml")), Settings(), ())
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


@pytest.mark.posix
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


@pytest.mark.posix
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


@pytest.mark.parametrize("log", ["", "/w/runtime/logs/20260101T000000Z-rebuild-7.log"])
def test_the_run_that_a_copied_report_is_about_is_told_once(log: str) -> None:
    runs = (PastRun("rebuild", "2026-01-01T00:00:00Z", "failed", "AML_CANNOT_WRITE", "told by the log"),)
    findings = replace(NOTHING, runs=Part("logs", 0, runs))
    ended = Ended("rebuild", replace(EVENT, log=log, message="correct-horse-battery"))
    told = report_text(findings, "en", CLEAN, ended)
    assert told.count("/w/x could not be written: full") == 1
    assert "Last run: rebuild: failed, AML_CANNOT_WRITE. /w/x could not be written: full" in told
    assert ("told by the log" in told) is (not log)


def test_a_copied_report_tells_the_end_in_english_with_the_users_sentence_below() -> None:
    lines = [line.strip() for line in report_text(NOTHING, "zh_CN", CLEAN, Ended("rebuild", EVENT)).splitlines()]
    place = next(number for number, line in enumerate(lines) if ". Last run (上次运行): " in line)
    assert lines[place].endswith("rebuild: failed, AML_CANNOT_WRITE. /w/x could not be written: full")
    assert lines[place + 1] == "无法写入 /w/x：full"


async def test_a_copied_report_has_what_a_diagnosis_tells_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://mei:hunter-two@127.0.0.1:9")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AML_INDEX_URL", "https://index.example.org/simple")
    logins = {"https://index.example.org": ("bob", "correct-horse")}
    choices = Choices(tmp_path / "aml", index_url="https://index.example.org/simple", credentials=logins)
    engine = make_engine(lambda: AsyncioRunner("report"), "en")
    report = await engine.report(choices, "rebuild", EVENT, ["", "said correct-horse to mei:hunter-two"])
    for subject in ("Program", "System", "Workspace", "Disk", "Proxy", "Certificates", "Host", "Setting", "Last run"):
        assert f". {subject}: " in report, subject
    assert "index.example.org" in report
    assert "correct-horse" not in report
    assert "hunter-two" not in report
    assert report.rstrip().endswith("said **** to mei:****")
    assert not choices.root.exists()
