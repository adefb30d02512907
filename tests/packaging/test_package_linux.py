"""The Linux packages, as far as nothing has to be frozen for it: the .run's script, the .deb's words, thinned ICU data."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from configparser import RawConfigParser
from pathlib import Path
from typing import TYPE_CHECKING

import package_linux
import pytest
import thin_icu

from amlwizard.cli_options import COMMANDS
from tests.support.namespaces import SmallFileSystem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.namespaces import Circumstances

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="packages of Linux are made and tried there")


class Account:
    """A home with a space and other letters in its path, and the .run files in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "zoë's 家 $HOME"
        self.home.mkdir()
        self.listed: dict[str, str] = {}
        self.data = self.home / ".local" / "share"
        self.program = self.data / "amlwizard" / "current" / "amlwizard"

    def make(self, version: str, script: str = 'echo "$0 $*"', kilobytes: int = 1) -> Path:
        """Write a .run whose program is a script and is said to take so much; its unpacker passes everything on."""
        content = {f"share/{name}": b"" for name in ("amlwizard.xml", "amlwizard.svg")}
        content["share/amlwizard.desktop"] = (ROOT / "packaging" / "linux" / "amlwizard.desktop").read_bytes()
        content["amlwizard"] = f"#!/bin/sh\n# {version}\n{script}\n".encode()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name, body in content.items():
                entry = tarfile.TarInfo(f"amlwizard-{version}/{name}")
                entry.size, entry.mode = len(body), 0o755
                archive.addfile(entry, io.BytesIO(body))
        target = self.home / f"amlwizard {version}.run"
        unpacker, payload = self.home / "unpacker", self.home / "payload"
        unpacker.write_text("#!/bin/sh\nexec cat\n")
        payload.write_bytes(packed.getvalue())
        build = package_linux.Build(ROOT, ROOT, version, "2.28", 0)
        self.listed = package_linux.write_run(target, unpacker, payload, build, kilobytes)
        for file in (unpacker, payload):
            file.unlink()
        return target

    def start(self, run: Path, *arguments: str, shell: Sequence[str] = (), language: str = "C.UTF-8") -> tuple[int, str]:
        """Start it without a screen; return its status and what it said."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": language}
        command = [*shell, run, *arguments]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def versions(self) -> list[str]:
        return sorted(path.name.partition("-")[0] for path in (self.data / "amlwizard" / "versions").iterdir())


@pytest.fixture
def account(tmp_path: Path) -> Account:
    return Account(tmp_path)


def test_it_installs_for_the_user_and_starts_the_program(account: Account) -> None:
    status, said = account.start(account.make("1.0"))
    assert (status, said) == (0, f"{account.program} \n")
    assert account.versions() == ["1.0"]


def test_arguments_after_two_dashes_reach_the_program(account: Account) -> None:
    status, said = account.start(account.make("1.0"), "--", "install", "--root", "my folder")
    assert (status, said) == (0, f"{account.program} install --root my folder\n")


def test_silent_only_installs(account: Account) -> None:
    assert account.start(account.make("1.0"), "--silent") == (0, "")
    assert account.program.is_file()


def test_the_desktop_entry_starts_what_was_installed(account: Account, tmp_path: Path) -> None:
    account.start(account.make("1.0"), "--silent")
    entry = RawConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment,method-assign]
    entry.read(account.data / "applications" / "amlwizard.desktop", encoding="utf-8")
    line = entry["Desktop Entry"]["Exec"]
    path = str(account.program).replace("$", "\\\\$")
    assert line == f'"{path}" %f'
    assert "uninstall" in entry["Desktop Entry"]["Actions"]
    checker = shutil.which("desktop-file-validate")
    if checker is not None:
        subprocess.run([checker, account.data / "applications" / "amlwizard.desktop"], check=True)


def test_what_it_leaves_beside_the_program_is_listed(account: Account) -> None:
    account.start(account.make("1.0"), "--silent")
    left = account.data / "amlwizard" / "uninstall"
    assert account.listed["uninstall"] == hashlib.sha256(left.read_bytes()).hexdigest()
    assert account.listed["unpacker"] == hashlib.sha256(b"#!/bin/sh\nexec cat\n").hexdigest()


def test_a_newer_one_takes_the_place_of_an_older_one(account: Account) -> None:
    account.start(account.make("1.0"), "--silent")
    account.start(account.make("1.10"), "--silent")
    assert account.versions() == ["1.10"]
    assert "# 1.10" in account.program.read_text()


def test_an_older_one_that_runs_stays_until_it_has_ended(account: Account) -> None:
    account.start(account.make("1.0"), "--silent")
    running = account.program.resolve().with_name("sleeper")
    shutil.copy(shutil.which("sleep") or "", running)
    with subprocess.Popen([running, "60"]) as child:
        assert account.start(account.make("1.1"), "--silent")[0] == 0
        assert account.versions() == ["1.0", "1.1"]
        status, said = account.start(account.make("1.1"), "--uninstall")
        assert status == 1
        assert "running" in said
        child.kill()
    account.start(account.make("1.1"), "--silent")
    assert account.versions() == ["1.1"]


def test_an_older_one_does_not_take_the_place_of_a_newer_one(account: Account) -> None:
    account.start(account.make("1.10"), "--silent")
    status, said = account.start(account.make("1.9"), "--silent")
    assert status == 2
    assert "1.10" in said
    assert account.versions() == ["1.10"]


def test_a_damaged_one_is_refused_and_leaves_the_installed_one(account: Account) -> None:
    account.start(account.make("1.0"), "--silent")
    run = account.make("1.1")
    body = bytearray(run.read_bytes())
    body[-2000] ^= 1
    run.write_bytes(body)
    status, said = account.start(run, "--silent")
    assert status == 1
    assert "damaged" in said
    assert account.versions() == ["1.0"]


SHELLS = [[shell] for shell in ("dash", "bash") if shutil.which(shell)]
SHELLS += [["busybox", "sh"]] if shutil.which("busybox") else []


def in_order(script: bytes) -> bool:
    """Tell whether a shell takes a script, which it need not run for that."""
    return subprocess.run(["sh", "-n"], input=script, stderr=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_one_that_was_cut_anywhere_is_called_damaged_and_installs_nothing(account: Account, shell: list[str]) -> None:
    run = account.make("1.0")
    whole = run.read_bytes()
    stub = int(re.search(rb"stub_bytes=(\d+)", whole)[1])  # type: ignore[index]
    said_in = whole.index(b"\n# amlwizard")
    inside = next(cut for cut in range(stub // 2, stub) if not in_order(whole[:cut]))
    for cut in (said_in, said_in + 100, inside, stub - 1, stub, stub + 10, len(whole) - 1):
        run.write_bytes(whole[:cut])
        status, said = account.start(run, "--silent", shell=shell)
        assert status == 1
        assert said.splitlines()[0] == f"{run} is damaged. Download it again."
        assert [path.name for path in account.home.rglob("*")] == [run.name], cut


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize("language", ["C.UTF-8", "zh_CN.UTF-8"])
def test_too_little_room_is_told_in_a_sentence_before_anything_is_unpacked(
    account: Account, shell: list[str], language: str
) -> None:
    run = account.make("1.0", kilobytes=10**12)
    status, said = account.start(run, "--silent", shell=shell, language=language)
    assert status == 1
    assert said.count("\n") == 1
    assert "1024000001 MB" in said
    assert str(account.data) in said
    assert "XDG_DATA_HOME" in said
    assert [path.name for path in account.home.rglob("*")] == [run.name]


def test_an_update_without_room_leaves_the_installed_one(account: Account) -> None:
    account.start(account.make("1.0"), "--silent")
    status, said = account.start(account.make("1.1", kilobytes=10**12), "--silent")
    assert (status, said.count("\n")) == (1, 1)
    assert account.versions() == ["1.0"]
    assert "# 1.0" in account.program.read_text()


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize(
    ("kind", "words"), [("full", "could not be unpacked"), ("ro", "Nothing can be written"), ("noexec", "(noexec)")]
)
def test_a_disk_that_does_not_serve_is_named_in_a_sentence_and_nothing_is_left(
    account: Account, circumstances: type[Circumstances], shell: list[str], kind: str, words: str
) -> None:
    run = account.make("1.0", script="#" * 3_000_000)
    account.data.mkdir(parents=True)
    small = SmallFileSystem(account.data, 1_000_000 if kind == "full" else 10_000_000, noexec=kind == "noexec")
    place = circumstances(read_only=(account.home,)) if kind == "ro" else circumstances(file_systems=(small,))
    look = [*place.command(["sh", "-c", '"$@"; status=$?; ls -A "$0"; exit $status', str(account.data), *shell])]
    status, said = account.start(run, "--silent", shell=look)
    assert status == 1
    assert words in said
    assert str(account.data) in said
    assert said.count("\n") == 1, said


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize("closed", ["applications", "mime/packages"])
def test_one_folder_that_cannot_be_written_is_named_before_anything_is_unpacked(
    account: Account, circumstances: type[Circumstances], shell: list[str], closed: str
) -> None:
    run = account.make("1.0")
    folder = account.data / closed
    folder.mkdir(parents=True)
    place = circumstances(read_only=(folder,)).command(shell)
    status, said = account.start(run, "--silent", shell=place)
    assert (status, said.count("\n")) == (1, 1)
    assert f"Nothing can be written in {folder}" in said
    assert not (account.data / "amlwizard").exists()


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_what_fails_after_a_first_unpacking_leaves_nothing(account: Account, shell: list[str]) -> None:
    """A folder lies where the entry of the desktop has to be."""
    (account.data / "applications" / "amlwizard.desktop.part" / "x").mkdir(parents=True)
    status, said = account.start(account.make("1.0"), "--silent", shell=shell)
    assert (status, said.count("\n")) == (1, 1)
    assert not (account.data / "amlwizard").exists()


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_closed_standard_error_is_no_obstacle(account: Account, shell: list[str]) -> None:
    run = account.make("1.0")
    status, _ = account.start(run, "--silent", shell=["sh", "-c", 'exec "$0" "$@" 2>&-', *shell])
    assert status == 0
    assert account.program.is_file()


@pytest.mark.parametrize("damage", ["", "#!/bin/sh\nexit 1\n"])
def test_an_installed_one_that_does_not_start_is_unpacked_anew(account: Account, damage: str) -> None:
    run = account.make("1.0")
    account.start(run, "--silent")
    account.program.write_text(damage)
    account.program.chmod(0o755 if damage else 0o644)
    assert account.start(run) == (0, f"{account.program} \n")
    assert account.versions() == ["1.0"]


def test_an_installed_one_that_lost_a_file_is_unpacked_anew_and_a_whole_one_is_not(account: Account) -> None:
    run = account.make("1.0")
    account.start(run, "--silent")
    lost = account.program.parent / "share" / "amlwizard.svg"
    lost.unlink()
    account.start(run, "--silent")
    assert lost.is_file()
    before = lost.stat()
    account.start(run, "--silent")
    assert (lost.stat().st_ino, lost.stat().st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def test_what_is_not_understood_installs_nothing(account: Account) -> None:
    status, said = account.start(account.make("1.0"), "--nonsense")
    assert status == 2
    assert "--silent" in said
    assert not (account.data / "amlwizard").exists()


@pytest.mark.parametrize("by_copy", [False, True])
def test_uninstalling_leaves_nothing_but_workspaces(account: Account, by_copy: bool) -> None:
    run = account.make("1.0")
    account.start(run, "--silent")
    settings = account.home / ".config" / "amlwizard"
    settings.mkdir(parents=True)
    (settings / "settings.json").write_text("{}")
    (account.home / "aml").mkdir()
    uninstaller = account.data / "amlwizard" / "uninstall"
    uninstaller.chmod(0o755)
    status, said = account.start(uninstaller if by_copy else run, "--uninstall")
    assert (status, said) == (0, "amlwizard has been removed. Workspaces are where they were.\n")
    assert sorted(path.name for path in account.home.rglob("*")) == ["aml", run.name]


def test_uninstalling_leaves_what_belongs_to_others(account: Account) -> None:
    run = account.make("1.0")
    account.start(run, "--silent")
    other = account.data / "applications" / "other.desktop"
    other.write_text("[Desktop Entry]\n")
    account.start(run, "--uninstall")
    assert [path for path in account.data.rglob("*") if path.is_file() and path.suffix == ".desktop"] == [other]


def test_the_control_file_asks_for_what_is_not_carried() -> None:
    build = package_linux.Build(ROOT, ROOT, "1.0", "2.28", 0)
    fields = dict(
        line.split(": ", 1) for line in package_linux.control(build, 5, ["libxcb-cursor.so.0"]).splitlines() if ": " in line
    )
    assert (fields["Package"], fields["Version"], fields["Architecture"]) == ("amlwizard", "1.0", "amd64")
    wanted = fields["Depends"].split(", ")
    assert wanted[0] == "libc6 (>= 2.28)"
    assert {"libegl1", "libxcb-icccm4", "libstdc++6", "libglib2.0-0t64 | libglib2.0-0"} <= set(wanted)
    assert "libxcb-cursor0" not in wanted


def test_the_names_of_the_packages() -> None:
    assert package_linux.file_name("1.0", complete=False) == "amlwizard-1.0-linux-x86_64"
    assert package_linux.file_name("1.0", complete=True) == "amlwizard-1.0-linux-x86_64-complete"


def test_the_man_page_has_every_command() -> None:
    page = package_linux.man_page(ROOT, "1.0")
    assert "@" not in page
    assert [command for command in COMMANDS if f".B amlwizard {command}\n" not in page] == []


def test_the_file_type_is_that_of_the_desktop_entry() -> None:
    kind = ET.parse(ROOT / "packaging" / "linux" / "amlwizard.xml").getroot()[0]
    entry = (ROOT / "packaging" / "linux" / "amlwizard.desktop").read_text(encoding="utf-8")
    assert f"MimeType={kind.attrib['type']};" in entry
    assert any(part.attrib.get("pattern") == "*.amlbundle" for part in kind)


def test_an_archive_tells_nothing_of_the_builder(tmp_path: Path) -> None:
    """Owner, time and mode are the same whoever builds; a bundle is a frame of its own behind the program."""
    folder = tmp_path / "program"
    (folder / "_internal").mkdir(parents=True)
    (folder / "amlwizard").write_text("#!/bin/sh\n")
    (folder / "amlwizard").chmod(0o700)
    bundle = tmp_path / "x.amlbundle"
    bundle.write_bytes(b"bundle")
    build = package_linux.Build(ROOT, folder, "1.0", "2.28", 1_700_000_000)
    if shutil.which("zstd") is None:
        pytest.skip("this machine has no zstd")
    target = tmp_path / "x.tar.zst"
    package_linux.write_archive(target, build, bundle, tmp_path / "part.zst")
    plain = subprocess.run(["zstd", "-dcq", target], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        entries = archive.getmembers()
    assert [entry.name for entry in entries] == [
        "amlwizard-1.0",
        "amlwizard-1.0/_internal",
        "amlwizard-1.0/amlwizard",
        "amlwizard-1.0/_internal/bundle",
        "amlwizard-1.0/_internal/bundle/x.amlbundle",
    ]
    assert {(entry.uid, entry.gname, entry.mtime) for entry in entries} == {(0, "root", 1_700_000_000)}
    assert entries[2].mode == 0o755


def test_thinned_icu_data_keeps_what_is_used_where_it_was(tmp_path: Path) -> None:
    items = {"d/coll/de.res": b"de" * 8, "d/coll/zh.res": b"zh" * 8, "d/ibm-1.cnv": b"cv" * 8, "d/root.res": b"rt" * 8}
    names = b"".join(name.encode() + b"\0" for name in items)
    table = 4 + 8 * len(items)
    body, at = struct.pack("<I", len(items)), table
    data_at = table + len(names)
    for number, name in enumerate(items):
        body += struct.pack("<II", at, data_at + 16 * number)
        at += len(name) + 1
    library = tmp_path / "libicudata.so.1"
    head = b"ELF before" + struct.pack("<H", 32) + bytes(10) + b"CmnD" + bytes(16)
    library.write_bytes(head + body + names + b"".join(items.values()))
    size = library.stat().st_size
    assert thin_icu.thin(library) == 2
    data = library.read_bytes()
    assert len(data) == size
    start = 10 + 32
    assert struct.unpack_from("<I", data, start) == (2,)
    found = [struct.unpack_from("<II", data, start + 4 + 8 * number) for number in range(2)]
    assert [data[start + name :].partition(b"\0")[0] for name, _ in found] == [b"d/coll/zh.res", b"d/root.res"]
    assert [data[start + begin : start + begin + 16] for _, begin in found] == [b"zh" * 8, b"rt" * 8]
    assert b"dede" not in data
    assert b"cvcv" not in data
