"""A file of ours is replaced and removed although somebody reads it, which Windows refuses as long as that goes on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core import held_files
from amlwizard.core.records import write_record

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_record_is_written_and_removed_once_its_reader_has_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    write_record(path, {"number": 0})
    for change in (lambda: write_record(path, {"number": 1}), lambda: held_files.remove_file(path)):
        with path.open("rb") as reader:
            monkeypatch.setattr(held_files.time, "sleep", lambda _seconds, reader=reader: reader.close())
            change()
            assert reader.closed is (os.name == "nt")  # elsewhere nobody has to wait for it
    assert list(tmp_path.iterdir()) == []


class FakeWindows:
    """Refuses as Windows does, so many times; what is refused elsewhere comes without its number."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int, number: int | None) -> None:
        self.left = times
        self._number = number
        for name in ("replace", "unlink"):
            monkeypatch.setattr(Path, name, self._refusing(getattr(Path, name)))

    def _refusing(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            if self.left:
                self.left -= 1
                error = PermissionError(13, "Access denied")
                if self._number is not None:
                    error.winerror = self._number  # type: ignore[attr-defined,unused-ignore]
                raise error
            return real(*arguments)

        return call


@pytest.mark.parametrize("number", [5, 32])
def test_it_is_tried_again_until_the_reader_has_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    (tmp_path / "part").write_text("new")
    (tmp_path / "file").write_text("old")
    system = FakeWindows(monkeypatch, 3, number)
    held_files.replace_file(tmp_path / "part", tmp_path / "file")
    assert (system.left, (tmp_path / "file").read_text()) == (0, "new")
    system.left = 3
    held_files.remove_file(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_who_reads_on_is_not_waited_for_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_files, "_LONGEST_SECONDS", 0.0)
    system = FakeWindows(monkeypatch, 1_000_000, 5)
    with pytest.raises(PermissionError):
        held_files.remove_file(tmp_path / "file")
    assert system.left < 1_000_000


@pytest.mark.posix
def test_a_refusal_for_another_reason_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = FakeWindows(monkeypatch, 2, None)
    with pytest.raises(PermissionError):
        held_files.remove_file(tmp_path / "file")
    assert system.left == 1
