"""Our own records, with what paths and people may put into them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from amlwizard.core.environment.marker import read_marker
from amlwizard.core.interpreters import origins
from amlwizard.core.paths import Workspace
from amlwizard.core.records import read_record, write_record
from amlwizard.core.run_record import read_run_record

NO_NAMES = ["a\0b", *([] if os.name == "nt" else ["\ud800"])]
"""What the name of no file can be; Windows takes halves of characters."""


@pytest.mark.posix
def test_a_path_whose_bytes_are_no_text_is_kept(tmp_path: Path) -> None:
    path = os.fsdecode(b"/data/caf\xe9")
    write_record(tmp_path / "x.json", {"root": path, "name": "环境"})
    assert read_record(tmp_path / "x.json") == {"format": 1, "root": path, "name": "环境"}
    assert Path(str((read_record(tmp_path / "x.json") or {})["root"])).name == Path(path).name


def test_other_text_is_written_as_it_is_read(tmp_path: Path) -> None:
    write_record(tmp_path / "x.json", {"name": "环境"})
    assert "环境" in (tmp_path / "x.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["[" * 100_000, json.dumps({"format": "1"}), '{"format": ' + "1" * 5000 + "}"])
def test_what_is_no_record_counts_as_absent(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    assert read_record(tmp_path / "x.json") is None


@pytest.mark.parametrize("name", ["../../keep.txt", "/keep.txt", "..", "", *NO_NAMES, "a/b"])
def test_an_archive_is_a_file_of_the_store_and_nothing_elsewhere(tmp_path: Path, name: str) -> None:
    workspace = Workspace(tmp_path)
    entry = {"version": "3.11.9", "archive": "x.tar.gz", "sha256": "0" * 64, "key": "k", "entry": {}}
    for interpreters in ({"cpython-3.11.9": {**entry, "archive": name}}, {name: entry}):
        write_record(workspace.python_record, {"interpreters": {**interpreters, "other": entry}})
        assert set(origins(workspace)) == {"other"}


@pytest.mark.parametrize(
    "change",
    [{"pid": float("inf")}, {"pid": "x"}, {"born": 10**400}, {"folders": 5}, {"tag": ""}, {"boot": {}}, {"since": None}],
)
def test_a_record_of_a_run_with_odd_values_counts_as_absent(tmp_path: Path, change: dict[str, object]) -> None:
    right = {"tag": "t", "pid": 5, "boot": "b", "born": 1.5, "machine": "m", "command": "c", "since": "s", "root": "/r"}
    write_record(tmp_path / "run.json", {**right, "shared": False, "folders": ["/a", 5, *NO_NAMES]})
    record = read_run_record(tmp_path)
    assert record is not None
    assert record.folders == (Path("/a"),)
    write_record(tmp_path / "run.json", {**right, "shared": False, "folders": [], **change})
    assert read_run_record(tmp_path) is None


@pytest.mark.parametrize("root", [*NO_NAMES, 5, None])
def test_a_marker_that_names_no_place_counts_as_absent(tmp_path: Path, root: object) -> None:
    values = {"root": root, "python": "3.11.9", "lock": "0" * 64, "build": "b", "created": "now"}
    write_record(tmp_path / ".aml-ok-0123456789ab", values)
    assert read_marker(tmp_path) is None
