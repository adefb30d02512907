"""Where a folder lies and whose it is: the real rules on simulated computers, and on this one."""

from __future__ import annotations

from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest

from amlwizard.core.catalogue import text
from amlwizard.core.host import host_facts
from amlwizard.core.root_places import (
    Mount,
    folder_of_programs,
    is_everybodys,
    is_roaming,
    mounts,
    server_of,
    what_lies_in,
)

WINDOWS = {
    "SystemRoot": "C:\\Windows",
    "ProgramFiles": "C:\\Program Files",
    "ProgramFiles(x86)": "C:\\Program Files (x86)",
    "USERPROFILE": "C:\\Users\\mei",
    "APPDATA": "C:\\Users\\mei\\AppData\\Roaming",
}


def pure(path: str, system: str) -> PurePath:
    return PureWindowsPath(path) if system == "windows" else PurePosixPath(path)


@pytest.mark.parametrize(
    ("system", "path", "everybodys"),
    [
        ("linux", "/home", True),
        ("linux", "/tmp", True),
        ("linux", "/home/mei", False),
        ("linux", "/opt/aml", False),
        ("macos", "/Users", True),
        ("macos", "/Users/mei/aml", False),
        ("windows", "C:\\Users", True),
        ("windows", "c:\\users", True),
        ("windows", "C:\\Users\\mei\\aml", False),
        ("windows", "D:\\aml", False),
    ],
)
def test_b44_folders_that_hold_those_of_many(system: str, path: str, everybodys: bool) -> None:
    assert is_everybodys(pure(path, system), WINDOWS, system) is everybodys


@pytest.mark.parametrize(
    ("system", "path", "programs"),
    [
        ("linux", "/usr/aml", "/usr"),
        ("linux", "/etc", "/etc"),
        ("linux", "/usr/local/aml", None),
        ("linux", "/home/mei/usr/aml", None),
        ("linux", "/usrlocal", None),
        ("macos", "/Applications/aml", "/Applications"),
        ("macos", "/Users/mei/Applications", None),
        ("windows", "C:\\Program Files\\aml", "C:\\Program Files"),
        ("windows", "c:\\program files (x86)\\aml", "C:\\Program Files (x86)"),
        ("windows", "C:\\Windows\\System32\\config\\systemprofile\\aml", "C:\\Windows"),
        ("windows", "C:\\aml", None),
        ("windows", "C:\\Users\\mei\\aml", None),
    ],
)
def test_b44_folders_of_installed_programs(system: str, path: str, programs: str | None) -> None:
    found = folder_of_programs(pure(path, system), WINDOWS, system)
    assert found == (pure(programs, system) if programs is not None else None)


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/dev/shm/aml", "which the system makes anew at every start: nothing there is kept on a disk"),
        ("/proc/aml", "which the system makes anew at every start: nothing there is kept on a disk"),
        ("/etc/aml", "where the system keeps files of its own"),
        ("/usr/lib/aml", "where programs are installed"),
    ],
)
def test_what_such_a_folder_is_for_is_told_as_it_is(path: str, what: str) -> None:
    found = folder_of_programs(PurePosixPath(path), {}, "linux")
    assert found is not None
    assert text(what_lies_in(found).key) == what


def test_where_this_program_is_installed_is_such_a_folder() -> None:
    own = PurePosixPath("/opt/amlwizard")
    assert folder_of_programs(own / "aml", {}, "linux", [own]) == own
    assert folder_of_programs(PurePosixPath("/opt/aml"), {}, "linux", [own]) is None


MOUNTS = (
    Mount("/", "ext4"),
    Mount("/home", "nfs4", "rw"),
    Mount("/home/mei/local", "xfs"),
    Mount("/mnt/share", "cifs"),
    Mount("/mnt/ssh", "fuse.sshfs"),
    Mount("/mnt/usb", "fuseblk"),
)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/aml", None),
        ("/home/mei/aml", "nfs4"),
        ("/home/mei/local/aml", None),
        ("/mnt/share", "cifs"),
        ("/mnt/shared/aml", None),
        ("/mnt/ssh/aml", "fuse.sshfs"),
        ("/mnt/usb/aml", None),
    ],
)
def test_the_file_system_that_is_mounted_nearest_counts(path: str, kind: str | None) -> None:
    assert server_of(PurePosixPath(path), MOUNTS, "linux") == kind


def test_of_two_mounts_at_one_place_the_later_one_hides_the_other() -> None:
    twice = (Mount("/", "ext4"), Mount("/data", "nfs"), Mount("/data", "ext4"))
    assert server_of(PurePosixPath("/data/aml"), twice, "linux") is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("\\\\server\\share\\aml", "\\\\server\\share"),
        ("Z:\\aml", "Z:\\"),
        ("C:\\aml", None),
        ("\\\\?\\C:\\aml", None),
    ],
)
def test_shares_and_drive_letters_of_servers_on_windows(path: str, kind: str | None) -> None:
    asked: list[str] = []

    def drive_type(drive: str) -> int:
        asked.append(drive)
        return {"C:\\": 3, "Z:\\": 4}[drive]

    root = PureWindowsPath(path)
    assert server_of(root, mounts(root, "windows", drive_type), "windows") == kind
    assert asked == ([] if path.startswith("\\\\") else [root.anchor])  # no other drive, and no share


def test_the_file_systems_of_this_computer_are_found(tmp_path: Path) -> None:
    found = mounts(tmp_path.resolve(), host_facts().system)
    assert any(tmp_path.resolve().is_relative_to(mount.point) for mount in found)
    assert server_of(tmp_path.resolve(), found, "linux") is None


@pytest.mark.parametrize(
    ("path", "roaming"),
    [
        ("C:\\Users\\mei\\AppData\\Roaming\\aml", True),
        ("C:\\Users\\mei\\AppData\\Local\\aml", False),
        ("C:\\Users\\mei\\aml", False),
    ],
)
def test_the_roaming_part_of_a_profile(path: str, roaming: bool) -> None:
    assert is_roaming(PureWindowsPath(path), WINDOWS, "windows") is roaming
    assert not is_roaming(PurePosixPath("/home/mei"), WINDOWS, "linux")
