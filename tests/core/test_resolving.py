"""The lock that pip's report turns into."""

from __future__ import annotations

import json
from typing import Any

import pytest
from packaging.utils import canonicalize_name

from amlwizard.core.errors import AmlError
from amlwizard.core.pip_report import lock_from_report


def _item(name: str, **archive_info: Any) -> dict[str, Any]:
    url = f"https://files.example.org/{canonicalize_name(name).replace('-', '_')}-1.0-py3-none-any.whl"
    return {
        "download_info": {"url": url, "archive_info": archive_info},
        "metadata": {"name": name, "version": "1.0"},
    }


def test_names_are_spelt_as_a_lock_wants_them() -> None:
    hashes = {"sha256": "0" * 64}
    report = {"install": [_item("Zope.Interface__more", hashes=hashes), _item("attrs", hashes=hashes)]}
    lock = lock_from_report(json.dumps(report))
    assert [package.name for package in lock.packages] == ["attrs", "zope-interface-more"]


def test_what_pip_knows_no_hash_of_is_refused() -> None:
    with pytest.raises(AmlError, match="AML_NO_HASH"):
        lock_from_report(json.dumps({"install": [_item("attrs")]}))


@pytest.mark.parametrize(
    "report",
    [
        "",
        "[" * 100_000,
        "[]",
        '{"install": [{}]}',
        '{"install": [{"download_info": [], "metadata": {}}]}',
        json.dumps({"install": [_item("attrs", hashes={"sha256": 5})]}),
        json.dumps(
            {"install": [{**_item("attrs", hashes={"sha256": "0"}), "metadata": {"name": "attrs", "version": "?"}}]}
        ),
    ],
)
def test_what_is_no_report_is_refused_in_words(report: str) -> None:
    with pytest.raises(AmlError, match="pip ended with an error: its report"):
        lock_from_report(report)
