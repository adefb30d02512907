"""A lock with additions, and the way back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from packaging.pylock import Pylock

from amlwizard.core.extended_lock import added_requirements, added_versions, extended, without_added
from amlwizard.core.top_level import TopLevel


def lock(*packages: dict[str, Any]) -> Pylock:
    """A lock of packages."""
    return Pylock.from_dict({"lock-version": "1.0", "created-by": "test", "packages": list(packages)})


def package(name: str, version: str = "1.0", sign: str = "0") -> dict[str, Any]:
    """A package with one wheel; ``sign`` fills its hash."""
    url = f"https://files.example.org/{name}-{version}-py3-none-any.whl"
    return {"name": name, "version": version, "wheels": [{"url": url, "hashes": {"sha256": sign * 64}}]}


BASE = lock(package("apple"), package("cherry"))


def test_what_is_there_in_the_same_version_stays_exactly_as_it_is() -> None:
    more = lock(package("apple", sign="f"), package("banana")).packages
    result = extended(BASE, more, ["banana"])
    assert [each.name for each in result.packages] == ["apple", "banana", "cherry"]
    assert result.packages[0] == BASE.packages[0]
    assert added_requirements(result) == ("banana",)


def test_additions_can_be_taken_out_again_exactly_also_after_the_lock_was_written() -> None:
    more = lock(package("banana"), package("cherry", "2.0")).packages
    result = Pylock.from_dict(extended(BASE, more, ["banana", "cherry==2.0"]).to_dict())
    assert [str(each.version) for each in result.packages] == ["1.0", "1.0", "2.0"]
    assert without_added(result) == BASE
    assert added_requirements(without_added(result)) == ()


def test_a_package_from_elsewhere_takes_the_place_of_that_from_an_index() -> None:
    archive = {"path": "../downloads/cherry-1.0-py3-none-any.whl", "hashes": {"sha256": "f" * 64}}
    more = lock({"name": "cherry", "version": "1.0", "archive": archive}).packages
    result = extended(BASE, more, ["cherry @ ../downloads/cherry-1.0-py3-none-any.whl"])
    assert result.packages[1].archive is not None
    assert without_added(result) == BASE


def test_a_lock_without_additions_stays_as_it_is() -> None:
    assert without_added(BASE) == BASE
    assert without_added(Pylock.from_dict({**BASE.to_dict(), "tool": {"other": {}}})).packages == BASE.packages


@pytest.mark.parametrize("value", [5, "text", {"a": 1}, [5, {"a": 1}], True])
def test_a_note_of_another_form_says_nothing(value: object) -> None:
    note = {"added": value, "brought": value, "replaced": value, "requirements": value, "constraints": value}
    noted = replace(BASE, tool={"amlwizard": note})
    assert added_requirements(noted) == ()
    assert added_versions(noted) == {}
    assert without_added(noted) == BASE
    assert TopLevel.carried_by(noted) == TopLevel()
