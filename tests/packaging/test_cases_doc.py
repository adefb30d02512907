"""docs/cases.md lists every case once, with tests that there are."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = (
    *(1, 3, 4, 6, 8, 10, 12, 15, 17, 19, 21, 24, 25, 26, 27, 28, 29, 33, 36, 37, 39, 40, 44),
    *(46, 47, 48, 49, 52, 54, 55, 57, 61, 62, 63, 65, 66, 69, 70, 71, 72),
    *(78, 81, 83, 86, 87, 88, 90, 91, 94, 96, 97, 100, 103, 104, 105, 107),
)


@pytest.fixture(scope="module")
def cases_doc() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cases_doc", ROOT / "packaging" / "cases_doc.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["cases_doc"] = module
    spec.loader.exec_module(module)
    return module


def test_every_case_is_listed_once_with_the_tests_that_carry_its_number(cases_doc: Any) -> None:
    text = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
    listed = cases_doc.cases(text)
    assert tuple(listed) == tuple(f"B{number:02}" for number in NUMBERS)
    assert len(listed) == 56
    assert cases_doc.render(text) == text, "python3 packaging/cases_doc.py writes it anew"
    tests = cases_doc.numbered_tests()
    assert tests.keys() == listed.keys()


def test_a_case_that_is_listed_twice_is_an_error(cases_doc: Any) -> None:
    row = "| B01 | a | b | |\n"
    assert cases_doc.cases(row) == {"B01": ""}
    with pytest.raises(ValueError, match="twice"):
        cases_doc.cases(row * 2)
