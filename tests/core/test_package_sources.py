"""What a lock remembers of where packages came from, and what of it counts beside what is chosen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amlwizard.core.choices import Choices, IndexStrategy
from amlwizard.core.package_sources import PackageSources

INDEX = "https://index.example.org/simple"
OTHER = "https://other.example.org/simple"
EXTRA = ("https://extra.example.org/simple",)
LINKS = (str(Path("/srv/wheels").absolute()), "https://files.example.org/wheels")
NOTED = PackageSources(INDEX, EXTRA, IndexStrategy.UNSAFE_BEST_MATCH, LINKS)
PLAIN = Choices(Path("/srv/aml"))


def test_what_is_noted_comes_back_without_credentials() -> None:
    choices = replace(PLAIN, index_url=INDEX.replace("//", "//bob:secret@"), extra_index_urls=EXTRA, find_links=LINKS)
    table = PackageSources.of(replace(choices, index_strategy=IndexStrategy.UNSAFE_BEST_MATCH)).to_toml()
    assert "secret" not in str(table)
    assert PackageSources.noted(table) == NOTED
    assert PackageSources.of(PLAIN).to_toml() == {}


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, {}),
        ({"index_url": INDEX}, {}),
        ({"index_url": OTHER}, {"index_url": OTHER, "extra_index_urls": (), "index_strategy": None}),
        ({"extra_index_urls": (OTHER,)}, {"extra_index_urls": (OTHER,)}),
        ({"find_links": ("/mnt",)}, {"find_links": ("/mnt",)}),
        ({"index_strategy": IndexStrategy.FIRST_INDEX}, {"index_strategy": IndexStrategy.FIRST_INDEX}),
    ],
)
def test_what_is_chosen_goes_first_and_another_index_brings_no_extra_ones(
    chosen: dict[str, Any], expected: dict[str, Any]
) -> None:
    filled = NOTED.fill(replace(PLAIN, **chosen))
    assert PackageSources.of(filled) == replace(NOTED, **expected)
    assert not set(filled.remembered) & {place for value in chosen.values() for place in (value, *value)}


def test_what_was_taken_is_named() -> None:
    assert NOTED.fill(PLAIN).remembered == (INDEX, *EXTRA, *LINKS)
    assert NOTED.fill(replace(PLAIN, index_url=OTHER, find_links=("/mnt",))).remembered == ()


def test_what_the_organisation_fixed_stays_open() -> None:
    fixed = replace(PLAIN, fixed=frozenset({"index_url", "find_links"}))
    assert NOTED.fill(fixed) == fixed
    assert NOTED.fill(fixed).remembered == ()


@pytest.mark.parametrize(
    "table",
    [
        None,
        [],
        {"index-url": 7, "extra-index-urls": INDEX, "find-links": {}, "index-strategy": []},
        {"index-url": "nonsense", "extra-index-urls": ["", 3, "ftp://files.example.org/"], "index-strategy": "magic"},
        {"index-url": INDEX.replace("//", "//bob:secret@"), "find-links": ["--index-url", "wheels", "/srv\0"]},
    ],
)
def test_what_nobody_can_have_chosen_is_absent(table: object) -> None:
    assert PackageSources.noted(table) == PackageSources()
