"""What is wrong with a bundle is found, told by its own code, before anything is written (DESIGN section 9)."""

from __future__ import annotations

import json
import os
import random
import struct
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.bundle.container import DIRECTORY_LIMIT
from amlwizard.core.bundle.reading import open_bundle, read_downloads
from amlwizard.core.catalogue import error_texts
from amlwizard.core.errors import AmlError, ExitCode, RefusedError
from amlwizard.core.facts import Host
from amlwizard.core.moving import Moving
from tests.support.bundles import LOCK, WHEEL, Draft, draft, entry, patch_central
from tests.support.wheels import sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable


def refusal(path: Path, sha256: str | None = None) -> RefusedError:
    """Open and check a bundle, which must be refused by one plain sentence in both languages."""
    with pytest.raises(RefusedError) as caught:
        open_bundle(path).check(Moving(), sha256)
    error = caught.value
    if sha256 is None:  # an installation reads no more than the files
        with pytest.raises(RefusedError) as again:
            open_bundle(path).check_files(Moving())
        assert (again.value.code, again.value.arguments) == (error.code, error.arguments)
    assert error.exit_code is ExitCode.REFUSED
    for language in ("en", "zh_CN"):
        message, hint = error_texts(error, language)
        assert message
        assert hint
        assert "\n" not in message
        assert "?" not in message  # every value of the sentence is there
    return error


def test_a_sound_bundle_is_read(tmp_path: Path) -> None:
    path = draft().pack(tmp_path / "a.amlbundle")
    bundle = open_bundle(path)
    moving = Moving()
    assert bundle.check(moving) == sha256_of(path)
    assert moving.done == path.stat().st_size
    of_files = Moving()
    bundle.check_files(of_files)
    assert of_files.done == bundle.manifest.content_bytes
    assert bundle.check(Moving(), sha256_of(path).upper()) == sha256_of(path)
    assert [(wheel.name, wheel.version, wheel.entry) for wheel in bundle.wheels] == [("tinya", "1.0", WHEEL)]
    assert bundle.manifest.python == "3.11.9"
    assert bundle.manifest.minor == "3.11"
    assert bundle.manifest.floor.glibc == (2, 28)
    assert list(read_downloads(bundle)) == ["cpython-3.11.9-linux-x86_64-gnu"]


def test_a_manifest_says_the_same_after_it_was_written(tmp_path: Path) -> None:
    bundle = open_bundle(draft().pack(tmp_path / "a.amlbundle"))
    again = draft()
    again.manifest = json.loads(bundle.manifest.text())
    assert open_bundle(again.pack(tmp_path / "b.amlbundle")).manifest == bundle.manifest


def test_a_folder_with_the_same_content_is_read(tmp_path: Path) -> None:
    folder = draft().lay_out(tmp_path / "离线 bundle é")
    bundle = open_bundle(folder)
    assert bundle.check(Moving()) is None
    assert [wheel.name for wheel in bundle.wheels] == ["tinya"]


def test_a_bundle_that_was_packed_again_from_its_folder_is_read(tmp_path: Path) -> None:
    made = draft()
    made.extra = [(entry(f"{folder}/", mode=0o040755), b"") for folder in ("wheels", "uv", "python")]
    open_bundle(made.pack(tmp_path / "a.amlbundle")).check(Moving())


def test_entries_with_the_headers_of_huge_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.amlbundle"
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in draft().all_files().items():
            with archive.open(entry(name), "w", force_zip64=True) as stream:
                stream.write(body)
    open_bundle(path).check(Moving())


# -- names


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "wheels/../../evil",
        "wheels/..",
        "/etc/evil",
        "//server/share/evil",
        "C:/evil",
        "C:evil",
        "\\\\server\\share\\evil",
        "wheels\\evil.whl",
        "wheels/evil.whl:stream",
        "wheels//evil.whl",
        "./evil",
        "wheels/evil.whl.",
        "wheels/evil.whl ",
        "wheels /evil.whl",
        "manifest.json\0.whl",
    ],
)
def test_a_name_that_leads_outside(tmp_path: Path, name: str) -> None:
    made = draft()
    made.extra = [(entry(name), b"evil")]
    assert refusal(made.pack(tmp_path / "a.amlbundle")).code == "AML_BUNDLE_OUTSIDE"


