"""Texts within texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from amlwizard.core.catalogue import (
    Phrase,
    ToolText,
    _texts,
    error_texts,
    message_keys,
    message_phrase,
    placeholders,
    text,
)
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


NOT_OF_A_TOOL = {
    "AML_STORE_LOCK_UNREADABLE.message",
    "AML_STORE_UNREADABLE.message",
    "AML_WINDOW_FAULT.message",
    "store.cache_kept",
    "store.lock_unreadable",
}
"""Texts whose cause are a few words of the system, or a sentence of ours."""


def with_cause(cause: object) -> list[tuple[str, str]]:
    keys = sorted(key for key in message_keys() - NOT_OF_A_TOOL if "cause" in placeholders(key))
    return [(key, text(key, "zh_CN", **(dict.fromkeys(placeholders(key), "甲") | {"cause": cause}))) for key in keys]


def test_what_a_tool_says_stands_in_chinese_as_a_quotation_on_a_line_of_its_own() -> None:
    told = with_cause(ToolText("Because a needs b, it is impossible."))
    assert len(told) > 20
    wrong = [key for key, words in told if not words.endswith("。\nuv 的原话：Because a needs b, it is impossible.")]
    assert wrong == []


def test_what_is_told_in_chinese_is_no_quotation() -> None:
    for key, words in with_cause(Phrase("added.not_in_store")):
        assert words.endswith(f"。{text('added.not_in_store', 'zh_CN')}"), key


def test_what_a_tool_says_goes_on_in_english_as_it_is() -> None:
    error = AmlError("AML_PERMISSION", cause=ToolText("access denied"))
    assert error_texts(error)[0] == "The system refused access: access denied"
    assert text("AML_NO_SPACE.message", "zh_CN", cause=ToolText("/a: full", "")) == "磁盘已满。\n系统的原话：/a: full"


def test_an_error_within_another_keeps_its_quotation() -> None:
    inner = AmlError("AML_CONFLICT", cause=ToolText("ResolutionImpossible", "pip"))
    outer = AmlError("AML_ADD_CONFLICT", packages="tinya", cause=message_phrase(inner))
    assert (
        error_texts(outer, "zh_CN")[0] == "tinya 与现有依赖包不兼容。依赖要求相互矛盾。\npip 的原话：ResolutionImpossible"
    )
