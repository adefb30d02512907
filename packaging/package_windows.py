"""The Windows packages: an installer for one user, and an .msi for all users of a computer.

On Linux, PyInstaller runs under Wine, and makensis and wixl run beside it in the same Debian; on Windows PyInstaller runs
for itself, makensis has to be on the PATH, and the .msi is left out: wixl is a program of Linux.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import cabinet
import debian_roots
import freeze
import freeze_linux
import package_papers
import wine
from devenv import PACKAGE_LOCK, ROOT, STATE, SetUpError
from wine import PLACE, Wine, windows_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PARTS = ROOT / "packaging" / "windows"
WINE_ROOTS = STATE / "roots"
NAMESPACE = uuid.UUID("8c4c2f0e-6a0c-5a3e-9d51-0b6f2f4a7d11")
"""From which every identifier of the .msi is reckoned: the same file has the same one in each version."""
CABINET = "program.cab"
"""As the .msi calls the cabinet in it."""
_REVISION, _CREATED, _SAVED = "9", "12", "13"
"""The properties of an .msi's summary that its making decides."""
BUNDLE_FOLDER = PurePosixPath("_internal", "bundle")
"""Where the program looks for the bundle that it came with."""


@dataclass(frozen=True)
class Program:
    """What is packed: a folder with the frozen program, its version, its icon, and from which packages and Python it is."""

    folder: Path
    version: str
    icon: Path
    site_packages: Path
    python: str | None

    def files(self) -> list[PurePosixPath]:
        """Return all its files, in order, relative to the folder."""
        found = (file.relative_to(self.folder).as_posix() for file in self.folder.rglob("*") if file.is_file())
        return sorted(map(PurePosixPath, found))


def build(into: Path, bundle: Path | None, roots: Path = WINE_ROOTS) -> list[Path]:
    """Make the packages, complete ones where a bundle is given, and return them."""
    if os.name == "nt":
        return _build_on_windows(into, bundle)
    debian_roots.require()
    state = roots / "windows"
    with Wine(wine.wine_root(roots), state) as system:
        system.boot()
        program = frozen_program(system)
        put_in(program, bundle)
        complete = bundle is not None
        made = [make(system, program, into, complete=complete) for make in (nsis_in, msi_in)]
    return [*made, *_papers(program, into, made)]


