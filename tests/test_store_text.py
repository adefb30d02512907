"""What the terminal shows of the store."""

from __future__ import annotations

from typing import Any

import pytest

from amlwizard.core.catalogue import LANGUAGES
from amlwizard.core.store.needs import NeededBy
from amlwizard.core.store.survey import StoreKind
from amlwizard.store_text import store_lines
from amlwizard.terminal import PlainReporter
from tests.support.store_contents import content_with


def shown(language: str = "en", **changes: Any) -> str:
    return "\n".join(store_lines(content_with(**changes), language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_and_every_reason_has_its_words(language: str) -> None:
    kinds = [
        {"kind": kind.value, "files": 2, "bytes": 2_000_000, "freeable_files": 1, "freeable_bytes": 1_000_000}
        for kind in StoreKind
    ]
    lacking = [
        {
            "file": f"{by}.whl",
            "name": "n",
            "version": "1",
            "size": 10,
            "found": None,
            "build": False,
            "needed_by": [by.value],
        }
        for by in NeededBy
    ]
    locks = [
        {"lock": which, "path": "/ws/p", "python": "3.11.7", "packages": 1, "bytes": 10, "lacking": 0, "error": ""}
        for which in ("current", "previous", "next")
    ]
    lines = store_lines(content_with(kinds=kinds, lacking=lacking, locks=locks), language)
    assert "store." not in "\n".join(lines)
    assert all(any(f"{by}.whl" in line for line in lines) for by in NeededBy)


def test_kinds_of_which_there_is_nothing_are_left_out_and_the_cache_is_not() -> None:
    text = shown()
    assert "packages" in text
    assert "source archives" not in text
    assert "60 MB shared with the environment" in text


def test_each_way_to_lack_something_is_told_apart() -> None:
    lack = {"file": "a.whl", "name": "a", "version": "1", "size": 3_100_000, "found": None, "build": False}
    text = shown(
        lacking=[
            {**lack, "needed_by": ["current", "previous"]},
            {**lack, "file": "b.whl", "found": 50, "needed_by": ["current"]},
            {**lack, "file": "", "name": "local", "size": None, "build": True, "needed_by": ["current"]},
        ]
    )
    rows = [line.split() for line in text.splitlines()]
    assert ["a.whl", "3.1", "MB", "missing", "present", "packages,", "undo"] in rows
    assert ["b.whl", "3.1", "MB", "damaged,", "50", "B", "are", "there", "present", "packages"] in rows
    assert ["local", "1", "size", "not", "known", "to", "be", "built", "present", "packages"] in rows


def test_a_partial_file_tells_how_far_it_is() -> None:
    part = {"path": "downloads/torch.whl.part", "size": 688_000_000, "total": 700_000_000, "needed_by": ["next"]}
    text = shown(partial=[part, {**part, "path": "downloads/x.part", "total": None, "needed_by": []}])
    assert "downloads/torch.whl.part  688 of 700 MB  chosen packages" in text
    assert text.splitlines()[-1].split() == ["downloads/x.part", "688", "MB", "not", "needed"]


def test_what_was_built_tells_its_source_and_whether_that_changed() -> None:
    text = shown(
        built=[
            {"name": "a", "version": "1", "file": "a.whl", "changed": False, "source": {"url": "git", "commit": "c" * 40}},
            {"name": "b", "version": "2", "file": "b.whl", "changed": True, "source": {"path": "/src/b"}},
        ]
    )
    assert f"a 1  git {'c' * 12}" in text
    assert "b 2  /src/b (changed since; it is built again)" in text


def test_a_long_list_is_cut_and_says_so() -> None:
    text = shown(freeable=[{"path": f"downloads/{n}.whl", "kind": "wheels", "size": 1} for n in range(45)])
    assert "downloads/19.whl" in text
    assert "downloads/20.whl" not in text
    assert "and 25 more" in text


def test_a_bundle_that_would_need_a_network_is_told_only_where_the_rest_is_complete() -> None:
    words = "needs a network once"
    assert words in shown(complete=True, bundle=False)
    assert words not in shown(complete=True, bundle=True)
    assert words not in shown(complete=False, bundle=False)


def test_a_lock_that_cannot_be_read_is_named() -> None:
    lock = {"lock": "previous", "path": "/ws/p.toml", "python": "", "packages": 0, "bytes": 0, "lacking": 0}
    assert "/ws/p.toml cannot be read (AML_LOCK_INVALID)" in shown(locks=[{**lock, "error": "AML_LOCK_INVALID"}])


def test_control_sequences_in_file_names_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    from amlwizard.core.events import StoreEvent
    from amlwizard.terminal import Output

    content = content_with(foreign=[{"path": "downloads/\x1b[31mred", "size": 1}])
    PlainReporter(Output(), "en").emit(StoreEvent(content))
    out = capsys.readouterr().out
    assert "downloads/\\x1b[31mred" in out
    assert "\x1b" not in out


def test_a_size_that_is_not_known_is_said_in_words() -> None:
    lock = {"lock": "next", "path": "/ws/p", "python": "3.11.7", "packages": 7, "bytes": None, "lacking": 7, "error": ""}
    text = shown(locks=[lock])
    assert "for Python 3.11.7, size not known; 7 not there" in text
    assert "?" not in text


def test_a_foreign_name_stays_on_its_line_and_steers_no_terminal() -> None:
    named = {"path": "downloads/a\nfreed: all\x1b[2J\udcff 名", "size": 3}
    text = shown(foreign=[named], freeable=[{**named, "kind": "wheels"}], partial=[{**named, "total": 5, "needed_by": []}])
    assert text.count("downloads/a\\nfreed: all\\x1b[2J\\xff 名") == 3
