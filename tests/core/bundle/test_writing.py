"""Writing a bundle: read back before it is put in place, and what was there before stays until then."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.bundle.contents import Contents, Interpreter, WishRecord
from amlwizard.core.bundle.reading import open_bundle, read_downloads
from amlwizard.core.bundle.taking import take_files
from amlwizard.core.bundle.uv_program import UvProgram
from amlwizard.core.bundle.writing import write_bundle
from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from amlwizard.core.lock import StoredWheel
from amlwizard.core.moving import Moving, StoppedError
from amlwizard.core.paths import Workspace
from amlwizard.core.wish import make_wish
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def contents(tmp_path: Path) -> Contents:
    """A wheel, a uv and an interpreter in a folder of their own."""
    store = tmp_path / "store"
    wheel = make_wheel(store, "tinya", tag="cp311-cp311-manylinux_2_28_x86_64")
    uv, archive = store / "uv", store / "cpython-3.11.9+20260101.tar.gz"
    uv.write_bytes(b"a program" * 1000)
    archive.write_bytes(b"an interpreter" * 1000)
    return Contents(
        platform="linux-x86_64",
        wish=WishRecord("profile", "default", "0123456789ab"),
        wheels=[StoredWheel("tinya", "1.0", wheel, wheel.stat().st_size, sha256_of(wheel))],
        uv=UvProgram(uv, "uv/uv", "0.13.9", sha256_of(uv)),
        interpreter=Interpreter("3.11.9", archive, sha256_of(archive), f'{{"key": {{"sha256": "{sha256_of(archive)}"}}}}'),
    )


def written(contents: Contents, out: Path, moving: Moving | None = None) -> str:
    """Write a bundle."""
    manifest, members = contents.lay_out()
    return write_bundle(out, manifest, members, moving or Moving())


def test_what_was_written_is_read(contents: Contents, tmp_path: Path) -> None:
    out = tmp_path / "名 a.amlbundle"
    moving = Moving()
    sha256 = written(contents, out, moving)
    assert sha256 == sha256_of(out)
    assert moving.done <= moving.total
    assert moving.done > out.stat().st_size
    bundle = open_bundle(out)
    assert bundle.check(Moving(), sha256) == sha256
    assert bundle.manifest.floor.glibc == (2, 28)
    assert bundle.manifest.archive == "python/cpython-3.11.9+20260101.tar.gz"
    assert read_downloads(bundle)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [out.name]


def test_the_lock_inside_says_for_which_accelerator_it_was_resolved(contents: Contents, tmp_path: Path) -> None:
    out, choices = tmp_path / "a.amlbundle", Choices(root=tmp_path / "aml", bundle=tmp_path / "a.amlbundle")
    written(contents, out)
    assert open_bundle(out).lock.tool is None
    for named, known in (("cpu", "cpu"), ("--no-such-thing", None)):
        written(replace(contents, accelerator=named), out)
        assert open_bundle(out).lock.tool == {"amlwizard": {"accelerator": named}}
        assert make_wish(choices, Workspace(choices.root), {}).accelerator == known


def test_the_same_content_makes_the_same_file(contents: Contents, tmp_path: Path) -> None:
    manifest, members = contents.lay_out()
    made = [write_bundle(tmp_path / name, manifest, members, Moving()) for name in ("a", "b")]
    assert made[0] == made[1]


@pytest.mark.parametrize("change", ["content", "shorter", "gone"])
def test_a_file_that_changed_meanwhile_makes_no_bundle(contents: Contents, tmp_path: Path, change: str) -> None:
    out = tmp_path / "a.amlbundle"
    out.write_text("an older one")
    manifest, members = contents.lay_out()
    wheel = contents.wheels[0].path
    if change == "gone":
        wheel.unlink()
    else:
        body = wheel.read_bytes()
        wheel.write_bytes(body[:-1] if change == "shorter" else bytes([body[0] ^ 1]) + body[1:])
    with pytest.raises(AmlError) as caught:
        write_bundle(out, manifest, members, Moving())
    assert caught.value.code == ("AML_BUNDLE_WRITE" if change == "gone" else "AML_BUNDLE_SOURCE")
    assert out.read_text() == "an older one"
    assert not out.with_name("a.amlbundle.part").exists()


def test_a_disk_without_room_is_told_before_anything_is_written(contents: Contents, tmp_path: Path) -> None:
    manifest, members = contents.lay_out()
    huge = [replace(members[0], record=replace(members[0].record, size=1 << 60)), *members[1:]]
    with pytest.raises(AmlError) as caught:
        write_bundle(tmp_path / "a.amlbundle", manifest, huge, Moving())
    assert caught.value.code == "AML_BUNDLE_SPACE"
    assert not list(tmp_path.glob("a.amlbundle*"))


@pytest.mark.linux
def test_a_disk_that_is_full_is_told(contents: Contents, tmp_path: Path) -> None:
    out = tmp_path / "a.amlbundle"
    (tmp_path / "a.amlbundle.part").symlink_to("/dev/full")
    with pytest.raises(AmlError) as caught:
        written(contents, out)
    assert caught.value.code == "AML_BUNDLE_WRITE"
    assert os.strerror(28) in str(caught.value.arguments["reason"])
    assert not out.exists()


def test_a_cancel_stops_the_writing_and_leaves_nothing(contents: Contents, tmp_path: Path) -> None:
    out = tmp_path / "a.amlbundle"
    out.write_text("an older one")
    moving = Moving()
    moving.stop()
    with pytest.raises(StoppedError):
        written(contents, out, moving)
    assert out.read_text() == "an older one"
    assert not out.with_name("a.amlbundle.part").exists()


def test_files_are_taken_out_once_and_only_right_ones(contents: Contents, tmp_path: Path) -> None:
    out = tmp_path / "a.amlbundle"
    written(contents, out)
    bundle = open_bundle(out)
    entry = bundle.wheels[0].entry
    target = tmp_path / "downloads" / bundle.wheels[0].filename
    target.parent.mkdir()
    target.write_bytes(b"damaged")
    take_files(bundle, {entry: target}, Moving())
    assert sha256_of(target) == bundle.wheels[0].sha256
    stamp = target.stat().st_mtime_ns
    take_files(bundle, {entry: target}, Moving())
    assert target.stat().st_mtime_ns == stamp
    target.unlink()
    body = bytearray(out.read_bytes())
    body[bundle.container.offsets[entry] + 5] ^= 1  # type: ignore[union-attr]
    out.write_bytes(body)
    with pytest.raises(AmlError) as caught:
        take_files(bundle, {entry: target}, Moving())
    assert caught.value.code == "AML_BUNDLE_DAMAGED"
    assert list(target.parent.iterdir()) == []
