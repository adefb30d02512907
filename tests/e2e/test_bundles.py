"""Bundles by the command line: made here, used where there is no network, no Python and no uv."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.errors import RefusedError
from amlwizard.core.events import BundleEvent
from amlwizard.core.wording import size_text
from amlwizard.text_mode import build_engine
from tests.e2e.conftest import REPOSITORY, Computer
from tests.e2e.full_disk import FullDisk
from tests.support.bundles import draft, entry
from tests.support.index_server import IndexServer
from tests.support.interpreter_archives import windows_entry
from tests.support.namespaces import SmallFileSystem
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from amlwizard.core.events import Event
    from tests.e2e.conftest import Result
    from tests.support.interpreter_archives import InterpreterArchive
    from tests.support.namespaces import Circumstances

pytestmark = [pytest.mark.e2e, pytest.mark.linux]


@pytest.fixture
def listed(interpreter_archive: InterpreterArchive, tmp_path: Path) -> str:
    """The address of a list with the interpreter for this computer."""
    return interpreter_archive.downloads_json(tmp_path / "downloads.json").as_uri()


@pytest.fixture(scope="module")
def tiny_bundle(tmp_path_factory: pytest.TempPathFactory, interpreter_archive: InterpreterArchive) -> Path:
    """A bundle of tinyb, made from a workspace, once for all tests."""
    folder = tmp_path_factory.mktemp("maker")
    make_wheel(folder / "wheels", "tinya", "2.0")
    make_wheel(folder / "wheels", "tinyb", "1.0", requires=["tinya"])
    listed = interpreter_archive.downloads_json(folder / "downloads.json").as_uri()
    out = folder / "tiny.amlbundle"
    with IndexServer(folder / "wheels") as index:
        maker = Computer(folder, index, folder / "wheels")
        for arguments in (
            ("install", "--requirements", maker.requirements("tinyb\n")),
            ("bundle", "create", out, "--python-downloads-json", listed),
        ):
            result = maker.run(*arguments)
            assert result.code == 0, result.finished
    return out


@pytest.fixture
def bundle(tiny_bundle: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copyfile(tiny_bundle, tmp_path / "tiny.amlbundle"))


def unpacked(bundle: Path, folder: Path) -> Path:
    """Unpack a bundle as anyone would, and return the folder."""
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(folder)
    return folder


def manifest_of(bundle: Path) -> dict[str, Any]:
    """Return a bundle's manifest."""
    with zipfile.ZipFile(bundle) as archive:
        content: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return content


def bundle_event(result: Result) -> dict[str, Any]:
    """Return what a run told of a bundle."""
    return next(event for event in result.events if event["event"] == "bundle")


# -- from nothing, without a network


def test_a_machine_with_nothing_and_no_network_is_set_up(
    computer: Computer,
    bundle: Path,
    own_python: Path,
    circumstances: type[Circumstances],
    tmp_path: Path,
) -> None:
    stick = tmp_path / "USB 盘 é"
    stick.mkdir()
    there = stick / "离线 tiny.amlbundle"
    shutil.copyfile(bundle, there)
    hidden = computer.leave_no_python(own_python)
    computer.extra["AML_INDEX_URL"] = ""
    prefix = circumstances(network=False, hidden=hidden, read_only=[stick]).command([])

    result = computer.run("install", "--bundle", there, "--bundle-sha256", sha256_of(there), prefix=prefix)
    assert result.code == 0, result.finished
    assert result.finished["state"] == "ready"
    states = result.states()
    assert states.pop("fetch") == "skipped"
    assert set(states.values()) == {"done"}
    assert list(states) == [
        "check_bundle",
        "install_uv",
        "install_python",
        "unpack",
        "resolve",
        "build",
        "verify",
        "commit",
    ]
    checked = [event for event in result.events if event.get("id") == "check_bundle" and event["state"] == "progress"]
    assert all(event["total"] == there.stat().st_size and event["unit"] == "bytes" for event in checked)
    real = (computer.root / ".venv" / "bin" / "python").resolve()
    assert real.is_relative_to(computer.root / "python")
    assert sha256_of(computer.root / "tools" / "uv") == manifest_of(there)["files"]["uv/uv"]["sha256"]

    there_again = computer.run("install", "--bundle", there, prefix=prefix)
    assert (there_again.code, there_again.finished["code"]) == (0, "AML_ALREADY_READY")
    stick_gone = circumstances(network=False, hidden=[*hidden, stick]).command([])
    rebuilt = computer.run("rebuild", "--offline", prefix=stick_gone)
    assert rebuilt.code == 0, rebuilt.finished
    assert computer.run("install", "--offline", prefix=stick_gone).finished["code"] == "AML_ALREADY_READY"
    assert computer.run("verify", prefix=stick_gone).code == 0
    shutil.rmtree(computer.root / ".venv")
    assert computer.run("install", "--offline", prefix=stick_gone).code == 0
    shutil.rmtree(computer.root / "python")
    shutil.rmtree(computer.root / ".venv")
    anew = computer.run("install", "--offline", prefix=stick_gone)  # the interpreter out of the store
    assert anew.code == 0, anew.finished


