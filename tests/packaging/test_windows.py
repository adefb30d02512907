"""What goes into the Windows packages, and what the check under Wine reads: none of it needs Wine."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree as ET

import package_windows
import pytest
import windows_check
import windows_icon
import wine
from devenv import SetUpError

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
WIX = "{http://schemas.microsoft.com/wix/2006/wi}"
FILES = ("amlwizard.exe", "amlwizard-cli.exe", "_internal/base_library.zip", "_internal/PySide6/Qt6Core.dll")


@pytest.fixture
def program(tmp_path: Path) -> package_windows.Program:
    for name in FILES:
        file = tmp_path / "amlwizard" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return package_windows.Program(tmp_path / "amlwizard", "1.2.3", tmp_path / "amlwizard.ico", tmp_path, None)


def test_names_tell_version_system_audience_and_form() -> None:
    assert package_windows.file_name("1.2", "user.exe", complete=False) == "amlwizard-1.2-windows-x86_64-user.exe"
    complete = package_windows.file_name("1.2", "all-users.msi", complete=True)
    assert complete == "amlwizard-1.2-windows-x86_64-all-users-complete.msi"


def test_a_version_of_windows_has_four_numbers() -> None:
    assert package_windows.four_numbers("0.1.0") == "0.1.0.0"
    assert package_windows.four_numbers("2.5rc1") == "2.5.0.0"
    with pytest.raises(SetUpError, match="does not begin with two numbers"):
        package_windows.four_numbers("one")


def test_the_uninstaller_removes_each_file_and_folder_by_name_and_deeper_ones_first(
    program: package_windows.Program,
) -> None:
    lines = [line.strip() for line in package_windows.removal_list(program.files()).splitlines()]
    assert sorted(line for line in lines if line.startswith("Delete")) == sorted(
        f'Delete "$INSTDIR\\{name}"'.replace("/", "\\") for name in FILES
    )
    assert [line for line in lines if line.startswith("RMDir")] == [
        'RMDir "$INSTDIR\\_internal\\PySide6"',
        'RMDir "$INSTDIR\\_internal"',
    ]
    assert not any("/r" in line.lower().split() for line in lines)


def test_the_installer_lays_each_file_in_its_folder_in_one_order(program: package_windows.Program) -> None:
    files = program.files()
    text = package_windows.installation_list(files)
    assert text == package_windows.installation_list(reversed(files))
    folder, found = "", set()
    for line in text.splitlines()[1:-1]:
        kind, _, place = line.strip().partition(" ")
        if kind == "SetOutPath":
            folder = place.strip('"').replace("\\", "/")
        else:
            assert kind == "File"
            found.add((folder, place.strip('"')))
    assert found == {(str(PurePosixPath("$INSTDIR", name).parent), f"${{PROGRAM}}/{name}") for name in FILES}
    assert folder == "$INSTDIR"


def test_the_summary_of_an_msi_is_that_of_its_content_and_commit() -> None:
    head = "PropertyId\tValue\ni2\tl255\n_SummaryInformation\tPropertyId\n1\t1252\n"
    made = [
        head + f"9\t{{{number}}}\n12\t2026/01/0{number} 00:00:00\n13\t2026/01/0{number} 00:00:00\n" for number in (1, 2)
    ]
    first, second = (package_windows.levelled(text, b"cabinet", 86400) for text in made)
    assert first == second
    assert first.startswith(head)
    assert first.count("1970/01/02 00:00:00") == 2
    other = package_windows.levelled(made[0], b"another", 86400)
    assert [ours == theirs for ours, theirs in zip(first.splitlines(), other.splitlines(), strict=True)].count(False) == 1


def test_the_msi_has_every_file_once_where_it_belongs_and_keeps_its_identifiers(program: package_windows.Program) -> None:
    first = ET.fromstring(package_windows.msi_source(program, "/build/amlwizard"))
    folders = {child: parent for parent in first.iter() for child in parent}
    found = set()
    for component in first.iter(f"{WIX}Component"):
        for file in component.iter(f"{WIX}File"):
            parts, element = [PurePosixPath(file.attrib["Source"]).name], folders[component]
            while element.get("Id") != "INSTALLDIR":
                parts.insert(0, element.attrib["Name"])
                element = folders[element]
            found.add("/".join(parts))
            assert file.attrib["Source"] == f"/build/amlwizard/{'/'.join(parts)}"
    assert found == set(FILES)
    components = {component.attrib["Id"]: component.attrib["Guid"] for component in first.iter(f"{WIX}Component")}
    references = [reference.attrib["Id"] for reference in first.iter(f"{WIX}ComponentRef")]
    assert sorted(references) == sorted(components)
    newer = replace(program, version="1.3.0")
    second = ET.fromstring(package_windows.msi_source(newer, "/elsewhere/amlwizard"))
    assert components == {one.attrib["Id"]: one.attrib["Guid"] for one in second.iter(f"{WIX}Component")}
    (old,), (new,) = (list(source.iter(f"{WIX}Product")) for source in (first, second))
    assert old.attrib["UpgradeCode"] == new.attrib["UpgradeCode"]
    assert old.attrib["Id"] != new.attrib["Id"]


def test_the_installer_asks_for_no_administrator_and_writes_to_the_users_own_places_alone() -> None:
    script = (PACKAGING / "windows" / "installer.nsi").read_text(encoding="utf-8")
    assert "RequestExecutionLevel user" in script
    assert "HKLM" not in script
    assert "$PROGRAMFILES" not in script


def test_each_test_that_wine_cannot_run_exists_and_has_a_reason() -> None:
    for name in windows_check.left_out(windows_check.LEFT_OUT.read_text(encoding="utf-8")):
        file, _, test = name.partition("::")
        assert test.partition("[")[0].split("::")[-1] in (PACKAGING.parent / file).read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="no reason"):
        windows_check.left_out("tests/core/test_a.py::test_b\n")
    assert windows_check.left_out("# head\n\ntests/a.py::test_b  # no such call\n") == ["tests/a.py::test_b"]


def test_a_registry_is_compared_by_keys_and_names_of_values() -> None:
    text = 'WINE REGISTRY Version 2\n\n[Software\\\\A [x]] 1764534000\n#time=1dc\n@="b"\n"C \\"d\\""=dword:00000001\n'
    assert windows_check.registry_values(text) == {
        "Software\\\\A [x]",
        "Software\\\\A [x]: @",
        'Software\\\\A [x]: "C \\"d\\""',
    }


def test_programs_of_wheels_are_where_their_records_say(tmp_path: Path) -> None:
    site, scripts = tmp_path / "Lib" / "site-packages", tmp_path / "Scripts"
    for folder in (site / "bin", site / "uv-1.dist-info", scripts):
        folder.mkdir(parents=True)
    (site / "bin" / "uv.exe").write_bytes(b"MZ")
    record = site / "uv-1.dist-info" / "RECORD"
    record.write_text("bin/uv.exe,sha256=a,2\nuv/bin/other.exe,,\n")
    wine._move_programs(site, scripts)
    assert record.read_text() == "../../Scripts/uv.exe,sha256=a,2\nuv/bin/other.exe,,\n"
    assert (scripts / "uv.exe").read_bytes() == b"MZ"


def test_the_icon_has_every_size_and_the_side_of_the_installer_shows_it(tmp_path: Path) -> None:
    from PySide6.QtGui import QColor, QImage

    svg, icon, side = PACKAGING.parent / "resources/icons/amlwizard.svg", tmp_path / "a.ico", tmp_path / "a.ico.bmp"
    windows_icon.write_icon(svg, icon)
    body = icon.read_bytes()
    entries = [struct.unpack_from("<BBBBHHII", body, 6 + 16 * number) for number in range(len(windows_icon.SIZES))]
    pictures = [QImage.fromData(body[place : place + size]) for *_, size, place in entries]
    assert [picture.width() for picture in pictures] == list(windows_icon.SIZES)
    windows_icon.write_side(svg, side)
    picture = QImage(str(side))
    assert (picture.width(), picture.height()) == windows_icon.SIDE
    assert picture.pixelColor(0, 0) == QColor(windows_icon.SIDE_COLOUR)
    middle, size = windows_icon.SIDE[0] // 2, windows_icon.SIDE_ICON
    assert picture.pixelColor(middle - size // 4, middle - size // 3) == QColor("#2f7de1")
