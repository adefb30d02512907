"""Several bad lines of requirements files, told at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import error_texts
from amlwizard.core.errors import RefusedError
from amlwizard.core.outcome import finished_event
from amlwizard.core.refused_lines import MOST_REFUSALS, TOLD
from amlwizard.core.requirements import parse_closure

if TYPE_CHECKING:
    from pathlib import Path


def refusal(folder: Path, text: str, **files: str) -> RefusedError:
    for name, content in files.items():
        (folder / f"{name}.txt").write_text(content, encoding="utf-8")
    path = folder / "requirements.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RefusedError) as caught:
        parse_closure(path, {}, with_uv=True)
    return caught.value


def test_each_bad_line_is_told_with_its_number_file_and_reason(tmp_path: Path) -> None:
    error = refusal(
        tmp_path,
        "tinya\ntinyb >>> 1\n-r more.txt\n-r nowhere.txt\ntinyc --hash=md5:1\n${UNSET}/x.whl\ntinyd -C a=b\n",
        more="tinye\ntiny f\n",
    )
    assert error.code == "AML_REQUIREMENTS_BAD_LINE"
    top, more = str(tmp_path / "requirements.txt"), str(tmp_path / "more.txt")
    event = finished_event(error, None, "en")
    assert [(line["file"], line["line"], line["code"]) for line in event.to_json()["lines"]] == [
        (top, 2, "AML_REQUIREMENTS_BAD_LINE"),
        (more, 2, "AML_REQUIREMENTS_BAD_LINE"),
        (top, 4, "AML_REQUIREMENTS_INCLUDE_MISSING"),
        (top, 5, "AML_REQUIREMENTS_HASH"),
        (top, 6, "AML_REQUIREMENTS_VARIABLE"),
        (top, 7, "AML_REQUIREMENTS_OPTION"),
    ]
    assert event.message.split("\n") == [line["message"] for line in event.to_json()["lines"]]
    assert f"Line 2 of {more} cannot be read: tiny f (" in event.message
    assert f"{top} 第 6 行使用的环境变量 UNSET 未设置。" in error_texts(error, "zh_CN")[0]


def test_one_bad_line_is_told_as_it_always_was(tmp_path: Path) -> None:
    event = finished_event(refusal(tmp_path, "tinya\ntiny b\n"), None, "en")
    assert "lines" not in event.to_json()
    assert "\n" not in event.message


def test_a_file_that_is_included_twice_is_told_once(tmp_path: Path) -> None:
    error = refusal(tmp_path, "-r more.txt\n-c more.txt\n", more="tiny a\n")
    assert "lines" not in finished_event(error, None, "en").to_json()


def test_only_the_first_are_told_one_by_one(tmp_path: Path) -> None:
    error = refusal(tmp_path, "".join(f"tiny {number}\n" for number in range(TOLD + 3)))
    assert len(finished_event(error, None, "en").lines) == TOLD
    assert error_texts(error)[0].split("\n")[TOLD:] == ["And 3 more lines of this kind."]
    assert error_texts(error, "zh_CN")[0].endswith("\n另有 3 行存在此类问题。")


def test_what_is_no_requirements_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    error = refusal(tmp_path, "no requirement\n" + "".join(f"tiny {number}\n" for number in range(2 * MOST_REFUSALS)))
    assert error_texts(error)[0].endswith(f"\nAnd {MOST_REFUSALS - TOLD}+ more lines of this kind.")


def test_each_line_without_a_hash_and_each_double_pin_is_told(tmp_path: Path) -> None:
    hashed = f"tinya==1 --hash=sha256:{'a' * 64}\n"
    event = finished_event(refusal(tmp_path, hashed + "tinyb==1\ntinyc==1\ntinyc==2\n"), None, "en")
    assert [(line["code"], line["line"]) for line in event.lines] == [
        ("AML_REQUIREMENTS_CONFLICT", 4),
        ("AML_REQUIREMENTS_PARTIAL_HASHES", 2),
        ("AML_REQUIREMENTS_PARTIAL_HASHES", 3),
        ("AML_REQUIREMENTS_PARTIAL_HASHES", 4),
    ]