def test_plan_of_a_bundle_needs_no_download_and_writes_nothing(computer: Computer, bundle: Path) -> None:
    result = computer.run("plan", "--bundle", bundle)
    assert result.code == 0, result.finished
    plan = result.events[-1]
    assert plan["download_bytes"] == 0
    assert plan["hosts"] == []
    ids = [step["id"] for step in plan["steps"]]
    assert ids[:3] == ["check_bundle", "install_uv", "install_python"]
    assert "unpack" in ids
    assert not computer.root.exists()


def test_a_folder_with_the_same_content_will_do(computer: Computer, bundle: Path, tmp_path: Path) -> None:
    folder = unpacked(bundle, tmp_path / "bundle folder")
    assert computer.run("install", "--bundle", folder).code == 0
    assert computer.installed("tinyb") == "1.0"


def test_a_newer_bundle_replaces_what_an_older_one_brought(computer: Computer, bundle: Path, listed: str) -> None:
    assert computer.run("install", "--bundle", bundle).code == 0
    make_wheel(computer.wheels, "tinyb", "2.0")
    newer = computer.folder / "newer.amlbundle"
    made = computer.run(
        *("bundle", "create", newer, "--root", computer.folder / "other", "--python-downloads-json", listed),
        *("--requirements", computer.requirements("tinyb\n")),
    )
    assert made.code == 0, made.finished
    result = computer.run("install", "--bundle", newer)
    assert result.code == 0, result.finished
    assert computer.installed("tinyb") == "2.0"
    assert result.states()["install_python"] == "skipped"


def test_the_requirements_that_a_bundle_was_made_for_are_met_by_it(computer: Computer, bundle: Path) -> None:
    assert computer.run("install", "--bundle", bundle).code == 0
    computer.hurried = True
    computer.extra["AML_INDEX_URL"] = "http://127.0.0.1:9/simple/"
    same = computer.run("install", "--requirements", computer.requirements("tinyb # the same wish\n"))
    assert same.finished["code"] == "AML_ALREADY_READY"
    other = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert other.finished["code"] == "AML_INDEX_REFUSED"
    refreshed = computer.run("rebuild", "--refresh")
    assert (refreshed.code, refreshed.finished["code"]) == (2, "AML_BUNDLE_REFRESH")
    assert computer.installed("tinyb") == "1.0"


# -- refused before anything is written


@pytest.mark.parametrize(
    "case", ["outside", "damaged", "truncated", "platform", "digest", "missing", "python", "newer", "manifest"]
)
def test_what_is_wrong_is_refused_before_anything_is_written(computer: Computer, case: str) -> None:
    path = computer.folder / "a.amlbundle"
    made = draft(**{"platform": "windows-arm64"} if case == "platform" else {"format": 9} if case == "newer" else {})
    if case == "outside":
        made.extra = [(entry("../../evil"), b"evil")]
    if case == "damaged":
        made.files["uv/uv"] = made.files["uv/uv"][::-1]
    if case != "missing":
        made.pack(path)
    if case == "truncated":
        os.truncate(path, path.stat().st_size // 2)
    options = {"digest": ["--bundle-sha256", "0" * 64], "python": ["--python", "3.12"]}.get(case, [])
    before = {file for file in computer.folder.rglob("*") if "home" not in file.parts}
    result = computer.run("install", "--bundle", path, *options)
    assert result.code == 2
    assert result.finished["state"] == "refused"
    code = {"newer": "TOO_NEW", "outside": "OUTSIDE"}.get(case, case.upper())
    assert result.finished["code"] == f"AML_BUNDLE_{code}"
    assert result.finished["hint"]
    assert {file for file in computer.folder.rglob("*") if "home" not in file.parts} == before


@pytest.mark.parametrize(("part", "code"), [("uv", "AML_BUNDLE_NO_PROGRAM"), ("python", "AML_BUNDLE_ARCHIVE")])
def test_a_uv_or_an_interpreter_that_is_none_is_refused_though_its_hash_is_right(
    computer: Computer, bundle: Path, tmp_path: Path, part: str, code: str
) -> None:
    folder = unpacked(bundle, tmp_path / "bundle folder")
    manifest = manifest_of(bundle)
    name = manifest["uv"]["file"] if part == "uv" else manifest["python"]["archive"]
    (folder / name).write_bytes(b"")
    described = folder / "python" / "downloads.json"
    described.write_text(described.read_text().replace(manifest["files"][name]["sha256"], sha256_of(folder / name)))
    for each in (folder / name, described):
        record = {"size": each.stat().st_size, "sha256": sha256_of(each)}
        manifest["files"][each.relative_to(folder).as_posix()] = record
    (folder / "manifest.json").write_text(json.dumps(manifest))
    for command in (("bundle", "inspect", folder), ("install", "--bundle", folder)):
        result = computer.run(*command)
        assert (result.code, result.finished["code"]) == (2, code), result.finished
        assert name in result.finished["message"]
    assert not (computer.root / "tools").exists()
    assert not (computer.root / "downloads").exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--requirements", "r.txt"], "AML_CHOICES_CONFLICT"),
        (["--profile", "minimal"], "AML_CHOICES_CONFLICT"),
        (["--bundle-sha256", "123"], "AML_BUNDLE_SHA256_INVALID"),
    ],
)
def test_options_that_contradict_a_bundle(computer: Computer, options: list[str], code: str) -> None:
    result = computer.run("install", "--bundle", "a.amlbundle", *options)
    assert (result.code, result.finished["code"]) == (2, code)


