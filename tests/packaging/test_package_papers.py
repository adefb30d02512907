"""What lies beside the installers: hashes, SBOM, notices, and the list of executable files."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import carried
import floor
import freeze
import freeze_linux
import package_linux
import package_papers as papers
import pytest
from devenv import ROOT, SetUpError

from amlwizard import __version__

ELF = b"\x7fELF\x02\x01" + bytes(12) + b"\x3e\x00"
PE = b"MZ" + bytes(0x3A) + b"\x40\x00\x00\x00PE\x00\x00\x64\x86"
MACHO = b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"
LICENCE = "Whoever finds this may keep it."
WANTED = ("PySide6-Essentials", "shiboken6", "uv", "keyring", "jaraco.classes", "PyInstaller")
NOT_IN_THE_LOCK = ("typing_extensions",)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    folder = tmp_path / "frozen"
    contents = {
        "amlwizard": ELF,
        "_internal/libcrypto.so.3": ELF + b"\0OpenSSL 3.5.7 9 Jun 2026\0",
        "_internal/libx.so.1": ELF,
        "_internal/libicuuc.so.73": ELF,
        "_internal/uv/uv": ELF,
        "_internal/note.txt": b"x",
        "tool": b"#!/bin/sh\n",
    }
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "tool").chmod(0o755)
    (folder / "kept.sh").write_bytes(b"#!/bin/sh\n")
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Some installed packages, their lock, and a project that needs them."""
    folder = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    (tmp_path / "project.toml").write_text(
        '[project]\ndependencies = ["PySide6-Essentials>=6.8,<6.12", "uv>=0.9", "keyring"]\n'
    )
    needs = {
        "PySide6-Essentials": ["shiboken6 ==6.9.3"],
        "keyring": [
            'jaraco.classes ; python_version < "4"',
            'pytest ; extra == "test"',
            "typing-extensions",
            "pywin32-ctypes",
        ],
        "PyInstaller": ["altgraph"],
    }
    lock = ""
    for name in (*WANTED, "altgraph", "pytest", *NOT_IN_THE_LOCK):
        place = folder / f"{name.replace('-', '_').lower()}-1.0.dist-info"
        place.mkdir(parents=True)
        lines = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", "License-Expression: MIT"]
        lines += [f"Requires-Dist: {line}" for line in needs.get(name, ())]
        (place / "METADATA").write_text("\n".join(lines) + "\n\nWords.\n")
        if "side6" not in name.lower() and name != "shiboken6":
            (place / "licenses").mkdir()
            (place / "licenses" / "LICENSE").write_text(f"{name}: {LICENCE}\n")
        if name not in NOT_IN_THE_LOCK:
            normalised = name.lower().replace(".", "-")
            hashes = [f"    --hash=sha256:{letter * 64}" for letter in "ab"]
            lock += " \\\n".join([f"{normalised}==1.0 ; sys_platform != 'x'", *hashes]) + "\n"
    crates = {"components": [{"name": "ring", "version": "0.17", "licenses": [{"expression": "ISC"}]}, {"name": "bare"}]}
    (folder / "uv-1.0.dist-info" / "sboms").mkdir()
    (folder / "uv-1.0.dist-info" / "sboms" / "uv.json").write_text(json.dumps(crates))
    (tmp_path / "venv" / "pyvenv.cfg").write_text("home = /x\nversion = 3.12.9\n")
    (tmp_path / "lock.txt").write_text(lock)
    monkeypatch.setattr(papers, "PACKAGE_LOCK", tmp_path / "lock.txt")
    monkeypatch.setattr(papers, "PROJECT", tmp_path / "project.toml")
    monkeypatch.setattr(papers, "commit_time", lambda: 1_780_000_000)
    return folder


def written(into: Path, frozen: Path, site: Path, *made: str) -> dict[str, str]:
    into.mkdir(exist_ok=True)
    for name in made:
        (into / name).write_bytes(name.encode())
    result = papers.write_papers(into, frozen, site, [into / name for name in made])
    return {file.name: file.read_text(encoding="utf-8") for file in result}


