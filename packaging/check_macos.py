"""What can be told of the macOS program by looking at its files, on any system.

python check_macos.py APP    a made .app
python check_macos.py        the icon, and the wheels that the .app is made of, which are fetched into .dev/package/wheels

Runs in the environment that the program is frozen from. Whether it starts, is signed and is notarised only macOS can tell.
"""

from __future__ import annotations

import os
import plistlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.append(str(Path(__file__).resolve().parent.parent))

import icns
import package_macos
from devenv import PACKAGE_LOCK, SetUpError
from freeze import PLACE
from package_papers import executable_files, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS: Final = ("pyside6-essentials", "shiboken6", "psutil", "uv")
"""The packages of the .app that hold programs or libraries."""
PLATFORMS: Final = {
    "arm64": ("macosx_12_0_universal2", "macosx_11_0_arm64"),
    "x86_64": ("macosx_12_0_universal2", "macosx_10_12_x86_64", "macosx_10_9_x86_64"),
}
"""The tags of their wheels, by the machine that they are for."""
NOT_IN_THE_APP: Final = "/plugins/sqldrivers/"
"""Of what is in the wheels; these need databases that nobody has."""
OF_THE_SYSTEM: Final = ("/usr/lib/", "/System/Library/")


def app_faults(app: Path) -> Iterator[str]:
    """Yield what is wrong with an .app: its Info.plist, icon, links, uv, programs and libraries."""
    contents = app / "Contents"
    yield from plist_faults(contents / "Info.plist")
    yield from icon_faults(contents / "Resources" / "amlwizard.icns")
    yield from link_faults(app)
    yield from uv_faults(contents)
    main = contents / "MacOS" / "amlwizard"
    for program in (main, main.with_name("amlwizard-cli")):
        if not os.access(program, os.X_OK):
            yield f"{program.relative_to(app)} is missing, or is no program"
    machines = set(slices(main)) if main.is_file() else set()
    for name in executable_files(app):
        if not (app / name).read_bytes().startswith(b"#!"):
            yield from (f"{name} {fault}" for fault in library_faults(app / name, machines))


def plist_faults(file: Path) -> Iterator[str]:
    """Yield what an Info.plist lacks."""
    try:
        found = plistlib.loads(file.read_bytes())
    except (OSError, plistlib.InvalidFileException, ValueError) as error:
        yield f"Info.plist cannot be read: {error}"
        return
    for name, value in package_macos.info_plist().items():
        if found.get(name) != value:
            yield f"Info.plist has {found.get(name)!r} as {name}, and not {value!r}"


def icon_faults(file: Path) -> Iterator[str]:
    """Yield what is wrong with an icon."""
    import icnsutil

    if not file.is_file():
        yield f"{file.name} is missing"
        return
    yield from (f"{file.name}: {fault}" for fault in icnsutil.IcnsFile.verify(str(file)))
    pictures = icnsutil.IcnsFile(str(file)).media
    for kind, pixels in icns.SIZES.items():
        size = int.from_bytes(pictures.get(kind, b"")[16:20], "big")  # where a PNG has its width
        if size != pixels:
            yield f"{file.name}: {kind} has {size} pixels, and not {pixels}"


def link_faults(app: Path) -> Iterator[str]:
    """Yield links that lead nowhere or out of the .app: it could not be signed, or not be moved."""
    inside = app.resolve()
    for path in sorted(app.rglob("*")):
        if path.is_symlink():
            name = path.relative_to(app)
            if path.readlink().is_absolute() or not path.resolve().is_relative_to(inside):
                yield f"{name} is a link that leads outside"
            elif not path.exists():
                yield f"{name} is a link to nothing"


def uv_faults(contents: Path) -> Iterator[str]:
    """Yield what keeps the program from taking its own uv."""
    for folder in (contents / "Resources" / "uv", contents / "Frameworks" / "uv"):
        if (folder / "uv").is_file() and (folder / "uv.sha256").is_file():
            noted = (folder / "uv.sha256").read_text(encoding="ascii").split()[0]
            if noted != sha256(folder / "uv"):
                yield "uv is not the one whose hash is noted beside it"
            return
    yield "uv is missing"