def test_what_a_bundle_is_is_told_although_it_does_not_fit(computer: Computer) -> None:
    path = draft(platform="windows-arm64").pack(computer.folder / "a.amlbundle")
    told: list[Event] = []
    engine = build_engine("en")
    with pytest.raises(RefusedError) as caught:
        asyncio.run(engine.detect(Choices(root=computer.root, bundle=path), told.append))
    assert caught.value.code == "AML_BUNDLE_PLATFORM"
    (event,) = (each for each in told if isinstance(each, BundleEvent))
    assert event.content["platform"] == "windows-arm64"
    assert event.content["size"] == path.stat().st_size
    assert event.content["packages"] >= 1


def test_a_medium_that_changes_under_the_run_is_noticed(computer: Computer, bundle: Path) -> None:
    """What is copied is compared again, although everything was checked before."""
    with computer.start("install", "--bundle", bundle) as running:
        running.until("install_uv")
        body = bytearray(bundle.read_bytes())
        position = body.index(b"tinya/__init__.py")
        body[position + 30] ^= 1
        with bundle.open("r+b") as stream:
            stream.seek(position)
            stream.write(body[position : position + 100])
        finished = running.end()
    assert running.process.returncode == 1, finished
    assert finished["code"] == "AML_BUNDLE_DAMAGED"
    assert not (computer.root / ".venv").exists()


# -- made from a workspace


def test_what_is_made_from_a_workspace(installed: Computer, listed: str, circumstances: type[Circumstances]) -> None:
    offline = circumstances(network=False).command([])
    out = installed.folder / "tiny.amlbundle"
    nothing = installed.run("bundle", "create", out, "--offline", prefix=offline)
    assert (nothing.code, nothing.finished["code"]) == (1, "AML_BUNDLE_NO_PYTHON")
    assert nothing.finished["message"].endswith("None is kept, and the network is not to be used.")
    assert not out.exists()
    once = installed.run("bundle", "create", out, "--python-downloads-json", listed)
    assert once.code == 0, once.finished
    assert once.states() == {"gather": "done", "bundle": "done"}
    draft().pack(out)
    again = installed.run("bundle", "create", out, prefix=offline)  # the archive was kept
    assert again.code == 0, again.finished
    archive = installed.root / "downloads" / manifest_of(out)["python"]["archive"].rpartition("/")[2]
    whole = archive.read_bytes()
    archive.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    damaged = installed.run("bundle", "create", installed.folder / "other.amlbundle", "--offline")
    assert (damaged.code, damaged.finished["code"]) == (1, "AML_BUNDLE_NO_PYTHON"), damaged.finished
    assert damaged.finished["message"].endswith(f"The one that is kept is damaged: {archive}.")
    assert not (installed.folder / "other.amlbundle").exists()
    refetched = installed.run("bundle", "create", out, "--python-downloads-json", listed)
    assert refetched.code == 0, refetched.finished
    assert archive.read_bytes() == whole
    again = installed.run("bundle", "create", out, prefix=offline)
    assert again.code == 0, again.finished
    told = bundle_event(again)
    assert told["sha256"] == sha256_of(out)
    assert told["sha256"] in again.finished["message"]
    assert told["packages"] == 2
    manifest = manifest_of(out)
    assert manifest["wish"]["name"] == "requirements.txt"
    assert manifest["files"].keys() == {
        *("pylock.toml", "python/downloads.json", manifest["python"]["archive"], "uv/uv"),
        *("wheels/tinya-2.0-py3-none-any.whl", "wheels/tinyb-1.0-py3-none-any.whl"),
    }
    progress = [event for event in again.events if event.get("id") == "bundle" and event["state"] == "progress"]
    assert [event["done"] for event in progress] == sorted(event["done"] for event in progress)
    assert not list(installed.folder.glob("*.part"))
    assert stat.S_ISREG(out.stat().st_mode)


@pytest.mark.linux
@pytest.mark.parametrize("wanted", ["what is there", "something else"])
def test_a_workspace_that_cannot_be_written_is_read(
    installed: Computer, listed: str, circumstances: type[Circumstances], wanted: str
) -> None:
    out, temporary = installed.folder / "tiny.amlbundle", installed.folder / "temporary"
    temporary.mkdir()
    installed.extra["TMPDIR"] = str(temporary)
    wishes = ("--requirements", installed.requirements("tinya==1.0\n")) if wanted == "something else" else ()
    written = circumstances(read_only=[installed.root]).command([])
    result = installed.run("bundle", "create", out, "--python-downloads-json", listed, *wishes, prefix=written)
    assert result.code == 0, result.finished
    wheels = sorted(name for name in manifest_of(out)["files"] if name.startswith("wheels/"))
    tiny = ["tinya-1.0"] if wishes else ["tinya-2.0", "tinyb-1.0"]
    assert wheels == [f"wheels/{name}-py3-none-any.whl" for name in tiny]
    (plan,) = (event for event in result.events if event["event"] == "plan")
    assert plan["writes"] == [str(out)]
    assert list(temporary.iterdir()) == []


