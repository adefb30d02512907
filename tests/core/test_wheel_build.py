"""Unpacking of source archives; what is built from them is tested end to end."""

from __future__ import annotations

import io
import sys
import tarfile
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.errors import AmlError
from amlwizard.core.wheel_build import unpack

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["as it is", *(["before 3.11.4"] if sys.version_info < (3, 12) else [])], autouse=True)
def python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "before 3.11.4":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


def archive_of(folder: Path, *members: tuple[str, bytes, str]) -> Path:
    """Make an archive of names, kinds and where links lead; files hold their names."""
    path = folder / "made-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, kind, target in members:
            information = tarfile.TarInfo(name)
            information.type, information.linkname, information.mode = kind, target, 0o4777
            information.size = len(name) if kind == tarfile.REGTYPE else 0
            archive.addfile(information, io.BytesIO(name.encode()))
    return path


@pytest.mark.posix
def test_the_one_folder_is_returned_and_no_program_gets_rights_of_its_owner(tmp_path: Path) -> None:
    archive = archive_of(
        tmp_path,
        ("made-1.0", tarfile.DIRTYPE, ""),
        ("made-1.0/sub/setup.py", tarfile.REGTYPE, ""),
        ("pax", tarfile.REGTYPE, ""),
    )
    folder = unpack(archive, tmp_path / "out")
    assert folder == tmp_path / "out" / "made-1.0"
    assert (folder / "sub" / "setup.py").read_text() == "made-1.0/sub/setup.py"
    assert (folder / "sub" / "setup.py").stat().st_mode & 0o7022 == 0


@pytest.mark.parametrize("way", ["../outside", "through a link"])
def test_nothing_comes_outside(tmp_path: Path, way: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = ("made-1.0/link", tarfile.SYMTYPE, "../../elsewhere")
    members = (
        [("../outside", tarfile.REGTYPE, "")] if way == "../outside" else [link, ("made-1.0/link/x", tarfile.REGTYPE, "")]
    )
    with suppress(AmlError):  # or what would lie outside is left out
        unpack(archive_of(tmp_path, *members), tmp_path / "out")
    assert not (tmp_path / "outside").exists()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_what_is_no_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "made-1.0.tar.gz").write_text("a sign-in page")
    with pytest.raises(AmlError, match="AML_BUILD_FAILED"):
        unpack(tmp_path / "made-1.0.tar.gz", tmp_path / "out")