@pytest.mark.parametrize("name", ["wheels/CON", "wheels/nul.whl", "uv/com1.exe", "AUX", "wheels/LPT9.a.whl", "uv/CONOUT$"])
def test_the_name_of_a_device(tmp_path: Path, name: str) -> None:
    made = draft()
    made.extra = [(entry(name), b"evil")]
    assert refusal(made.pack(tmp_path / "a.amlbundle")).code == "AML_BUNDLE_DEVICE_NAME"


@pytest.mark.parametrize("mode", [0o120777, 0o010644, 0o020644, 0o060644, 0o140644])
def test_a_link_or_a_device_as_an_entry(tmp_path: Path, mode: int) -> None:
    made = draft()
    made.extra = [(entry("wheels/link.whl", mode=mode), b"../../etc/passwd")]
    assert refusal(made.pack(tmp_path / "a.amlbundle")).code == "AML_BUNDLE_LINK"


def test_an_entry_that_is_there_twice(tmp_path: Path) -> None:
    made = draft()
    made.extra = [(entry(WHEEL), b"another")]
    assert refusal(made.pack(tmp_path / "a.amlbundle")).code == "AML_BUNDLE_TWICE"


@pytest.mark.parametrize(
    "names", [("wheels/TINYA-1.0-py3-none-any.whl",), ("Manifest.JSON",), ("wheels/e\u0301", "wheels/\u00e9"), ("wheels",)]
)
def test_names_that_are_one_file_on_many_systems(tmp_path: Path, names: tuple[str, ...]) -> None:
    made = draft()
    made.extra = [(entry(name), b"another") for name in (*names, *(["wheels/"] if names == ("wheels",) else []))]
    assert refusal(made.pack(tmp_path / "a.amlbundle")).code == "AML_BUNDLE_CASE"


def test_a_name_that_would_steer_the_terminal_is_shown_tamed(tmp_path: Path) -> None:
    made = draft()
    made.extra = [(entry("../\x1b[31m" + "x" * 500), b"")]
    shown = str(refusal_text(made.pack(tmp_path / "a.amlbundle")))
    assert "\x1b" not in shown
    assert len(shown) < 300


def refusal_text(path: Path) -> str:
    """Return the sentence by which a bundle is refused."""
    with pytest.raises(RefusedError) as caught:
        open_bundle(path)
    return error_texts(caught.value)[0]


# -- sizes


def test_a_compressed_entry(tmp_path: Path) -> None:
    path = draft().pack(tmp_path / "a.amlbundle", compress=[WHEEL])
    assert refusal(path).code == "AML_BUNDLE_COMPRESSED"


def test_an_encrypted_entry(tmp_path: Path) -> None:
    def encrypt(body: bytearray, position: int) -> None:
        body[position + 8] |= 1

    path = patch_central(draft().pack(tmp_path / "a.amlbundle"), WHEEL, encrypt)
    assert refusal(path).code == "AML_BUNDLE_COMPRESSED"


@pytest.mark.parametrize(("offset", "value"), [(20, 10), (24, 1 << 31), (24, 0)])
def test_declared_sizes_that_contradict_each_other(tmp_path: Path, offset: int, value: int) -> None:
    def lie(body: bytearray, position: int) -> None:
        struct.pack_into("<I", body, position + offset, value)

    path = patch_central(draft().pack(tmp_path / "a.amlbundle"), WHEEL, lie)
    assert refusal(path).code == "AML_BUNDLE_BOMB"


@pytest.mark.parametrize("value", [1 << 31, 10])
def test_declared_sizes_that_are_not_the_real_ones(tmp_path: Path, value: int) -> None:
    def lie(body: bytearray, position: int) -> None:
        struct.pack_into("<II", body, position + 20, value, value)

    path = patch_central(draft().pack(tmp_path / "a.amlbundle"), WHEEL, lie)
    assert refusal(path).code == "AML_BUNDLE_BOMB"