@pytest.mark.linux
@pytest.mark.parametrize(("room", "known"), [(1_000_000, "at first"), (50_000_000, "after Resolve")])
def test_without_a_workspace_there_has_to_be_room_for_what_is_fetched(
    computer: Computer, listed: str, circumstances: type[Circumstances], room: int, known: str
) -> None:
    make_wheel(computer.wheels, "tinybig", files={"tinybig/data.bin": os.urandom(40_000_000)})
    temporary, out = computer.folder / "temporary", computer.folder / "big.amlbundle"
    temporary.mkdir()
    computer.extra["TMPDIR"] = str(temporary)
    small = circumstances(file_systems=[SmallFileSystem(temporary, room)]).command([])
    wanted = ("--requirements", computer.requirements("tinybig\n"), "--python-downloads-json", listed)
    refused = computer.run("bundle", "create", out, *wanted, prefix=small)
    assert refused.finished["code"] == "AML_BUNDLE_TMP_SPACE", refused.finished
    assert refused.code == (2 if known == "at first" else 1)
    assert str(temporary) in refused.finished["message"]
    assert "TMPDIR" in refused.finished["hint"]
    assert ("gather" in refused.states()) == (known == "after Resolve")
    assert not any(request.path.endswith(".whl") for request in computer.index.requests())
    assert not out.exists()
    assert not computer.root.exists()


@pytest.mark.linux
def test_on_a_full_disk_nothing_is_needed_where_all_is_kept(
    installed: Computer, listed: str, circumstances: type[Circumstances]
) -> None:
    out = installed.folder / "tiny.amlbundle"
    assert installed.run("bundle", "create", out, "--python-downloads-json", listed).code == 0
    made = out.read_bytes()
    out.unlink()
    full = FullDisk(installed, circumstances, temporary_folder=False)
    result = full.run("bundle", "create", full.stick / "tiny.amlbundle")
    assert result.code == 0, result.finished
    assert (full.stick / "tiny.amlbundle").stat().st_size == len(made)


def test_built_packages_travel_and_editable_ones_are_named(computer: Computer, listed: str, tmp_path: Path) -> None:
    for name in ("tinyc", "tinyd"):
        folder = computer.folder / name
        wheel = make_wheel(folder, name, "3.0")
        (folder / "backend.py").write_text(_BACKEND.format(wheel=wheel.name))
        (folder / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            f'[project]\nname = "{name}"\nversion = "3.0"\n'
        )
    wanted = computer.requirements("./tinyc\n-e ./tinyd\ntinya==1.0\n")
    assert computer.run("install", "--requirements", wanted).code == 0
    out = computer.folder / "a.amlbundle"
    result = computer.run("bundle", "create", out, "--python-downloads-json", listed)
    assert result.code == 0, result.finished
    assert bundle_event(result)["left_out"] == ["tinyd"]
    assert "tinyd" in result.finished["detail"]
    assert "wheels/tinyc-3.0-py3-none-any.whl" in manifest_of(out)["files"]
    shutil.rmtree(computer.folder / "tinyc")
    result = computer.run("install", "--root", tmp_path / "elsewhere", "--bundle", out)
    assert result.code == 0, result.finished


_BACKEND = """
import pathlib, shutil
def get_requires_for_build_wheel(config_settings=None):
    return []
get_requires_for_build_editable = get_requires_for_build_wheel
def build_wheel(folder, config_settings=None, metadata_directory=None):
    shutil.copy(pathlib.Path(__file__).with_name("{wheel}"), folder)
    return "{wheel}"
build_editable = build_wheel
"""


def test_a_damaged_store_makes_no_bundle(older: Computer, listed: str) -> None:
    out = older.folder / "a.amlbundle"
    present = draft().pack(out).read_bytes()
    wheel = older.root / "downloads" / "tinya-1.0-py3-none-any.whl"
    body = wheel.read_bytes()
    wheel.write_bytes(body[:-1] + bytes([body[-1] ^ 1]))
    result = older.run("bundle", "create", out, "--python-downloads-json", listed)
    assert (result.code, result.finished["code"]) == (1, "AML_BUNDLE_SOURCE")
    assert str(wheel) in result.finished["message"]
    assert "repair" in result.finished["hint"]
    assert out.read_bytes() == present
    wheel.unlink()
    result = older.run("bundle", "create", out, "--python-downloads-json", listed)
    assert (result.code, result.finished["code"]) == (1, "AML_BUNDLE_STORE")
    host = older.index.url.removeprefix("http://")
    assert result.finished["detail"].split("  ") == [wheel.name, size_text(len(body)), host]
    assert out.read_bytes() == present
    assert not list(older.folder.glob("*.part"))
    assert older.run("repair").code == 0  # as the hint says
    assert older.run("bundle", "create", out, "--python-downloads-json", listed).code == 0


def test_no_bundle_of_something_else_where_the_lock_does_not_tell(computer: Computer) -> None:
    out = computer.folder / "a.amlbundle"
    result = computer.run("bundle", "create", out)
    assert (result.code, result.finished["code"]) == (2, "AML_BUNDLE_NOTHING")
    assert computer.run("install", "--requirements", computer.requirements("tinya==1.0\n")).code == 0
    lock = computer.root / "runtime" / "pylock.toml"
    lock.write_text(lock.read_text()[:-40])
    for options in ([], ["--platform", "windows-x86_64"], ["--offline"]):
        result = computer.run("bundle", "create", out, *options)
        assert (result.code, result.finished["code"]) == (2, "AML_LOCK_INVALID"), result.finished
        assert str(lock) in result.finished["message"]
    lock.unlink()
    result = computer.run("bundle", "create", out)
    assert (result.code, result.finished["code"]) == (2, "AML_BUNDLE_NOTHING")
    assert not out.exists()


