"""The .app and the .dmg of macOS, as far as files tell: its tools are stand-ins here."""

from __future__ import annotations

import hashlib
import os
import plistlib
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import check_macos
import freeze
import icns
import package_macos
import pytest
from devenv import SetUpError

from amlwizard import __version__
from amlwizard.core.bundle.names import SUFFIX

ROOT = Path(__file__).resolve().parents[2]
ARM, INTEL = 0x0100000C, 0x01000007
LC_LOAD_DYLIB, LC_BUILD_VERSION = 0xC, 0x32


def macho(*, machine: int = ARM, system: tuple[int, int] | None = (12, 0), needs: str = "@rpath/QtCore") -> bytes:
    """Return the start of a library: for which machine, from which system on, and what it needs."""
    name = needs.encode() + bytes(8 - len(needs) % 8)
    commands = [struct.pack("<6I", LC_LOAD_DYLIB, 24 + len(name), 24, 0, 0, 0) + name]
    if system is not None:
        commands.append(struct.pack("<6I", LC_BUILD_VERSION, 24, 1, system[0] << 16 | system[1] << 8, 0, 0))
    content = b"".join(commands)
    return struct.pack("<8I", 0xFEEDFACF, machine, 0, 6, len(commands), len(content), 0, 0) + content


@pytest.fixture(scope="module")
def icon(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The icon, drawn once."""
    file = tmp_path_factory.mktemp("icon") / "amlwizard.icns"
    icns.write_icns(package_macos.ICON, file)
    return file.read_bytes()


@pytest.fixture
def app(tmp_path: Path, icon: bytes) -> Path:
    """An .app without a fault."""
    contents = tmp_path / "made" / "amlwizard.app" / "Contents"
    framework = contents / "Frameworks" / "PySide6" / "Qt" / "lib" / "QtCore.framework"
    for folder in (contents / "MacOS", contents / "Resources" / "uv", framework / "Versions" / "A"):
        folder.mkdir(parents=True)
    for program in ("amlwizard", "amlwizard-cli"):
        (contents / "MacOS" / program).write_bytes(macho())
        (contents / "MacOS" / program).chmod(0o755)
    (contents / "Resources" / "uv" / "uv").write_bytes(macho(needs="/usr/lib/libSystem.B.dylib"))
    freeze.note_uv(contents / "Resources" / "uv" / "uv")
    (contents / "Frameworks" / "uv").symlink_to("../Resources/uv")
    (framework / "Versions" / "A" / "QtCore").write_bytes(macho())
    (framework / "QtCore").symlink_to("Versions/A/QtCore")
    (contents / "Resources" / "open.sh").write_text("#!/bin/sh\n")
    (contents / "Resources" / "open.sh").chmod(0o755)
    (contents / "Resources" / "amlwizard.icns").write_bytes(icon)
    package_macos.write_plist(contents.parent)
    return contents.parent


def faults(app: Path) -> list[str]:
    return list(check_macos.app_faults(app))


def test_an_app_without_a_fault(app: Path) -> None:
    assert faults(app) == []
    assert check_macos.main([str(app)]) == 0


def test_the_info_plist_tells_what_the_system_asks(app: Path) -> None:
    plist = plistlib.loads((app / "Contents" / "Info.plist").read_bytes())
    assert plist["CFBundleShortVersionString"] == plist["CFBundleVersion"] == __version__
    assert plist["LSMinimumSystemVersion"] == "12.0"
    assert plist["NSHighResolutionCapable"] is True
    assert plist["CFBundleLocalizations"] == ["en", "zh-Hans"]
    (document,), (kind,) = plist["CFBundleDocumentTypes"], plist["UTExportedTypeDeclarations"]
    assert document["LSItemContentTypes"] == [kind["UTTypeIdentifier"]]
    assert kind["UTTypeTagSpecification"] == {"public.filename-extension": [SUFFIX.removeprefix(".")]}
    assert (app / "Contents" / "MacOS" / plist["CFBundleExecutable"]).is_file()
    assert (app / "Contents" / "Resources" / plist["CFBundleIconFile"]).is_file()


def test_an_info_plist_that_lacks_something_or_cannot_be_read_is_named(
    app: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = app / "Contents" / "Info.plist"
    file.write_bytes(plistlib.dumps(package_macos.info_plist() | {"LSMinimumSystemVersion": "13.0"}))
    assert faults(app) == ["Info.plist has '13.0' as LSMinimumSystemVersion, and not '12.0'"]
    file.write_bytes(b"nothing")
    assert faults(app)[0].startswith("Info.plist cannot be read")
    assert check_macos.main([str(app)]) == 1
    assert "1 faults" in capsys.readouterr().out


def test_the_icon_has_every_size_and_the_picture(app: Path) -> None:
    from PySide6.QtGui import QImage

    picture = QImage.fromData(icns.draw(package_macos.ICON, 64), "PNG")
    assert picture.width() == 64
    assert picture.pixelColor(0, 0).alpha() == 0
    assert picture.pixelColor(32, 8).name() == "#2f7de1"
    file = app / "Contents" / "Resources" / "amlwizard.icns"
    file.write_bytes(file.read_bytes().replace(b"ic10", b"ic00"))
    assert any("ic10 has 0 pixels, and not 1024" in fault for fault in faults(app))
    file.unlink()
    assert faults(app) == ["amlwizard.icns is missing"]


def test_programs_that_do_not_run_everywhere_are_named(app: Path) -> None:
    (app / "Contents" / "Frameworks" / "a.dylib").write_bytes(macho(machine=INTEL))
    (app / "Contents" / "Frameworks" / "b.dylib").write_bytes(macho(system=(13, 3)))
    (app / "Contents" / "Frameworks" / "c.dylib").write_bytes(macho(needs="/opt/lib/libx.dylib"))
    (app / "Contents" / "Frameworks" / "d.dylib").write_bytes(macho(system=None))
    assert faults(app) == [
        "Contents/Frameworks/a.dylib is not for arm64",
        "Contents/Frameworks/b.dylib needs macOS 13.3",
        "Contents/Frameworks/c.dylib needs /opt/lib/libx.dylib, which a computer may lack",
        "Contents/Frameworks/d.dylib needs macOS of no known version",
    ]


def test_links_that_break_when_it_is_moved_are_named(app: Path) -> None:
    (app / "Contents" / "a").symlink_to("nothing")
    (app / "Contents" / "b").symlink_to(app / "Contents" / "MacOS")
    (app / "Contents" / "c").symlink_to("../../..")
    assert faults(app) == [
        "Contents/a is a link to nothing",
        "Contents/b is a link that leads outside",
        "Contents/c is a link that leads outside",
    ]


def test_missing_parts_are_named(app: Path) -> None:
    (app / "Contents" / "MacOS" / "amlwizard-cli").unlink()
    (app / "Contents" / "Resources" / "uv" / "uv").write_bytes(macho())
    assert faults(app) == [
        "uv is not the one whose hash is noted beside it",
        "Contents/MacOS/amlwizard-cli is missing, or is no program",
    ]
    (app / "Contents" / "Resources" / "uv" / "uv.sha256").unlink()
    assert faults(app)[0] == "uv is missing"


def test_the_wheels_of_macos_are_looked_into(tmp_path: Path) -> None:
    wheel = tmp_path / "x-1-py3-none-macosx_12_0_arm64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("x/good.so", macho())
        archive.writestr("x/bad.so", macho(system=(14, 0)))
        archive.writestr("x/plugins/sqldrivers/y.dylib", macho(machine=INTEL))
        archive.writestr("x/note.txt", "words")
    assert list(check_macos.wheel_faults(wheel, "arm64")) == [f"{wheel.name}: x/bad.so needs macOS 14.0"]
    assert f"{wheel.name}: x/good.so is not for x86_64" in check_macos.wheel_faults(wheel, "x86_64")
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("x/note.txt", "words")
    assert list(check_macos.wheel_faults(wheel, "arm64")) == [f"{wheel.name} holds no program of macOS"]


@pytest.mark.skipif(sys.platform == "darwin", reason="there, it is made")
def test_elsewhere_nothing_is_made_and_the_reason_is_told(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "packaging" / "dev.py"), "package", "macos", "--into", str(tmp_path / "dist")]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert "on macOS alone" in answer.stderr
    assert "dev.py package-check macos" in answer.stderr
    assert list((tmp_path / "dist").iterdir()) == []


@pytest.fixture
def fake_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for the tools of macOS, which note how they were called; a signature changes a file as it does there."""
    folder = tmp_path / "fake_tools"
    folder.mkdir()
    log = tmp_path / "log"
    says = f'echo "${{0##*/}} $*" >> "{log}"\n'
    acts = {
        "codesign": 'case "$*" in --force*/uv) eval "printf signed >> \\"\\${$#}\\"";; esac\n',
        "ditto": 'case "$1" in -c) ;; *) cp -a "$1" "$2";; esac\n',
        "hdiutil": 'eval "ls / > \\"\\${$#}\\""\n',
        "xcrun": "",
    }
    for name, act in acts.items():
        (folder / name).write_text(f"#!/bin/sh\n{says}{act}")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


@pytest.mark.posix
def test_it_is_signed_from_the_inside_out_and_uv_before_its_note(app: Path, fake_tools: Path) -> None:
    package_macos.sign(app, "Developer ID Application: Example")
    lines = fake_tools.read_text(encoding="utf-8").splitlines()
    signed = [Path(line.rpartition(" ")[2]) for line in lines[:-1]]
    framework = app / "Contents" / "Frameworks" / "PySide6" / "Qt" / "lib" / "QtCore.framework"
    assert signed[0].name == "uv"
    assert signed.index(framework / "Versions" / "A" / "QtCore") < signed.index(framework) < len(signed) - 1
    assert signed[-1] == app
    assert app / "Contents" / "MacOS" / "amlwizard" not in signed
    assert all("--options runtime --timestamp" in line for line in lines[:-1])
    with_entitlements = [file.name for file, line in zip(signed, lines, strict=False) if "--entitlements" in line]
    assert with_entitlements == ["amlwizard-cli", "amlwizard.app"]
    assert lines[-1] == f"codesign --verify --deep --strict {app}"
    uv = app / "Contents" / "Resources" / "uv" / "uv"
    assert uv.read_bytes().endswith(b"signed")
    assert uv.with_name("uv.sha256").read_text().split() == [hashlib.sha256(uv.read_bytes()).hexdigest(), "uv"]
    assert faults(app) == []


@pytest.mark.posix
def test_without_a_certificate_the_signature_has_no_name(app: Path, fake_tools: Path) -> None:
    package_macos.sign(app, "")
    first = fake_tools.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("codesign --force --sign - ")
    assert "--timestamp" not in first


@pytest.mark.posix
@pytest.mark.parametrize(("complete", "form"), [(False, ""), (True, "-complete")])
def test_the_image_holds_the_app_and_a_link_to_its_place(app: Path, fake_tools: Path, complete: bool, form: str) -> None:
    image = package_macos.make_image(app, app.parent, complete=complete)
    assert image.name == f"amlwizard-{__version__}-macos-{os.uname().machine}{form}.dmg"
    content = app.parent / "image"
    assert {path.name for path in content.iterdir()} == {"amlwizard.app", "Applications"}
    assert (content / "Applications").readlink() == Path("/Applications")
    assert faults(content / "amlwizard.app") == []
    assert f"-srcfolder {content} {image}" in fake_tools.read_text(encoding="utf-8")


def test_a_bundle_is_carried_where_the_program_looks_for_it(app: Path) -> None:
    bundle = app.parent / f"lab{SUFFIX}"
    bundle.write_bytes(b"bundle")
    package_macos.carry(app, bundle)
    contents = app / "Contents"
    assert (contents / "Frameworks" / "bundle" / bundle.name).read_bytes() == b"bundle"
    assert (contents / "Resources" / "bundle" / bundle.name).is_file()
    assert faults(app) == []


@pytest.mark.posix
def test_the_whole_way(app: Path, fake_tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the frozen program to the notarised .dmg; what is frozen, and the papers, have tests of their own."""
    for name in ("SIGN_IDENTITY", "NOTARY_KEY", "NOTARY_KEY_ID", "NOTARY_ISSUER"):
        monkeypatch.setenv(f"MACOS_{name}", name.lower())
    (app / "Contents" / "Info.plist").write_bytes(b"of PyInstaller")
    bundle = tmp_path / f"lab{SUFFIX}"
    bundle.write_bytes(b"bundle")
    told: list[tuple[Path, ...]] = []

    def write_papers(into: Path, frozen: Path, site_packages: Path, made: list[Path]) -> list[Path]:
        told.append((into, frozen, site_packages, *made))
        return [into / "SHA256SUMS"]

    monkeypatch.setattr(package_macos.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(package_macos.freeze, "PLACE", tmp_path / "place")
    monkeypatch.setattr(package_macos.freeze, "environment", lambda _place: Path(sys.executable))
    monkeypatch.setattr(package_macos.freeze, "freeze", lambda _place, icon: app.with_name("amlwizard") if icon else None)
    monkeypatch.setattr(package_macos, "write_papers", write_papers)
    image, sums = package_macos.build(tmp_path, bundle)
    assert (image.suffix, sums.name) == (".dmg", "SHA256SUMS")
    ((into, frozen, site_packages, *made),) = told
    assert (into, frozen, made) == (tmp_path, app, [image])
    assert site_packages.name == "site-packages"
    tools = [line.split()[:3] for line in fake_tools.read_text(encoding="utf-8").splitlines()]
    acts = [" ".join(words) for words in tools if words[0] != "codesign"]
    assert acts[0].startswith("ditto -c -k")
    assert acts[1:3] == ["xcrun notarytool submit", "xcrun stapler staple"]
    assert acts[3].startswith("ditto /")
    assert acts[4:] == ["hdiutil create -volname", "xcrun notarytool submit", "xcrun stapler staple"]
    assert (app.parent / "image" / "amlwizard.app" / "Contents" / "Resources" / "bundle" / bundle.name).is_file()
    assert (tmp_path / "place" / "amlwizard.icns").is_file()


@pytest.mark.posix
def test_an_app_with_a_fault_is_not_packed(
    app: Path, fake_tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (app / "Contents" / "Frameworks" / "a.dylib").write_bytes(macho(machine=INTEL))
    monkeypatch.setattr(package_macos.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(package_macos.freeze, "PLACE", tmp_path / "place")
    monkeypatch.setattr(package_macos.freeze, "environment", lambda _place: Path(sys.executable))
    monkeypatch.setattr(package_macos.freeze, "freeze", lambda _place, **_icon: app.with_name("amlwizard"))
    with pytest.raises(SetUpError, match="failed"):
        package_macos.build(tmp_path, None)
    assert "hdiutil" not in fake_tools.read_text(encoding="utf-8")


def test_half_a_key_of_the_notary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("MACOS_NOTARY_KEY", "MACOS_NOTARY_KEY_ID", "MACOS_NOTARY_ISSUER", "MACOS_SIGN_IDENTITY")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    assert package_macos.notary_options() == []
    monkeypatch.setenv("MACOS_NOTARY_KEY", "key.p8")
    with pytest.raises(SetUpError, match="also needs MACOS_NOTARY_KEY_ID, MACOS_NOTARY_ISSUER, MACOS_SIGN_IDENTITY"):
        package_macos.notary_options()
    for name in names[1:]:
        monkeypatch.setenv(name, name[-2:])
    assert package_macos.notary_options() == ["--key", "key.p8", "--key-id", "ID", "--issuer", "ER"]