def test_entries_that_share_their_bytes(tmp_path: Path) -> None:
    made = draft()
    big = b"0" * 100_000
    made.files |= {f"wheels/tinya-{number}.0-py3-none-any.whl": big for number in range(2, 12)}
    path = made.note().pack(tmp_path / "a.amlbundle")
    with zipfile.ZipFile(path) as archive:
        first = archive.getinfo("wheels/tinya-2.0-py3-none-any.whl").header_offset

    def share(body: bytearray, position: int) -> None:
        struct.pack_into("<I", body, position + 42, first)

    patch_central(path, "wheels/tinya-3.0-py3-none-any.whl", share)
    assert refusal(path).code in {"AML_BUNDLE_BOMB", "AML_BUNDLE_DAMAGED"}  # the name there is another one


def test_an_entry_that_lies_inside_another_one(tmp_path: Path) -> None:
    """The quoted kind of bomb: the bytes of one entry are a whole entry themselves."""
    inner = draft().pack(tmp_path / "inner.zip").read_bytes()
    made = draft()
    made.files["wheels/outer-1.0-py3-none-any.whl"] = inner
    path = made.note().pack(tmp_path / "a.amlbundle")
    with zipfile.ZipFile(path) as archive:
        outer = archive.getinfo("wheels/outer-1.0-py3-none-any.whl")
    with zipfile.ZipFile(tmp_path / "inner.zip") as archive:
        inside = outer.header_offset + 30 + len(outer.filename) + archive.getinfo("uv/uv").header_offset

    def point_inside(body: bytearray, position: int) -> None:
        struct.pack_into("<I", body, position + 42, inside)

    assert refusal(patch_central(path, "uv/uv", point_inside)).code == "AML_BUNDLE_BOMB"