def test_an_interpreter_of_another_platform_that_is_not_kept_is_listed_offline(older: Computer) -> None:
    wanted = ("--platform", "macos-arm64", "--python-version", "3.12", "--offline")
    result = older.run("bundle", "create", older.folder / "a.amlbundle", *wanted)
    assert (result.code, result.finished["code"]) == (1, "AML_STORE_INCOMPLETE"), result.finished
    assert "cpython-3.12" in result.finished["detail"].splitlines()[0]


def test_places_where_no_bundle_can_be(computer: Computer) -> None:
    result = computer.run("bundle", "create", computer.folder)
    assert (result.code, result.finished["code"]) == (2, "AML_BUNDLE_OUT_IS_FOLDER")
    result = computer.run("bundle", "create", computer.folder / "nowhere" / "a.amlbundle")
    assert (result.code, result.finished["code"]) == (2, "AML_BUNDLE_OUT_NO_FOLDER")
    assert not computer.root.exists()


# -- made with a network, for another computer


@pytest.mark.parametrize("length", [251, 256])
def test_a_name_that_no_file_can_have_is_refused(older: Computer, length: int) -> None:
    refused = older.run("bundle", "create", older.folder / ("n" * length))
    assert (refused.code, refused.finished["code"]) == (2, "AML_BUNDLE_WRITE"), refused.finished


@pytest.fixture
def windows(computer: Computer, tmp_path: Path) -> str:
    """An index with wheels for Windows, uv's among them; the address of a list with an interpreter for Windows."""
    make_wheel(computer.wheels, "tinyw", tag="cp312-cp312-win_amd64", requires=["tinya", "tinyl; sys_platform == 'linux'"])
    make_wheel(computer.wheels, "tinyl", tag="cp312-cp312-manylinux_2_17_x86_64")
    make_wheel(computer.wheels, "tinym", tag="cp312-cp312-manylinux_2_17_x86_64")
    make_wheel(computer.wheels, "uv", "0.13.9", tag="py3-none-win_amd64")
    archive = tmp_path / "cpython-3.12.9-windows.tar.gz"
    archive.write_bytes(b"an interpreter for Windows" * 1000)
    described = windows_entry("3.12.9", archive.name, sha256_of(archive))
    described["comment"] = "https://user:PLANTED-s3cr3t@files.example.org/"
    list_file = tmp_path / "windows.json"
    list_file.write_text(json.dumps({"cpython-3.12.9-windows-x86_64-none": described}))
    return list_file.as_uri()


def test_a_bundle_for_another_platform(computer: Computer, windows: str) -> None:
    out = computer.folder / "win.amlbundle"
    result = computer.run(
        *("bundle", "create", out, "--platform", "windows-x86_64", "--python-version", "3.12"),
        *("--requirements", computer.requirements("tinyw\n"), "--python-downloads-json", windows),
    )
    assert result.code == 0, result.finished
    manifest = manifest_of(out)
    assert manifest["platform"] == "windows-x86_64"
    assert manifest["python"]["version"] == "3.12.9"
    assert manifest["uv"]["version"] == "0.13.9"
    assert manifest["files"].keys() == {
        *("pylock.toml", "python/downloads.json", "python/cpython-3.12.9-windows.tar.gz"),
        *("uv/uv-0.13.9-py3-none-win_amd64.whl", "wheels/tinya-2.0-py3-none-any.whl"),
        "wheels/tinyw-1.0-cp312-cp312-win_amd64.whl",
    }
    assert b"PLANTED" not in out.read_bytes()
    refused = computer.run("install", "--bundle", out)
    assert (refused.code, refused.finished["code"]) == (2, "AML_BUNDLE_PLATFORM")


def test_a_platform_without_a_whole_set_of_wheels_is_refused_by_names(computer: Computer, windows: str) -> None:
    out = computer.folder / "win.amlbundle"
    result = computer.run(
        *("bundle", "create", out, "--platform", "windows-x86_64", "--python-version", "3.12"),
        *("--requirements", computer.requirements("tinyw\ntinym\ntinyl\n"), "--python-downloads-json", windows),
    )
    assert result.code == 1
    assert result.finished["code"] == "AML_BUNDLE_NO_WHEELS", result.finished
    assert "tinym" in result.finished["message"]
    assert "tinyl" in result.finished["message"]
    assert "tinyw" not in result.finished["message"]
    assert not out.exists()


def test_an_archive_that_is_out_of_reach_is_named_with_the_way_around_it(
    computer: Computer, interpreter_archive: InterpreterArchive
) -> None:
    address = f"{computer.index.url}/packages/{interpreter_archive.file.name}"
    listed = interpreter_archive.downloads_json(computer.folder / "downloads.json", url=address)
    result = computer.run(
        *("bundle", "create", computer.folder / "a.amlbundle", "--requirements", computer.requirements("tinya\n")),
        *("--python-downloads-json", listed.as_uri(), "--python-version", interpreter_archive.minor),
    )
    assert (result.code, result.finished["code"]) == (1, "AML_BUNDLE_NO_PYTHON"), result.finished
    assert interpreter_archive.file.name in result.finished["message"]
    assert "--python-downloads-json" in result.finished["hint"]
    assert not computer.root.exists()


