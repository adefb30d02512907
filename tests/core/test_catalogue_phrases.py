"""Texts within texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from amlwizard.core.catalogue import Phrase, _texts, error_texts, message_keys, text
from amlwizard.core.errors import AmlError
from amlwizard.core.outcome import finished_event


def test_a_phrase_is_put_into_the_language_of_the_whole() -> None:
    error = AmlError("AML_UV_MISSING", path="/opt/uv", reason=Phrase("candidate.no_answer_in_time", {"seconds": 15}))
    assert error_texts(error, "en")[0] == "The uv that was named, /opt/uv, cannot be used: Did not answer in 15 s."
    assert error_texts(error, "zh_CN")[0] == "指定的 uv /opt/uv 无法使用：15 秒内没有响应。"


@pytest.mark.parametrize(
    ("number", "english", "chinese"),
    [(1, "1 package", "1 个依赖包"), (0, "0 packages", "0 个依赖包"), ("1,206", "1,206 packages", "1,206 个依赖包")],
)
def test_a_number_has_the_noun_that_goes_with_it(number: object, english: str, chinese: str) -> None:
    assert text("wording.amount.packages_so_far", "en", done=number) == english
    assert text("wording.amount.packages_so_far", "zh_CN", done=number) == chinese


def test_no_text_says_a_number_and_a_plural_that_one_does_not_fit() -> None:
    plural = re.compile(r"\{(?:count|number|packages|files|done|total)\} (?:packages|files|findings|lines|rows)\b")
    assert [key for key in sorted(message_keys()) if plural.search(_texts()[key]["en"])] == []


def test_what_is_longer_than_anyone_reads_is_cut() -> None:
    error = AmlError("AML_PACKAGE_NOT_FOUND", cause="short\n" + "x" * 100_000, host="h" * 100_000, detail="y" * 100_000)
    assert all(len(words) < 5000 for words in error_texts(error))
    event = finished_event(error, Path("/aml"), "en")
    assert len(event.message + event.hint + event.detail) < 10_000
    assert event.detail.endswith("…")
