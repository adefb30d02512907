"""Pipes, folders and devices in the place of files: nothing waits for them, and nothing counts as read."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.detection.interpreter import environment_base
from amlwizard.core.environment.layout import read_pyvenv_cfg
from amlwizard.core.environment.record_check import check_records
from amlwizard.core.errors import RefusedError
from amlwizard.core.lock import read_lock
from amlwizard.core.plain_files import exists, is_file, is_folder, read_plain, read_plain_text
from amlwizard.core.records import read_record
from amlwizard.core.requirement_files import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import FrameType

pytestmark = pytest.mark.skipif(os.name == "nt", reason="named pipes in folders")


def put_folder(path: Path) -> None:
    path.mkdir()


def put_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def put_pipe(path: Path) -> None:
    os.mkfifo(path)


NO_FILES = [put_pipe, put_folder, put_device]


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    """A read that waits for ever is a failure, not a test run that waits for ever."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        pytest.fail("the read waited")

    former = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, former)


def test_a_file_and_a_link_to_one_are_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes("\ufeffone\r\ntwo\rthree\n".encode())
    link = tmp_path / "link"
    link.symlink_to(file)
    assert read_plain(link) == file.read_bytes()
    assert read_plain_text(link, "utf-8-sig") == "one\ntwo\nthree\n"


@pytest.mark.parametrize("put", NO_FILES)
def test_what_is_no_file_is_refused(tmp_path: Path, put: Callable[[Path], None]) -> None:
    put(tmp_path / "x")
    with pytest.raises(OSError, match=r"regular file|directory"):
        read_plain(tmp_path / "x")


@pytest.mark.parametrize("put", NO_FILES)
def test_no_reader_waits(tmp_path: Path, put: Callable[[Path], None]) -> None:
    record, lock, requirements = tmp_path / "uv.json", tmp_path / "pylock.toml", tmp_path / "requirements.txt"
    environment = tmp_path / "env"
    metadata = environment / "lib" / "python3.11" / "site-packages" / "demo-1.dist-info"
    metadata.mkdir(parents=True)
    for path in (record, lock, requirements, environment / "pyvenv.cfg", metadata / "RECORD"):
        put(path)
    assert read_record(record) is None
    for read in (read_lock, read_source):
        with pytest.raises(RefusedError):
            read(lock if read is read_lock else requirements)
    assert read_pyvenv_cfg(environment) is None
    assert environment_base(environment / "bin" / "python") is None
    assert [finding.key for finding in check_records(environment).problems] == ["verify.record_missing"]


def test_a_name_that_no_file_can_have_is_not_there(tmp_path: Path) -> None:
    for name in ("x" * 5000, "a\0b"):
        assert not any(there(tmp_path / name) for there in (exists, is_file, is_folder))
        with pytest.raises(OSError, match=r"path|too long"):
            read_plain(tmp_path / name)
    assert exists(tmp_path)
    assert is_folder(tmp_path)