def test_an_archive_that_is_not_the_promised_one_is_told_from_a_package(
    computer: Computer, interpreter_archive: InterpreterArchive
) -> None:
    with IndexServer(files=interpreter_archive.file.parent) as server:
        server.fault("/files/*", "corrupt")
        address = f"{server.url}/files/{interpreter_archive.file.name.replace('+', '%2B')}"
        listed = interpreter_archive.downloads_json(computer.folder / "downloads.json", url=address)
        result = computer.run(
            *("bundle", "create", computer.folder / "a.amlbundle", "--requirements", computer.requirements("tinya\n")),
            *("--python-downloads-json", listed.as_uri(), "--python-version", interpreter_archive.minor),
        )
    assert (result.code, result.finished["code"]) == (1, "AML_PYTHON_ALTERED"), result.finished


@pytest.mark.parametrize("end", ["made", "failed", "cancelled"])
def test_without_a_workspace_a_bundle_leaves_nothing_but_itself(computer: Computer, windows: str, end: str) -> None:
    out = computer.folder / "win.amlbundle"
    temporary = computer.folder / "temporary"
    temporary.mkdir()
    computer.extra["TMPDIR"] = str(temporary)
    arguments = (
        *("bundle", "create", out, "--platform", "windows-x86_64", "--python-version", "3.12"),
        *("--requirements", computer.requirements("tinyw\n"), "--python-downloads-json", windows),
    )
    if end != "made":
        computer.index.fault("/packages/*tinyw*.whl", "404" if end == "failed" else "stall")
    assert Path(computer.environ["HOME"]).is_dir()
    before = places(computer)
    if end == "cancelled":
        with computer.start(*arguments) as running:
            running.until("gather", "progress")
            running.cancel()
        code, events = running.process.returncode, running.events
    else:
        result = computer.run(*arguments)
        code, events = result.code, result.events
    assert code == {"made": 0, "failed": 1, "cancelled": 130}[end], events[-1]
    assert events[-1]["root"] == str(computer.root)
    assert places(computer) == before | ({out} if end == "made" else set())
    (plan,) = (event for event in events if event["event"] == "plan")
    assert plan["writes"] == [str(out)]


def test_what_a_killed_making_left_outside_is_removed_by_the_next_one(computer: Computer, windows: str) -> None:
    temporary = computer.folder / "temporary"
    temporary.mkdir()
    computer.extra["TMPDIR"] = str(temporary)
    arguments = (
        *(
            "bundle",
            "create",
            computer.folder / "win.amlbundle",
            "--platform",
            "windows-x86_64",
            "--python-version",
            "3.12",
        ),
        *("--requirements", computer.requirements("tinyw\n"), "--python-downloads-json", windows),
    )
    computer.index.fault("/packages/*tinyw*.whl", "stall")
    with computer.start(*arguments) as running:
        running.until("gather", "progress")
        running.kill()
    assert list(temporary.iterdir()) != []
    computer.index.heal()
    result = computer.run(*arguments)
    assert result.code == 0, result.finished
    assert list(temporary.iterdir()) == []
    assert not computer.root.exists()


def places(computer: Computer) -> set[Path]:
    """Every path in the computer's folder, the index's wheels aside."""
    return {path for path in computer.folder.rglob("*") if not path.is_relative_to(computer.wheels)}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], "AML_BUNDLE_NOTHING"),
        (["--platform", "mars"], "AML_USAGE_CHOICE"),
        (["--python-version", "3.x"], "AML_PYTHON_VERSION_INVALID"),
        (["--profile", "minimal", "--python-version", "3.10"], "AML_PYTHON_NOT_IN_RANGE"),
    ],
)
def test_orders_that_cannot_be_met(computer: Computer, options: list[str], code: str) -> None:
    result = computer.run("bundle", "create", computer.folder / "a.amlbundle", *options)
    assert (result.code, result.finished["code"]) == (2, code)
    assert not computer.root.exists()


def test_a_cancel_leaves_neither_bundle_nor_part_and_keeps_the_old_one(computer: Computer, windows: str) -> None:
    computer.index.fault("/packages/*tinyw*.whl", "stall")
    out = computer.folder / "win.amlbundle"
    older = draft().pack(out).read_bytes()
    arguments = (
        *("bundle", "create", out, "--platform", "windows-x86_64", "--python-version", "3.12"),
        *("--requirements", computer.requirements("tinyw\n"), "--python-downloads-json", windows),
    )
    with computer.start(*arguments) as running:
        running.until("gather", "progress")
        finished = running.cancel()
    assert running.process.returncode == 130
    assert finished["state"] == "cancelled"
    assert out.read_bytes() == older
    assert [path.name for path in computer.folder.glob("win.amlbundle*")] == ["win.amlbundle"]


# -- secrets


def test_no_secret_gets_into_a_bundle(computer: Computer, listed: str) -> None:
    """Credentials of the index, of a direct address and of a query, planted wherever they might be copied from."""
    computer.index.fault("/*", "auth")
    address = computer.index.index_url.replace("http://", "http://user:secret@")
    computer.extra["AML_INDEX_URL"] = ""
    computer.extra["UV_DEFAULT_INDEX"] = address
    direct = address.replace("/simple/", "/packages/tinya-1.0-py3-none-any.whl")
    wanted = computer.requirements(f"tinya @ {direct}\ntinyb\n")
    result = computer.run("install", "--requirements", wanted)
    assert result.code == 0, result.finished
    from_workspace, from_network = computer.folder / "a.amlbundle", computer.folder / "b.amlbundle"
    result = computer.run("bundle", "create", from_workspace, "--python-downloads-json", listed)
    assert result.code == 0, result.finished
    result = computer.run(
        *("bundle", "create", from_network, "--root", computer.folder / "other", "--requirements", wanted),
        *("--python-downloads-json", listed),
    )
    assert result.code == 0, result.finished
    for bundle in (from_workspace, from_network):
        with zipfile.ZipFile(bundle) as archive:
            for name in ("manifest.json", "pylock.toml", "python/downloads.json"):
                body = archive.read(name)
                assert b"secret" not in body
                assert b"127.0.0.1" not in body
                assert str(computer.folder).encode() not in body