def library_faults(file: Path, machines: set[str]) -> Iterator[str]:
    """Yield what keeps a program or library from running on the given machines and the oldest system that is promised."""
    found = slices(file)
    major, _, minor = package_macos.MINIMUM_SYSTEM.partition(".")
    oldest = (int(major), int(minor))
    for machine in sorted(machines - found.keys()):
        yield f"is not for {machine}"
    for machine in sorted(machines & found.keys()):
        system, needed = found[machine]
        if system is None or system > oldest:
            yield f"needs macOS {'of no known version' if system is None else '.'.join(map(str, system))}"
        for library in needed:
            if not library.startswith(("@", *OF_THE_SYSTEM)):
                yield f"needs {library}, which a computer may lack"


def slices(file: Path) -> dict[str, tuple[tuple[int, int] | None, list[str]]]:
    """Return for each machine that a file is for the oldest system, None where it says none, and the libraries it needs."""
    from macholib.mach_o import CPU_TYPE_NAMES, LC_BUILD_VERSION, LC_LOAD_DYLIB, LC_VERSION_MIN_MACOSX
    from macholib.MachO import MachO

    found = {}
    for header in MachO(str(file)).headers:
        system = None
        needed = []
        for kind, command, content in header.commands:
            if kind.cmd in (LC_BUILD_VERSION, LC_VERSION_MIN_MACOSX):
                number = int(command.minos if kind.cmd == LC_BUILD_VERSION else command.version)
                system = (number >> 16, number >> 8 & 0xFF)
            elif kind.cmd == LC_LOAD_DYLIB:
                needed.append(content.rstrip(b"\0").decode())
        found[str(CPU_TYPE_NAMES[header.header.cputype]).lower()] = (system, needed)
    return found


def wheel_faults(wheel: Path, machine: str) -> Iterator[str]:
    """Yield what is wrong with the programs and libraries in a wheel of macOS; one without any is wrong as well."""
    any_there = False
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory(dir=wheel.parent) as scratch:
        for name in archive.namelist():
            if NOT_IN_THE_APP in name:
                continue
            with archive.open(name) as stream:
                if stream.read(4) not in (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"):
                    continue
            any_there = True
            file = Path(scratch, "file")
            file.write_bytes(archive.read(name))
            yield from (f"{wheel.name}: {name} {fault}" for fault in library_faults(file, {machine}))
    if not any_there:
        yield f"{wheel.name} holds no program of macOS"


def fetch_wheels(into: Path, machine: str) -> list[Path]:
    """Return the wheels of ``PARTS`` for a machine with macOS, as the lock has them.

    Raises:
        SetUpError: one cannot be had.
    """
    shutil.rmtree(into, ignore_errors=True)  # what another lock had is not asked for
    into.mkdir(parents=True)
    entries = re.split(r"\n(?=\S)", PACKAGE_LOCK.read_text(encoding="utf-8"))
    wanted = [entry for entry in entries if entry.partition("==")[0] in PARTS]
    lock = into / "wanted.txt"
    lock.write_text("\n".join(wanted) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", "--python-version", "3.11", "--dest", str(into)]
    command += [word for platform in PLATFORMS[machine] for word in ("--platform", platform)]
    if subprocess.run([*command, "-r", str(lock)], stdin=subprocess.DEVNULL, stdout=2, check=False).returncode:
        raise SetUpError("the wheels of macOS could not be fetched; the reason stands above")
    return sorted(into.glob("*.whl"))


def check_here() -> list[str]:
    """Return what is wrong with the icon and with the wheels that the .app is made of."""
    icon = PLACE / "amlwizard.icns"
    icns.write_icns(package_macos.ICON, icon)
    faults = list(icon_faults(icon))
    for machine in PLATFORMS:
        for wheel in fetch_wheels(PLACE / "wheels" / machine, machine):
            faults += wheel_faults(wheel, machine)
    return faults


def main(arguments: list[str]) -> int:
    """Print each fault, and what was looked at; 1 where there is one."""
    faults = list(app_faults(Path(arguments[0]))) if arguments else check_here()
    for fault in faults:
        print(fault)
    looked_at = arguments[0] if arguments else f"the icon and the wheels of {', '.join(PARTS)} for {', '.join(PLATFORMS)}"
    print(f"{len(faults)} faults in {looked_at}; whether it starts, is signed and is notarised only macOS can tell")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
