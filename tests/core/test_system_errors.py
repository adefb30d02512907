"""What the disk refuses, in words."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import amlwizard
from amlwizard.core.catalogue import error_texts
from amlwizard.core.system_errors import failure_from_system, not_written
from tests.support.namespaces import SmallFileSystem

if TYPE_CHECKING:
    from tests.support.namespaces import Circumstances

COPY = """
import shutil, sys
from pathlib import Path
from amlwizard.core.catalogue import error_texts
from amlwizard.core.system_errors import failure_from_system
try:
    shutil.copyfile(sys.argv[1], sys.argv[2])
except OSError as error:
    print(error_texts(failure_from_system(error, Path("/root-of-the-workspace")))[0])
"""


@pytest.mark.linux
def test_a_full_disk_is_told_of_what_was_to_be_written_and_not_of_its_source(
    tmp_path: Path, circumstances: type[Circumstances]
) -> None:
    source, small = tmp_path / "source", tmp_path / "small"
    source.write_bytes(bytes(1024 * 1024))
    small.mkdir()
    mounted = circumstances(file_systems=(SmallFileSystem(small, size_bytes=65536),))
    argv = mounted.command([sys.executable, "-c", COPY, str(source), str(small / "target")])
    done = subprocess.run(argv, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.stdout.strip() == f"The disk is full: {small / 'target'}: No space left on device", done.stderr


def test_an_error_without_a_file_names_the_workspace() -> None:
    found = failure_from_system(OSError(errno.ENOSPC, "No space left on device"), Path("ws"))
    assert found is not None
    assert error_texts(found)[0] == "The disk is full: ws: No space left on device"
    assert failure_from_system(shutil.Error("a message"), Path("ws")) is None


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "AML_NO_SPACE"), (errno.EACCES, "AML_CANNOT_WRITE")])
def test_b71_a_full_disk_is_told_as_that_whatever_was_to_be_written(number: int, code: str) -> None:
    error = not_written(Path("ws", "tools", "uv"), OSError(number, "a reason"))
    assert error.code == code
    assert str(Path("ws", "tools", "uv")) in error_texts(error)[0]
    assert "a reason" in error_texts(error)[0]


def test_b71_no_other_module_says_that_something_could_not_be_written() -> None:
    """As each of them would have to know a full disk."""
    package = Path(amlwizard.__file__).parent
    saying = [file.name for file in package.rglob("*.py") if 'Error("AML_CANNOT_WRITE"' in file.read_text(encoding="utf-8")]
    assert saying == ["system_errors.py"]