# -- without amlwizard


def test_the_lock_inside_installs_with_plain_uv(bundle: Path, tmp_path: Path, circumstances: type[Circumstances]) -> None:
    folder = unpacked(bundle, tmp_path / "plain uv")
    uv = shutil.which("uv", path=str(Path(sys.executable).parent))
    assert uv is not None
    environment = tmp_path / "venv"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "UV_CACHE_DIR": str(tmp_path / "cache")}
    offline = circumstances(network=False).command([])
    subprocess.run([*offline, uv, "venv", "-q", "--python", sys.executable, environment], env=env, check=True)
    command = [uv, "pip", "sync", "-q", "--python", environment, "pylock.toml"]
    subprocess.run([*offline, *map(str, command)], cwd=folder, env=env, check=True)
    assert _imports(environment) == "2.0 1.0"


def test_the_lock_inside_installs_with_pip(bundle: Path, tmp_path: Path, circumstances: type[Circumstances]) -> None:
    if not _pip_reads_locks():
        pytest.skip("this pip is older than 26.1, the first that reads a pylock.toml; the development lock has a newer one")
    folder = unpacked(bundle, tmp_path / "plain pip")
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    command = [sys.executable, "-m", "pip", "--python", environment, "install", "-q", "-r", "pylock.toml"]
    offline = circumstances(network=False).command([])
    done = subprocess.run([*offline, *map(str, command)], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert _imports(environment) == "2.0 1.0"


def _pip_reads_locks() -> bool:
    import pip
    from packaging.version import Version

    return Version(pip.__version__) >= Version("26.1")


def _imports(environment: Path) -> str:
    code = "import tinya, tinyb; print(tinya.__version__, tinyb.__version__)"
    done = subprocess.run([environment / "bin" / "python", "-I", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


# -- in the window


def test_the_window_sets_up_from_a_bundle_and_makes_one_without_reading_on_its_own_thread(
    computer: Computer, bundle: Path
) -> None:
    temporary = computer.folder / "temporary"
    temporary.mkdir()
    out = computer.folder / "again.amlbundle"
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.live_window", str(bundle), str(out)],
        cwd=REPOSITORY,
        env={**computer.environ, "AML_INDEX_URL": "", "TMPDIR": str(temporary), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["page"] == "RUN"
    assert computer.installed("tinyb") == "1.0"
    assert seen["imported"] == []
    # neither a bundle nor the store: what every run notes of itself, in its own folders, is looked at elsewhere
    own = (temporary, computer.root / "runtime" / "logs", computer.root / "runtime" / "runs")
    opened = [Path(name) for name in seen["opened"] if not name.startswith("/proc/")]
    assert [path for path in opened if not any(place in path.parents for place in own)] == []
    # what came out of a bundle goes into one again, and is for the same wish
    again, before = manifest_of(out), manifest_of(bundle)
    assert {**again, "created": ""} == {**before, "created": ""}


def test_everybody_who_sets_up_from_a_bundle_can_expect_the_same_lock(computer: Computer, bundle: Path) -> None:
    locks = set()
    for name in ("here", "elsewhere"):
        computer.named_root = computer.folder / name
        result = computer.run("install", "--bundle", bundle)
        locks.add(result.finished["lock"])
    (lock,) = locks
    assert f'created = "{manifest_of(bundle)["created"]}"' in (computer.root / "runtime" / "pylock.toml").read_text()
    assert computer.run("verify", "--expect", lock).code == 0


# -- inspect


def test_inspect_tells_everything_and_writes_the_same_list_every_time(computer: Computer, bundle: Path) -> None:
    lists = [computer.folder / "one.json", computer.folder / "two.json"]
    results = [computer.run("bundle", "inspect", bundle, "--sbom", target) for target in lists]
    assert [result.code for result in results] == [0, 0]
    assert lists[0].read_bytes() == lists[1].read_bytes()
    told = bundle_event(results[0])
    assert told["sha256"] == sha256_of(bundle)
    assert told["size"] == bundle.stat().st_size
    assert told["platform"] == manifest_of(bundle)["platform"]
    wheel = computer.wheels / "tinyb-1.0-py3-none-any.whl"
    assert {"name": "tinyb", "version": "1.0", "license": "", "size": wheel.stat().st_size} == {
        key: value for key, value in told["packages"][1].items() if key in {"name", "version", "license", "size"}
    }
    document = json.loads(lists[0].read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    purls = {component.get("purl"): component for component in document["components"]}
    assert purls["pkg:pypi/tinyb@1.0"]["hashes"] == [{"alg": "SHA-256", "content": sha256_of(wheel)}]
    assert {component["name"] for component in document["components"]} == {"python", "uv", "tinya", "tinyb"}
    assert not computer.root.exists()


def test_the_list_of_components_does_not_replace_the_bundle(computer: Computer, bundle: Path) -> None:
    before = bundle.read_bytes()
    result = computer.run("bundle", "inspect", bundle, "--sbom", bundle)
    assert (result.code, result.finished["code"]) == (2, "AML_BUNDLE_SBOM_PLACE")
    assert bundle.read_bytes() == before


def test_inspect_refuses_what_is_damaged(computer: Computer) -> None:
    made = draft()
    made.files["uv/uv"] = made.files["uv/uv"][::-1]
    result = computer.run("bundle", "inspect", made.pack(computer.folder / "a.amlbundle"))
    assert (result.code, result.finished["code"]) == (2, "AML_BUNDLE_DAMAGED")
    assert "uv/uv" in result.finished["message"]


# -- what was added by hand


def _add_tinyx(computer: Computer) -> None:
    make_wheel(computer.wheels, "tinyx", "1.0", requires=["tinyq"])
    make_wheel(computer.wheels, "tinyq", "1.0")
    computer.pip_install("tinyx")


def test_a_bundle_of_a_workspace_has_what_was_added_by_hand_and_kept(installed: Computer, listed: str) -> None:
    _add_tinyx(installed)
    assert installed.run("rebuild").code == 0
    out = installed.folder / "kept.amlbundle"
    made = installed.run("bundle", "create", out, "--python-downloads-json", listed)
    assert made.code == 0, made.finished
    assert {"wheels/tinyx-1.0-py3-none-any.whl", "wheels/tinyq-1.0-py3-none-any.whl"} <= manifest_of(out)["files"].keys()
    shutil.rmtree(installed.root)
    result = installed.run("install", "--bundle", out, "--offline")
    assert result.code == 0, result.finished
    assert installed.installed("tinyx") == "1.0"
    assert installed.run("detect").events[0]["environment"]["added"] == []


def test_what_was_added_before_a_bundle_was_made_can_be_taken_out_where_it_was_installed(
    installed: Computer, listed: str
) -> None:
    make_wheel(installed.wheels, "tinyx", "1.0", requires=["tinyq"])
    make_wheel(installed.wheels, "tinyq", "1.0")
    wheel = make_wheel(installed.folder / "elsewhere", "tinyelse", "3.0")
    added = installed.run("add", "tinyx", f"tinyelse @ {wheel.as_uri()}")
    assert added.code == 0, added.finished
    out = installed.folder / "kept.amlbundle"
    made = installed.run("bundle", "create", out, "--python-downloads-json", listed)
    assert made.code == 0, made.finished
    assert wheel.parent.as_uri().encode() not in out.read_bytes()
    shutil.rmtree(installed.root)
    result = installed.run("install", "--bundle", out, "--offline")
    assert result.code == 0, result.finished
    assert installed.run("install", "--bundle", out, "--offline").finished["code"] == "AML_ALREADY_READY"
    again = installed.run("rebuild", "--offline")
    assert again.code == 0, again.finished
    removed = installed.run("remove", "tinyx", "--offline")
    assert removed.code == 0, removed.finished
    assert not list((installed.root / ".venv").glob("lib/*/site-packages/tiny[xq]*"))
    assert installed.installed("tinyelse") == "3.0"
    dropped = installed.run("rebuild", "--offline", "--drop-added")
    assert dropped.code == 0, dropped.finished
    assert not list((installed.root / ".venv").glob("lib/*/site-packages/tinyelse*"))
    assert installed.installed("tinyb") == "1.0"


def test_a_bundle_takes_nothing_away_that_was_added_by_hand(installed: Computer, bundle: Path) -> None:
    _add_tinyx(installed)
    refused = installed.run("install", "--bundle", bundle, "--offline")
    assert (refused.code, refused.finished["code"]) == (1, "AML_ADDED_OFFLINE"), refused.finished
    assert installed.installed("tinyx") == "1.0"
    result = installed.run("install", "--bundle", bundle)
    assert result.code == 0, result.finished
    assert installed.installed("tinyx") == "1.0"
    assert installed.run("install", "--bundle", bundle).finished["code"] == "AML_ALREADY_READY"
    rebuilt = installed.run("rebuild", "--offline")
    assert rebuilt.code == 0, rebuilt.finished
    assert installed.installed("tinyx") == "1.0"
    dropped = installed.run("rebuild", "--offline", "--drop-added")
    assert dropped.code == 0, dropped.finished
    assert not list((installed.root / ".venv").glob("lib/*/site-packages/tinyx*"))


def test_what_was_added_by_hand_is_kept_beside_what_a_newer_bundle_brings(installed: Computer, listed: str) -> None:
    make_wheel(installed.wheels, "tinyx", "1.0", requires=["tinyb"])
    installed.pip_install("tinyx")
    assert installed.run("rebuild").code == 0  # now its wheel is in the store
    make_wheel(installed.wheels, "tinyb", "2.0")
    newer = installed.folder / "newer.amlbundle"
    made = installed.run(
        *("bundle", "create", newer, "--root", installed.folder / "other", "--python-downloads-json", listed),
        *("--requirements", installed.requirements("tinyb\n")),
    )
    assert made.code == 0, made.finished
    result = installed.run("install", "--bundle", newer, "--offline")
    assert result.code == 0, result.finished
    assert (installed.installed("tinyb"), installed.installed("tinyx")) == ("2.0", "1.0")