def test_all_of_them_lie_beside_the_installer_and_are_the_same_every_time(tmp_path: Path, frozen: Path, site: Path) -> None:
    first = written(tmp_path / "a", frozen, site, "x.run")
    name = f"amlwizard-{__version__}-linux-x86_64"
    assert list(first) == [f"{name}.cdx.json", f"{name}-notices.txt", f"{name}-executables.txt", "SHA256SUMS"]
    assert written(tmp_path / "b", frozen, site, "x.run") == first
    listed = dict(reversed(line.split("  ")) for line in first["SHA256SUMS"].splitlines())
    assert listed == {
        file.name: digest(file.read_bytes()) for file in (tmp_path / "a").iterdir() if file.name != "SHA256SUMS"
    }


@pytest.mark.skipif(None in map(shutil.which, ("dpkg-deb", "zstd")), reason="needs dpkg-deb and zstd")
@pytest.mark.parametrize("on_floor", [True, False])
def test_those_of_linux_have_them_and_carry_the_licences(
    tmp_path: Path,
    frozen: Path,
    site: Path,
    on_floor: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place, into, root = tmp_path / "place", tmp_path / "a", tmp_path / "old system"
    place.mkdir()
    into.mkdir()
    (place / "source").symlink_to(ROOT)
    monkeypatch.setattr(freeze, "PLACE", place)
    monkeypatch.setattr(freeze, "commit_time", lambda: 1_780_000_000)
    made = freeze_linux.Frozen(frozen, site, root if on_floor else None)
    for library in ("opt/python/lib/libcrypto.so.3", "usr/lib/libicuuc.so.73"):
        (root / library).parent.mkdir(parents=True)
        (root / library).touch()
    asked: list[tuple[object, ...]] = []

    def components(*about: object) -> list[dict[str, str]]:
        asked.append(about)
        return [{"name": "libffi", "version": "3.4"}]

    monkeypatch.setattr(carried, "components", components)
    monkeypatch.setattr(freeze_linux, "frozen_program", lambda _place: made)
    monkeypatch.setattr(package_linux, "unpacker", lambda _place: frozen / "tool")
    names = [file.name for file in package_linux.build(into, None)]
    name = f"amlwizard-{__version__}-linux-x86_64"
    endings = [".deb", ".run", ".tar.zst", "-run-executables.txt", ".cdx.json", "-notices.txt", "-executables.txt"]
    assert names == [*(f"{name}{ending}" for ending in endings), "SHA256SUMS"]
    text = (into / f"{name}-notices.txt").read_text(encoding="utf-8")
    assert f"\nPython {floor.python_version() if on_floor else '3.12.9'}\n" in text
    document = json.loads((into / f"{name}.cdx.json").read_text(encoding="utf-8"))
    assert ({"name": "libffi", "version": "3.4"} in document["components"]) is on_floor
    # of the libraries in the program, these two come neither with Python nor with a package
    assert asked == ([(["libicuuc.so.73", "libx.so.1"], root, *carried.UNPACKER)] if on_floor else [])
    assert ("does not name the libraries that come from this machine" in capsys.readouterr().err) is not on_floor
    unpacked = tmp_path / "unpacked"
    subprocess.run(["dpkg-deb", "-x", str(into / f"{name}.deb"), str(unpacked)], check=True)
    copyright_file = unpacked / "usr" / "share" / "doc" / "amlwizard" / "copyright"
    assert copyright_file.read_text(encoding="utf-8") == text
    assert (frozen / "NOTICES.txt").read_text(encoding="utf-8") == text  # what the .run and the archive hold
    program = unpacked / "usr" / "lib" / "amlwizard"
    listed = (into / f"{name}-executables.txt").read_text(encoding="utf-8")
    assert papers.executable_files(program) == dict(reversed(line.split("  ")) for line in listed.splitlines())


def test_installers_of_two_forms_share_one_list(tmp_path: Path, frozen: Path, site: Path) -> None:
    written(tmp_path / "a", frozen, site, "x.run")
    names = list(written(tmp_path / "a", frozen, site, "x-complete.run"))
    assert f"amlwizard-{__version__}-linux-x86_64-complete-executables.txt" in names
    listed = [line.split("  ")[1] for line in (tmp_path / "a" / "SHA256SUMS").read_text().splitlines()]
    assert listed == sorted(file.name for file in (tmp_path / "a").iterdir() if file.name != "SHA256SUMS")
    assert len(listed) == 8


def test_the_list_is_written_anew_for_what_was_signed(tmp_path: Path, frozen: Path, site: Path) -> None:
    into = tmp_path / "a"
    written(into, frozen, site, "gone.run", "x.run")
    (into / "gone.run").unlink()
    (into / "x.run").write_bytes(b"signed")
    (into / "other").write_bytes(b"never named")
    script = Path(papers.__file__)
    subprocess.run([sys.executable, str(script), str(into)], check=True)
    sums = (into / "SHA256SUMS").read_text(encoding="utf-8")
    assert f"{digest(b'signed')}  x.run\n" in sums
    assert "gone.run" not in sums
    assert "other" not in sums


def test_executable_files_are_known_by_how_they_begin(frozen: Path) -> None:
    (frozen / "a.pyd").write_bytes(PE)
    (frozen / "b.dylib").write_bytes(MACHO)
    (frozen / "empty").write_bytes(b"")
    (frozen / "c.dylib").symlink_to("b.dylib")
    found = papers.executable_files(frozen)
    assert list(found) == [
        "_internal/libcrypto.so.3",
        "_internal/libicuuc.so.73",
        "_internal/libx.so.1",
        "_internal/uv/uv",
        "a.pyd",
        "amlwizard",
        "b.dylib",
        "tool",
    ]
    assert found["a.pyd"] == digest(PE)


@pytest.mark.parametrize(
    ("content", "file", "platform"),
    [
        (PE, "amlwizard.exe", "windows-x86_64"),
        (MACHO, "amlwizard", "macos-arm64"),
        (ELF, "amlwizard", "linux-x86_64"),
        (b"\xca\xfe\xba\xbe\x00", "amlwizard", "macos-universal2"),
    ],
)
def test_they_are_named_by_the_platform_of_the_program(
    tmp_path: Path, site: Path, content: bytes, file: str, platform: str
) -> None:
    (tmp_path / "frozen").mkdir()
    (tmp_path / "frozen" / file).write_bytes(content)
    assert f"amlwizard-{__version__}-{platform}.cdx.json" in written(tmp_path / "a", tmp_path / "frozen", site)


def test_a_folder_without_the_program_is_refused(tmp_path: Path, frozen: Path, site: Path) -> None:
    (frozen / "amlwizard").unlink()
    with pytest.raises(SetUpError, match="no amlwizard"):
        written(tmp_path / "a", frozen, site)


@pytest.fixture
def sbom(tmp_path: Path, frozen: Path, site: Path) -> dict[str, Any]:
    texts = written(tmp_path / "a", frozen, site)
    document = json.loads(next(text for name, text in texts.items() if name.endswith(".cdx.json")))
    assert isinstance(document, dict)
    return document


def test_the_sbom_has_what_the_schema_of_cyclonedx_requires(sbom: dict[str, Any]) -> None:
    assert (sbom["bomFormat"], sbom["specVersion"], sbom["version"]) == ("CycloneDX", "1.6", 1)
    uuid.UUID(sbom["serialNumber"].removeprefix("urn:uuid:"))
    assert sbom["metadata"]["timestamp"] == "2026-05-28T20:26:40Z"
    every = [sbom["metadata"]["component"], *sbom["components"]]
    references = [component["bom-ref"] for component in every]
    assert len(set(references)) == len(references)
    for component in every:
        assert {"type", "name", "version", "licenses"} <= component.keys()
        assert component["type"] in {"application", "framework", "library", "platform"}
        for licence in component["licenses"]:
            assert list(licence) in (["expression"], ["license"])
        for entry in component.get("hashes", ()):
            assert entry["alg"] == "SHA-256"
            assert re.fullmatch("[0-9a-f]{64}", entry["content"])
        for entry in component.get("properties", ()):
            assert list(entry) == ["name", "value"]


def test_the_sbom_lists_what_is_in_the_program_and_nothing_else(sbom: dict[str, Any]) -> None:
    components = {component["name"]: component for component in sbom["components"]}
    assert list(components) == [
        "python",
        "qt",
        "openssl",
        "icu",
        "jaraco-classes",
        "keyring",
        "pyinstaller",
        "pyside6-essentials",
        "shiboken6",
        "uv",
    ]
    assert components["python"]["version"] == "3.12.9"
    assert components["openssl"]["version"] == "3.5.7"
    assert components["icu"]["version"] == "73"
    assert components["uv"]["hashes"] == [{"alg": "SHA-256", "content": digest(ELF)}]
    assert [each["value"] for each in components["keyring"]["properties"]] == ["a" * 64, "b" * 64]
    assert "hashes" not in components["keyring"]


def test_the_notices_hold_every_licence(tmp_path: Path, frozen: Path, site: Path) -> None:
    texts = written(tmp_path / "a", frozen, site)
    text = next(text for name, text in texts.items() if name.endswith("-notices.txt"))
    for name in ("uv", "keyring", "jaraco.classes", "PyInstaller"):
        assert f"{name}: {LICENCE}" in text
    assert f"pytest: {LICENCE}" not in text
    assert "ring 0.17  ISC" in text
    assert "\nbare\n" in text
    assert "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2" in text
    assert "Python 3.12.9" in text
    assert "Visual C++" not in text
    assert [name for name in ("libxcb-cursor", "libxkbcommon", "Zstandard", "GNU C Library") if name not in text] == []
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in text
    assert "GNU GENERAL PUBLIC LICENSE" in text
    assert "Qt 1.0, PySide6 and shiboken6 are used under" in text
    assert "{version}" not in text


@pytest.mark.parametrize("in_an_environment", [True, False])
def test_the_terms_of_python_for_windows_go_along(
    tmp_path: Path, frozen: Path, site: Path, in_an_environment: bool
) -> None:
    home = tmp_path / "python" if in_an_environment else site.parent.parent
    home.mkdir(exist_ok=True)
    (home / "LICENSE.txt").write_text("It holds a part of Visual C++.\r\n")
    (tmp_path / "venv" / "pyvenv.cfg").unlink()
    if in_an_environment:
        (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {home}\n")
    into = tmp_path / "a"
    into.mkdir()
    _, text, *_ = papers.write_papers(into, frozen, site, [], python="3.10.1")
    assert "It holds a part of Visual C++.\n" in text.read_text(encoding="utf-8")
    assert "Python 3.10.1" in text.read_text(encoding="utf-8")


def test_a_package_without_a_licence_is_an_error(tmp_path: Path, frozen: Path, site: Path) -> None:
    (site / "keyring-1.0.dist-info" / "licenses" / "LICENSE").unlink()
    with pytest.raises(SetUpError, match=r"keyring 1\.0 brings no text"):
        written(tmp_path / "a", frozen, site)


def test_packages_that_are_not_those_of_the_lock_are_an_error(tmp_path: Path, frozen: Path, site: Path) -> None:
    lock = papers.PACKAGE_LOCK
    lock.write_text(lock.read_text().replace("keyring==1.0", "keyring==1.1"))
    with pytest.raises(SetUpError, match=r"keyring 1\.0 is installed, and the lock has 1\.1"):
        written(tmp_path / "a", frozen, site)
    (site / "keyring-1.0.dist-info").rename(site / "gone")
    with pytest.raises(SetUpError, match="keyring is not installed"):
        written(tmp_path / "a", frozen, site)
