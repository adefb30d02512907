"""Names that hold anything are shown on one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts, text
from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_text import plain_text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("环境 étude　1.py", "环境 étude　1.py"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("exe.\u202egpj", "exe.\\u202egpj"),
        ("exe.\u061cgpj", "exe.\\u061cgpj"),
        ("\udcff.py", "\\xff.py"),
    ],
)
def test_what_a_reader_does_not_see_is_escaped(name: str, shown: str) -> None:
    assert plain_text(name) == shown
    for language in LANGUAGES:
        assert shown in text("added.files_kept", language, files=name)
        message, _ = error_texts(RefusedError("AML_REQUIREMENTS_MISSING", file=Path(name)), language)
        assert f"{shown}" in message
        assert "\n" not in message
