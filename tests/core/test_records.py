"""Our own records, with what paths and people may put into them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from amlwizard.core.records import read_record, write_record


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