def test_a_table_of_contents_beyond_all_measure(tmp_path: Path) -> None:
    made = draft()
    for number in range(DIRECTORY_LIMIT // 60_000 + 2):
        information = entry(f"wheels/x{number}")
        information.comment = b"c" * 60_000
        made.extra.append((information, b""))
    path = made.pack(tmp_path / "a.amlbundle")
    tracemalloc.start()
    try:
        assert refusal(path).code == "AML_BUNDLE_BOMB"
        assert tracemalloc.get_traced_memory()[1] < DIRECTORY_LIMIT // 2
    finally:
        tracemalloc.stop()


def test_a_manifest_beyond_all_measure(tmp_path: Path) -> None:
    path = draft(padding="x" * (5 << 20)).pack(tmp_path / "a.amlbundle")
    assert refusal(path).code == "AML_BUNDLE_BOMB"


def test_memory_is_flat_in_file_size(tmp_path: Path) -> None:
    made = draft()
    made.files["python/cpython-3.11.9.tar.gz"] = bytes(48 << 20)
    path = made.note().pack(tmp_path / "a.amlbundle")
    del made
    tracemalloc.start()
    try:
        open_bundle(path).check(Moving())
        assert tracemalloc.get_traced_memory()[1] < 6 << 20
    finally:
        tracemalloc.stop()


# -- damage


@pytest.mark.parametrize("kept", [0.05, 0.5, 0.9, -22, -1])
def test_a_truncated_bundle(tmp_path: Path, kept: float) -> None:
    path = draft().pack(tmp_path / "a.amlbundle")
    body = path.read_bytes()
    path.write_bytes(body[: int(len(body) * kept) if kept > 0 else int(kept)])
    assert refusal(path).code == "AML_BUNDLE_TRUNCATED"


def test_a_bundle_that_was_cut_where_a_wheel_ends(tmp_path: Path) -> None:
    path = draft().pack(tmp_path / "a.amlbundle")
    body = path.read_bytes()
    path.write_bytes(body[: body.index(b"PK\5\6") + 22])
    assert refusal(path).code == "AML_BUNDLE_TRUNCATED"


@pytest.mark.parametrize("name", [WHEEL, "uv/uv", "python/cpython-3.11.9.tar.gz", "pylock.toml", "python/downloads.json"])
@pytest.mark.parametrize("as_folder", [False, True])
def test_a_byte_that_has_changed(tmp_path: Path, name: str, as_folder: bool) -> None:
    made = draft()
    body = bytearray(made.files[name])
    body[len(body) // 2] ^= 1
    made.files[name] = bytes(body)
    path = made.lay_out(tmp_path / "b") if as_folder else made.pack(tmp_path / "a.amlbundle")
    error = refusal(path)
    assert error.code == "AML_BUNDLE_DAMAGED"
    assert error.arguments["entry"] == name


def test_no_changed_byte_anywhere_gets_through(tmp_path: Path) -> None:
    path = draft().pack(tmp_path / "a.amlbundle")
    sound = path.read_bytes()
    manifest = open_bundle(path).manifest
    chance = random.Random(1)
    for _ in range(400):
        body = bytearray(sound)
        for _ in range(chance.choice([1, 1, 1, 8])):
            body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
        if chance.random() < 0.2:
            del body[chance.randrange(len(body)) :]
        path.write_bytes(body)
        try:
            bundle = open_bundle(path)
            bundle.check(Moving())
        except AmlError:
            continue
        # what got through is of no weight: a time or a checksum of the container, or the words of the manifest
        assert bundle.manifest.files == manifest.files


def test_a_missing_file(tmp_path: Path) -> None:
    made = draft()
    del made.files[WHEEL]
    for path in (made.pack(tmp_path / "a.amlbundle"), made.lay_out(tmp_path / "b")):
        error = refusal(path)
        assert error.code == "AML_BUNDLE_FILE_MISSING"
        assert error.arguments["entries"] == WHEEL


@pytest.mark.parametrize("name", ["readme.txt", "wheels/evil-1.0-py3-none-any.whl", "other/", "other/file"])
def test_a_file_that_the_manifest_does_not_name(tmp_path: Path, name: str) -> None:
    made = draft()
    made.extra = [(entry(name), b"" if name.endswith("/") else b"extra")]
    error = refusal(made.pack(tmp_path / "a.amlbundle"))
    assert error.code == "AML_BUNDLE_EXTRA"
    assert error.arguments["entry"] == name


def test_another_digest_than_the_one_that_is_required(tmp_path: Path) -> None:
    path = draft().pack(tmp_path / "a.amlbundle")
    error = refusal(path, "0" * 64)
    assert error.code == "AML_BUNDLE_DIGEST"
    assert error.arguments["actual"] == sha256_of(path)
    assert refusal(draft().lay_out(tmp_path / "b"), "0" * 64).code == "AML_BUNDLE_DIGEST_FOLDER"


# -- what is no bundle


@pytest.mark.parametrize("body", [b"", b"PK", b"hello" * 100, b"\x7fELF" + bytes(1000)])
def test_a_file_that_is_no_bundle(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "a.amlbundle"
    path.write_bytes(body)
    assert refusal(path).code == "AML_BUNDLE_NOT_ONE"


def test_an_ordinary_zip_file_and_an_ordinary_folder(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert refusal(path).code == "AML_BUNDLE_NOT_ONE"
    (tmp_path / "folder").mkdir()
    assert refusal(tmp_path / "folder").code == "AML_BUNDLE_NOT_ONE"


def test_a_path_where_nothing_is(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nothing.amlbundle").code == "AML_BUNDLE_MISSING"
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file" / "below.amlbundle").code == "AML_BUNDLE_MISSING"


@pytest.mark.posix
def test_a_device_is_no_bundle() -> None:
    assert refusal(Path(os.devnull)).code == "AML_BUNDLE_NOT_ONE"


@pytest.mark.posix
def test_links_and_other_things_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(draft().files[WHEEL])
    (tmp_path / "wheels").mkdir()

    def link_file(folder: Path) -> None:
        (folder / WHEEL).unlink()
        (folder / WHEEL).symlink_to(tmp_path / "outside")

    def link_folder(folder: Path) -> None:
        (folder / "wheels").rename(tmp_path / "moved")
        (folder / "wheels").symlink_to(tmp_path / "moved")

    def pipe(folder: Path) -> None:
        os.mkfifo(folder / "wheels" / "pipe")

    for number, change in enumerate((link_file, link_folder, pipe)):
        folder = draft().lay_out(tmp_path / str(number))
        change(folder)
        assert refusal(folder).code == "AML_BUNDLE_LINK"


@pytest.mark.posix
def test_a_file_that_became_a_link_after_the_first_look(tmp_path: Path) -> None:
    folder = draft().lay_out(tmp_path / "b")
    bundle = open_bundle(folder)
    (folder / "uv" / "uv").rename(tmp_path / "uv")
    (folder / "uv" / "uv").symlink_to(tmp_path / "uv")
    with pytest.raises(RefusedError) as caught:
        bundle.check(Moving())
    assert caught.value.code == "AML_BUNDLE_UNREADABLE"


def test_a_folder_in_a_folder(tmp_path: Path) -> None:
    folder = draft().lay_out(tmp_path / "b")
    (folder / "wheels" / "more").mkdir()
    assert refusal(folder).code == "AML_BUNDLE_EXTRA"


# -- manifest


def test_a_newer_format_is_told_from_a_wrong_one(tmp_path: Path) -> None:
    error = refusal(draft(format=2, platform="mars-quantum").pack(tmp_path / "a.amlbundle"))
    assert error.code == "AML_BUNDLE_TOO_NEW"
    assert (error.arguments["found"], error.arguments["known"]) == (2, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "1"},
        {"format": True},
        {"format": 0},
        {"platform": "mars-quantum"},
        {"platform": None},
        {"floor": {"glibc": 2}},
        {"floor": {"windows": "10.0"}},
        {"python": {"version": "3.11", "archive": "uv/uv", "downloads": "python/downloads.json"}},
        {"python": {"version": "3.11.9", "archive": "uv/uv", "downloads": "python/downloads.json"}},
        {"python": {"version": "3.11.9", "archive": "python/cpython-3.11.9.tar.gz", "downloads": "uv/uv"}},
        {"uv": {"version": "0.13.9; rm", "file": "uv/uv"}},
        {"uv": {"version": "0.13.9", "file": WHEEL}},
        {"uv": []},
        {"wish": {"kind": "profile", "name": "../default", "digest": "0123456789ab"}},
        {"wish": {"kind": "other", "name": "default", "digest": "0123456789ab"}},
        {"wish": {"kind": "profile", "name": "default", "digest": "xyz"}},
        {"created": "yesterday"},
    ],
    ids=str,
)
def test_a_manifest_with_a_wrong_value(tmp_path: Path, change: dict[str, Any]) -> None:
    assert refusal(draft(**change).pack(tmp_path / "a.amlbundle")).code == "AML_BUNDLE_MANIFEST"


@pytest.mark.parametrize(
    "files",
    [
        {"../evil": {"size": 1, "sha256": "0" * 64}},
        {"wheels/e\u0301.whl": {"size": 1, "sha256": "0" * 64}},
        {WHEEL: {"size": -1, "sha256": "0" * 64}},
        {WHEEL: {"size": 10**30, "sha256": "0" * 64}},
        {WHEEL: {"size": True, "sha256": "0" * 64}},
        {WHEEL: {"size": 1, "sha256": "0" * 63}},
        {WHEEL: [1, "0" * 64]},
        {WHEEL.upper().replace("WHEELS", "wheels"): {"size": 1, "sha256": "0" * 64}},
        {"manifest.json": {"size": 1, "sha256": "0" * 64}},
    ],
    ids=str,
)
def test_a_manifest_with_a_wrong_file(tmp_path: Path, files: dict[str, Any]) -> None:
    made = draft()
    made.manifest["files"] |= files
    assert refusal(made.pack(tmp_path / "a.amlbundle")).code == "AML_BUNDLE_MANIFEST"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff\xfe", b'{"format": 1, "format": 1}', b"[" * 100_000, b"null"])
def test_a_manifest_that_is_no_manifest(tmp_path: Path, body: bytes) -> None:
    folder = draft().lay_out(tmp_path / "b")
    (folder / "manifest.json").write_bytes(body)
    assert refusal(folder).code == "AML_BUNDLE_MANIFEST"


def test_a_list_of_interpreters_that_uv_could_not_use(tmp_path: Path) -> None:
    made = draft()
    made.files["python/downloads.json"] = b'{"a": {"sha256": "0"}}'
    bundle = open_bundle(made.note().pack(tmp_path / "a.amlbundle"))
    with pytest.raises(RefusedError) as caught:
        read_downloads(bundle)
    assert caught.value.code == "AML_BUNDLE_MANIFEST"


# -- lock


def _lock(made: Draft, **values: Any) -> str:
    record = made.manifest["files"][WHEEL]
    return LOCK.format(**{"path": WHEEL, **record, **values})


@pytest.mark.parametrize(
    "change",
    [
        lambda made: _lock(made, path="../wheels/tinya-1.0-py3-none-any.whl"),
        lambda made: _lock(made, path="/wheels/tinya-1.0-py3-none-any.whl"),
        lambda made: _lock(made, size=1),
        lambda made: _lock(made, sha256="0" * 64),
        lambda made: _lock(made).replace("path =", "url = 'https://files.example.org/x', path ="),
        lambda made: _lock(made).replace('name = "tinya"', 'name = "other"'),
        lambda made: _lock(made).replace('version = "1.0"', 'version = "2.0"'),
        lambda made: _lock(made).replace("wheels =", "directory = {path = '.'}\nwheels ="),
        lambda made: _lock(made) + _lock(made)[_lock(made).index("[[") :],
        lambda made: _lock(made)[: _lock(made).index("[[")] + "packages = []\n",
        lambda made: _lock(made).replace('lock-version = "1.0"', 'lock-version = "2.0"'),
        lambda _: "not TOML [",
    ],
)
def test_a_lock_that_does_not_fit_the_files(tmp_path: Path, change: Callable[[Draft], str]) -> None:
    made = draft()
    made.files["pylock.toml"] = change(made).encode()
    assert refusal(made.note().pack(tmp_path / "a.amlbundle")).code == "AML_BUNDLE_LOCK"


# -- this computer

LINUX = Host("linux", "x86_64", "6.1", "glibc 2.36", 2, 0)


@pytest.mark.parametrize(
    ("host", "code"),
    [
        (LINUX, None),
        (replace(LINUX, libc="glibc 2.28"), None),
        (replace(LINUX, libc="glibc 2.27"), "AML_BUNDLE_FLOOR"),
        (replace(LINUX, libc="musl 1.2"), "AML_BUNDLE_PLATFORM"),
        (replace(LINUX, machine="aarch64"), "AML_BUNDLE_PLATFORM"),
        (Host("windows", "x86_64", "10.0.22631", "", 2, 0), "AML_BUNDLE_PLATFORM"),
    ],
)
def test_the_platform_is_compared(tmp_path: Path, host: Host, code: str | None) -> None:
    bundle = open_bundle(draft().pack(tmp_path / "a.amlbundle"))
    if code is None:
        bundle.check_fits(host)
        return
    with pytest.raises(RefusedError) as caught:
        bundle.check_fits(host)
    assert caught.value.code == code
    assert "?" not in error_texts(caught.value)[0]


@pytest.mark.parametrize(("release", "fits"), [("14.1", True), ("12.0", True), ("11.7.4", False), ("26", True)])
def test_the_age_of_macos_is_compared(tmp_path: Path, release: str, fits: bool) -> None:
    bundle = open_bundle(draft(platform="macos-arm64", floor={"macos": "12.0"}).pack(tmp_path / "a.amlbundle"))
    host = Host("macos", "arm64", release, "", 8, 0)
    if fits:
        bundle.check_fits(host)
        return
    with pytest.raises(RefusedError) as caught:
        bundle.check_fits(host)
    assert caught.value.code == "AML_BUNDLE_FLOOR"


def test_another_python_is_refused(tmp_path: Path) -> None:
    bundle = open_bundle(draft().pack(tmp_path / "a.amlbundle"))
    bundle.check_python("3.11")
    bundle.check_python("3.11.2")
    for version in ("3.12", "3.1", "3.12.11"):
        with pytest.raises(RefusedError) as caught:
            bundle.check_python(version)
        assert caught.value.code == "AML_BUNDLE_PYTHON"
