"""What a bundle brings to work with is looked at before anything is written: its uv and its interpreter's archive."""

from __future__ import annotations

import io
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.bundle.reading import open_bundle
from amlwizard.core.bundle.tools import check_tools
from amlwizard.core.errors import RefusedError
from amlwizard.core.moving import Moving, StoppedError
from tests.support.bundles import Draft, draft

if TYPE_CHECKING:
    from pathlib import Path

ARCHIVE = "python/cpython-3.11.9.tar.gz"
ELF = b"\x7fELF and so on"


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    """Return a member of an archive; a file has four bytes."""
    information = tarfile.TarInfo(name)
    information.type, information.linkname = kind, target
    information.size = 4 if kind == tarfile.REGTYPE else 0
    return information


def tar(*members: tarfile.TarInfo, mode: str = "w:gz") -> bytes:
    """Return an archive."""
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode=mode) as archive:  # type: ignore[call-overload]
        for each in members:
            archive.addfile(each, io.BytesIO(b"file"[: each.size]))
    return body.getvalue()


GOOD = (
    member("python", tarfile.DIRTYPE),
    member("python/bin/python3.11"),
    member("python/bin/python3", tarfile.SYMTYPE, "python3.11"),
    member("python/lib/a", tarfile.LNKTYPE, "python/bin/python3.11"),
    member("python/share/b", tarfile.SYMTYPE, "../lib/a"),
)


def made(**manifest: Any) -> Draft:
    """Return a bundle for Linux whose uv and interpreter look as they should."""
    content = draft(**manifest)
    content.files |= {"uv/uv": ELF, ARCHIVE: tar(*GOOD)}
    return content


def check(content: Draft, folder: Path) -> None:
    """Open a bundle, whose hashes are right, and look at its tools."""
    bundle = open_bundle(content.note().pack(folder / "a.amlbundle"))
    bundle.check(Moving())
    check_tools(bundle, Moving())


def refusal(content: Draft, folder: Path) -> str:
    """Return why a bundle is refused."""
    with pytest.raises(RefusedError) as caught:
        check(content, folder)
    return caught.value.code


@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w:bz2", "w"])
def test_a_sound_one_passes(tmp_path: Path, mode: str) -> None:
    content = made()
    content.files[ARCHIVE] = tar(*GOOD, mode=mode)
    check(content, tmp_path)


def test_each_system_has_its_own_programs(tmp_path: Path) -> None:
    name = "uv/uv-0.13.9-py3-none-win_amd64.whl"
    windows = made(platform="windows-x86_64", floor={}, uv={"version": "0.13.9", "file": name})
    del windows.files["uv/uv"]
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("uv-0.13.9.data/scripts/uv.exe", b"MZ and so on")
    windows.files[name] = wheel.getvalue()
    windows.manifest["files"].pop("uv/uv")
    assert refusal(windows, tmp_path) == "AML_BUNDLE_ARCHIVE"
    windows.files[ARCHIVE] = tar(member("python/python.exe"))
    check(windows, tmp_path)
    windows.files[name] = b"no wheel"
    assert refusal(windows, tmp_path) == "AML_BUNDLE_NO_PROGRAM"
    mac = made(platform="macos-arm64", floor={})
    assert refusal(mac, tmp_path) == "AML_BUNDLE_NO_PROGRAM"


@pytest.mark.parametrize("body", [b"", b"\n", b"MZ of another system"])
def test_a_uv_that_is_no_program_is_refused(tmp_path: Path, body: bytes) -> None:
    content = made()
    content.files["uv/uv"] = body
    assert refusal(content, tmp_path) == "AML_BUNDLE_NO_PROGRAM"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no archive at all" * 100,
        tar(*GOOD)[:60],
        tar(),
        tar(GOOD[0], member("python/bin/python3.12"), member("bin/python3.11")),
        tar(member("python/bin/python3.11", tarfile.DIRTYPE)),
    ],
    ids=["empty", "no tar", "cut", "nothing in it", "another version", "a folder"],
)
def test_an_archive_without_the_interpreter_is_refused(tmp_path: Path, body: bytes) -> None:
    content = made()
    content.files[ARCHIVE] = body
    assert refusal(content, tmp_path) == "AML_BUNDLE_ARCHIVE"


@pytest.mark.parametrize(
    "wrong",
    [
        member("../evil"),
        member("python/../../evil"),
        member("/evil"),
        member("python\\..\\..\\evil"),
        member("C:/evil"),
        member("python/pipe", tarfile.FIFOTYPE),
        member("python/device", tarfile.CHRTYPE),
        member("python/link", tarfile.SYMTYPE, "../../evil"),
        member("python/link", tarfile.SYMTYPE, "/evil"),
        member("python/link", tarfile.LNKTYPE, "../evil"),
    ],
    ids=lambda each: f"{each.name} {each.linkname}",
)
def test_an_archive_that_leads_out_is_refused(tmp_path: Path, wrong: tarfile.TarInfo) -> None:
    content = made()
    content.files[ARCHIVE] = tar(*GOOD, wrong)
    assert refusal(content, tmp_path) == "AML_BUNDLE_ARCHIVE_UNSAFE"


def test_a_cancel_ends_the_look(tmp_path: Path) -> None:
    bundle = open_bundle(made().note().pack(tmp_path / "a.amlbundle"))
    moving = Moving()
    moving.stop()
    with pytest.raises(StoppedError):
        check_tools(bundle, moving)
