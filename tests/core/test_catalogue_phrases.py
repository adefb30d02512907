"""Texts within texts."""

from __future__ import annotations

from amlwizard.core.catalogue import Phrase, error_texts
from amlwizard.core.errors import AmlError


def test_a_phrase_is_put_into_the_language_of_the_whole() -> None:
    error = AmlError("AML_UV_MISSING", path="/opt/uv", reason=Phrase("candidate.no_answer_in_time", {"seconds": 15}))
    assert error_texts(error, "en")[0] == "The uv that was named, /opt/uv, cannot be used: Did not answer in 15 s."
    assert error_texts(error, "zh_CN")[0] == "指定的 uv /opt/uv 无法使用：15 秒内没有响应。"
