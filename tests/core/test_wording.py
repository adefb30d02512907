"""Numbers in words, both languages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amlwizard.core import wording
from amlwizard.core.events import ChangesEvent, StepEvent, StepState


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1 kB"),
        (999_400, "999 kB"),
        (999_600, "1.0 MB"),
        (1_449_000, "1.4 MB"),
        (9_960_000, "10 MB"),
        (147_000_000, "147 MB"),
        (1_130_000_000, "1.1 GB"),
        (42 * 10**9, "42 GB"),
        (3 * 10**12, "3.0 TB"),
        (7 * 10**15, "7000 TB"),
    ],
)
def test_sizes_take_the_unit_that_reads_best(number: int, expected: str) -> None:
    assert wording.size_text(number) == expected
    assert wording.size_text(number, "zh_CN") == expected


def test_a_rate_names_its_second() -> None:
    assert wording.rate_text(11_200_000) == "11 MB/s"
    assert wording.rate_text(11_200_000, "zh_CN") == "11 MB/秒"


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (0.3, "a few seconds left", "还剩几秒"),
        (8.2, "about 8 seconds left", "大约还需 8 秒"),
        (33, "about 35 seconds left", "大约还需 35 秒"),
        (59, "about a minute left", "大约还需 1 分钟"),
        (89, "about a minute left", "大约还需 1 分钟"),
        (130, "about 2 minutes left", "大约还需 2 分钟"),
        (80 * 60, "about 80 minutes left", "大约还需 80 分钟"),
        (3 * 3600 + 100, "about 3 hours left", "大约还需 3 小时"),
    ],
)
def test_the_time_left_is_rounded(seconds: float, english: str, chinese: str) -> None:
    assert wording.remaining_text(seconds) == english
    assert wording.remaining_text(seconds, "zh_CN") == chinese


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (0.21, "0.2 s", "0.2 秒"),
        (9.97, "10 s", "10 秒"),
        (59.7, "1 min 00 s", "1 分 00 秒"),
        (65, "1 min 05 s", "1 分 05 秒"),
        (3725, "1 h 02 min", "1 小时 02 分"),
    ],
)
def test_durations_are_exact(seconds: float, english: str, chinese: str) -> None:
    assert wording.duration_text(seconds) == english
    assert wording.duration_text(seconds, "zh_CN") == chinese


def test_the_clock_counts_hours_only_where_there_are_any() -> None:
    assert wording.clock_text(12.9) == "0:12"
    assert wording.clock_text(3725) == "1:02:05"


def test_amounts_share_a_unit_where_they_can() -> None:
    assert wording.amount_text(96_000_000, 147_000_000, "bytes") == "96 of 147 MB"
    assert wording.amount_text(900_000, 147_000_000, "bytes") == "900 kB of 147 MB"
    assert wording.amount_text(0, 147_000_000, "bytes") == "0 of 147 MB"
    assert wording.amount_text(96_000_000, None, "bytes") == "96 MB"
    assert wording.amount_text(61, 106, "packages", "zh_CN") == "61 / 106 个依赖包"
    assert wording.amount_text(12_000, 18_600, "files") == "12,000 of 18,600 files"
    assert wording.amount_text(3, 5, None) == "3 of 5"


def test_a_progress_event_becomes_a_sentence() -> None:
    wheel = "scikit_learn-1.5.2-cp311-cp311-manylinux_2_17_x86_64.whl"
    event = StepEvent("fetch", StepState.PROGRESS, 59_000_000, 147_000_000, "bytes", 11_000_000, wheel)
    assert wording.progress_text(event) == "Downloading scikit-learn: 59 of 147 MB in all, about 8 seconds left"
    assert wording.progress_text(event, "zh_CN") == "正在下载 scikit-learn：总进度 59 / 147 MB，大约还需 8 秒"


def test_without_a_rate_or_a_total_no_time_is_promised() -> None:
    assert wording.progress_text(StepEvent("fetch", StepState.PROGRESS, 5_000_000, None, "bytes", 9.0)) == (
        "Downloading packages: 5.0 MB"
    )
    assert wording.progress_text(StepEvent("build", StepState.PROGRESS, 3, 5, "packages")) == (
        "Building the environment: 3 of 5 packages"
    )
    assert wording.progress_text(StepEvent("verify", StepState.PROGRESS)) == "Checking that everything works"


def test_a_step_of_a_later_version_keeps_its_own_title() -> None:
    assert wording.step_title("fetch", "x", "zh_CN") == "下载"
    assert wording.step_title("hibernate", "Hibernate") == "Hibernate"
    imports = StepEvent("verify", StepState.PROGRESS, 0, 214, "modules")
    assert wording.progress_text(imports) == "Importing the packages: 0 of 214 modules"
    assert wording.progress_text(imports, "zh_CN") == "正在导入依赖包：0 / 214 个模块"
    assert wording.doing_text(StepEvent("hibernate", StepState.STARTED)) == "hibernate"


def test_another_file_of_the_same_version_is_said_to_be_that() -> None:
    lines = wording.changes_lines(ChangesEvent(changed=(("tinya", "1.0", "1.0"), ("tinyb", "1.0", "2.0"))), "en")
    assert lines[1:] == ["  tinya 1.0: another file of the same version", "  tinyb 1.0 → 2.0"]


def test_a_summary_of_changes_leaves_out_what_there_is_none_of() -> None:
    new, gone = (("tinya", "1.0"),), (("tinyb", "1.0"), ("tinyc", "1.0"))
    assert wording.changes_summary(ChangesEvent(added=new), "en") == "What changes: 1 new."
    assert wording.changes_summary(ChangesEvent(added=new), "zh_CN") == "变化：新增 1 个。"
    assert wording.changes_summary(ChangesEvent(added=new, removed=gone), "en") == "What changes: 1 new, 2 removed."
    assert wording.changes_summary(ChangesEvent(removed=gone), "zh_CN") == "变化：移除 2 个。"


def test_where_only_a_program_changes_one_sentence_says_so() -> None:
    event = ChangesEvent(python=("3.12.7", "3.12.11"), uv=("0.13.2", "0.13.9"))
    told = "What changes: Python 3.12.7 → 3.12.11, uv 0.13.2 → 0.13.9. The packages stay."
    assert wording.changes_lines(event, "en") == [told]
    assert wording.changes_lines(replace(event, added=(("tinya", "1.0"),)), "en")[1:] == [
        "  Python 3.12.7 → 3.12.11",
        "  uv 0.13.2 → 0.13.9",
        "  + tinya 1.0",
    ]