def frozen_program(system: Wine) -> Program:
    """Freeze the last commit under Wine and return the program."""
    state = system.state
    source = freeze_linux.committed(state / "source")
    python = wine.python_with(PACKAGE_LOCK, state)
    said = system.read(["wine", f"{python}/python.exe", "-c", "import platform; print(platform.python_version())"])
    freeze.lay_uv_ready(state / Path(python).name / "Scripts" / "uv.exe", state)
    icon = state / "amlwizard.ico"
    run_python = ["wine", f"{python}/python.exe", "-P"]
    drawing = [f"{PLACE}/source/packaging/windows_icon.py", f"{PLACE}/source/resources/icons/amlwizard.svg"]
    system.must([*run_python, *map(windows_path, drawing), windows_path(f"{PLACE}/{icon.name}")])
    for folder in ("work", "frozen"):
        shutil.rmtree(state / folder, ignore_errors=True)
    command = [*run_python, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", windows_path(f"{PLACE}/frozen"), "--workpath", windows_path(f"{PLACE}/work")]
    system.must(
        [*command, windows_path(f"{PLACE}/source/packaging/amlwizard.spec")],
        PYTHONHASHSEED="1",
        SOURCE_DATE_EPOCH=str(freeze.commit_time()),
        PYINSTALLER_CONFIG_DIR=windows_path(f"{PLACE}/config"),
        AML_FREEZE_UV=windows_path(f"{PLACE}/uv/uv.exe"),
        AML_FREEZE_ICON=windows_path(f"{PLACE}/{icon.name}"),
        **freeze.UNCOMPRESSED,
    )
    site = state / Path(python).name / "Lib" / "site-packages"
    return _with_notices(Program(state / "frozen" / "amlwizard", freeze.version_of(source), icon, site, said.strip()))


def file_name(version: str, kind: str, *, complete: bool) -> str:
    """Return the name of a package; ``kind`` is ``user.exe`` or ``all-users.msi``."""
    name, _, ending = kind.rpartition(".")
    return f"amlwizard-{version}-windows-x86_64-{name}{'-complete' if complete else ''}.{ending}"


def four_numbers(version: str) -> str:
    """Return a version as Windows wants it in the properties of a file."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    if numbers is None:
        raise SetUpError(f"the version {version} does not begin with two numbers")
    return ".".join([*(part or "0" for part in numbers.groups()), "0"])


def installation_list(files: Iterable[PurePosixPath]) -> str:
    """Return the macro by which the installer lays each file in its place, in an order that no file system has a say in."""
    lines, folder = ["!macro InstallProgram"], None
    for file in sorted(files, key=lambda file: (file.parent, file)):
        if file.parent != folder:
            folder = file.parent
            lines.append(
                f'  SetOutPath "$INSTDIR\\{PureWindowsPath(folder)}"' if folder.name else '  SetOutPath "$INSTDIR"'
            )
        lines.append(f'  File "${{PROGRAM}}/{file}"')
    return "\n".join([*lines, '  SetOutPath "$INSTDIR"', "!macroend", ""])


def removal_list(files: Iterable[PurePosixPath]) -> str:
    """Return the macro by which the uninstaller removes what was installed, and nothing that somebody put beside it."""
    names = list(files)
    folders = {parent for file in names for parent in file.parents} - {PurePosixPath()}
    lines = ["!macro RemoveProgram"]
    lines += [f'  Delete "$INSTDIR\\{PureWindowsPath(file)}"' for file in names]
    lines += [
        f'  RMDir "$INSTDIR\\{PureWindowsPath(folder)}"'
        for folder in sorted(folders, key=lambda one: (-len(one.parts), one))
    ]
    return "\n".join([*lines, "!macroend", ""])


def nsis_options(version: str, program: str, parts: str, icon: str, target: str, kilobytes: int) -> list[str]:
    """Return what the script has to be told."""
    values = {
        "VERSION": version,
        "VERSION_FOUR": four_numbers(version),
        "PROGRAM": program,
        "PARTS": parts,
        "ICON": icon,
        "OUT": target,
        "KILOBYTES": str(kilobytes),
    }
    return [f"-D{name}={value}" for name, value in values.items()]


def msi_source(program: Program, folder: str) -> str:
    """Return the description from which wixl makes the .msi; ``folder`` is where it finds the program."""
    tree = _Tree(program, folder)
    values = {
        "VERSION": program.version,
        "VERSION_FOUR": four_numbers(program.version),
        "PRODUCT": str(uuid.uuid5(NAMESPACE, f"product {program.version}")),
        "UPGRADE": str(uuid.uuid5(NAMESPACE, "upgrade")),
        "MENU": str(uuid.uuid5(NAMESPACE, "menu")),
        "BUNDLES": str(uuid.uuid5(NAMESPACE, "bundles")),
        "ICON": f"{PurePosixPath(folder).parent}/{program.icon.name}",
        "FILES": tree.xml,
        "REFERENCES": tree.references,
    }
    text = (PARTS / "all-users.wxs").read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


class _Tree:
    """The folders and files of the program as elements; one component for each file, as repairs want it."""

    def __init__(self, program: Program, folder: str) -> None:
        self._folder = folder
        self._components: list[str] = []
        self._files = program.files()
        self.xml = "\n".join(self._inside(PurePosixPath(), 10))
        self.references = "\n".join(f'      <ComponentRef Id="{name}"/>' for name in self._components)

    def _inside(self, place: PurePosixPath, depth: int) -> list[str]:
        lines, space = [], " " * depth
        for file in self._files:
            if file.parent == place:
                key = uuid.uuid5(NAMESPACE, f"file {file}")
                self._components.append(f"c{key.hex}")
                lines += [
                    f'{space}<Component Id="c{key.hex}" Guid="{key}" Win64="yes">',
                    f'{space}  <File Id="f{key.hex}" KeyPath="yes" Source={quoteattr(f"{self._folder}/{file}")}/>',
                    f"{space}</Component>",
                ]
        deeper = {file.parents[-len(place.parts) - 2] for file in self._files if _is_deeper(file, place)}
        for folder in sorted(deeper):
            key = uuid.uuid5(NAMESPACE, f"folder {folder}")
            lines.append(f'{space}<Directory Id="d{key.hex}" Name={quoteattr(folder.name)}>')
            lines += self._inside(folder, depth + 2)
            lines.append(f"{space}</Directory>")
        return lines


def _is_deeper(file: PurePosixPath, place: PurePosixPath) -> bool:
    return place in file.parent.parents


def put_in(program: Program, bundle: Path | None) -> None:
    """Put a bundle into the program, and give everything that is packed the time of the commit."""
    if bundle is not None:
        target = program.folder / BUNDLE_FOLDER
        target.mkdir(parents=True)
        shutil.copyfile(bundle, target / bundle.name)
    moment = freeze.commit_time()
    drawn = program.icon.parent.glob(f"{program.icon.name}*")  # the installers carry them with their times, too
    for path in (program.folder, *program.folder.rglob("*"), *drawn):
        os.utime(path, (moment, moment))


def _with_notices(program: Program) -> Program:
    """Put the licences of all that is in the program into it."""
    text = package_papers.program_notices(program.site_packages, program.python)
    (program.folder / "NOTICES.txt").write_text(text, encoding="utf-8", newline="\r\n")
    return program


def _papers(program: Program, into: Path, made: Sequence[Path]) -> list[Path]:
    return package_papers.write_papers(into, program.folder, program.site_packages, made, program.python)


def _lists(program: Program, folder: Path) -> int:
    """Write the lists of the installer and its uninstaller into a folder; return how many kilobytes the program takes."""
    files = program.files()
    (folder / "lists.nsh").write_text(installation_list(files) + removal_list(files), encoding="utf-8")
    return sum(file.stat().st_size for file in program.folder.rglob("*") if file.is_file()) // 1024


def nsis_in(system: Wine, program: Program, into: Path, *, complete: bool) -> Path:
    """Make the installer for one user and return it."""
    kilobytes = _lists(program, system.state)
    script = system.state / "installer.nsi"
    shutil.copyfile(PARTS / script.name, script)
    target = system.state / file_name(program.version, "user.exe", complete=complete)
    options = nsis_options(
        program.version,
        f"{PLACE}/frozen/amlwizard",
        PLACE,
        f"{PLACE}/{program.icon.name}",
        f"{PLACE}/{target.name}",
        kilobytes,
    )
    time = {"SOURCE_DATE_EPOCH": str(freeze.commit_time())}
    system.must(["makensis", "-V2", "-NOCD", "-INPUTCHARSET", "UTF8", *options, f"{PLACE}/{script.name}"], **time)
    return _handed_over(target, into)


def msi_in(system: Wine, program: Program, into: Path, *, complete: bool) -> Path:
    """Make the .msi and return it."""
    source = system.state / "amlwizard.wxs"
    folder = f"{PLACE}/{program.folder.relative_to(system.state).as_posix()}"
    source.write_text(msi_source(program, folder), encoding="utf-8")
    shutil.copyfile(program.icon, program.folder.parent / program.icon.name)
    target = system.state / file_name(program.version, "all-users.msi", complete=complete)
    time = {"SOURCE_DATE_EPOCH": str(freeze.commit_time())}
    made = f"{PLACE}/{target.name}"
    system.must(["wixl", "--arch", "x64", "--output", made, f"{PLACE}/{source.name}"], **time)
    packed = system.state / CABINET
    with packed.open("wb") as stream:
        system.run(["msiinfo", "extract", made, CABINET], output=stream)
    packed.write_bytes(cabinet.repacked(packed.read_bytes()))
    summary = system.state / "summary.idt"
    told = system.read(["msiinfo", "export", made, "_SummaryInformation"])
    summary.write_text(levelled(told, packed.read_bytes(), freeze.commit_time()), encoding="utf-8", newline="\r\n")
    system.must(["msibuild", made, "-a", CABINET, f"{PLACE}/{CABINET}", "-i", f"{PLACE}/{summary.name}"], **time)
    return _handed_over(target, into)


def levelled(summary: str, content: bytes, moment: int) -> str:
    """Return the summary of an .msi with a code that its content decides and the times of the commit; wixl gives it others.

    Args:
        summary: as ``msiinfo export`` tells it.
        content: the cabinet.
        moment: seconds since 1970.
    """
    code = str(uuid.uuid5(NAMESPACE, f"package {hashlib.sha256(content).hexdigest()}")).upper()
    time = datetime.fromtimestamp(moment, UTC).strftime("%Y/%m/%d %H:%M:%S")
    values = {_REVISION: f"{{{code}}}", _CREATED: time, _SAVED: time}
    lines = (line.partition("\t") for line in summary.splitlines())
    return "".join(f"{key}\t{values.get(key, value)}\n" for key, _, value in lines)


def _handed_over(made: Path, into: Path) -> Path:
    return Path(shutil.move(made, into / made.name))


def _build_on_windows(into: Path, bundle: Path | None) -> list[Path]:
    makensis = shutil.which("makensis")
    if makensis is None:
        raise SetUpError("this needs makensis, which belongs to NSIS 3")
    place = freeze.PLACE
    source = freeze_linux.committed(place / "source")
    icon = place / "amlwizard.ico"
    drawing = [sys.executable, str(source / "packaging" / "windows_icon.py")]
    subprocess.run([*drawing, str(source / "resources" / "icons" / "amlwizard.svg"), str(icon)], check=True)
    site = freeze.environment(place).parent.parent / "Lib" / "site-packages"
    program = _with_notices(Program(freeze.freeze(place, icon, source), freeze.version_of(source), icon, site, None))
    put_in(program, bundle)
    target = into / file_name(program.version, "user.exe", complete=bundle is not None)
    kilobytes = _lists(program, place)
    options: Sequence[str] = nsis_options(
        program.version, str(program.folder), str(place), str(icon), str(target), kilobytes
    )
    freeze.run([makensis, "-V2", "-NOCD", "-INPUTCHARSET", "UTF8", *options, str(PARTS / "installer.nsi")])
    return [target, *_papers(program, into, [target])]
