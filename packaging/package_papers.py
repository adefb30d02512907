"""What lies beside every set of installers, for those who check what they install.

- NAME.cdx.json: the SBOM (CycloneDX 1.6), from the hashed lock, with Python, Qt and uv
- NAME-notices.txt: the licences of everything that is in the program, as plain text
- NAME-executables.txt: every executable file of the program with its SHA-256, for allow-lists; ``sha256sum -c`` reads it
- SHA256SUMS: the installers and these

The same installers, program and packages give the same text.

python package_papers.py DIR    writes SHA256SUMS anew, after the installers in it were signed
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from devenv import PACKAGE_LOCK, PROJECT, ROOT, SetUpError
from freeze import commit_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SUMS: Final = "SHA256SUMS"
LICENCES: Final = ROOT / "packaging" / "licences"
_BOOTLOADER: Final = "pyinstaller"
"""Is in the program as what starts it; what it needs itself is not."""
_QT: Final = ("pyside6-essentials", "shiboken6")
"""Their wheels hold Qt, and no text of a licence."""
_LICENCE_FILE: Final = re.compile(r"(licen[cs]e|copying|copyright|notice|authors)", re.IGNORECASE)
_HEADING: Final = """amlwizard contains the works of others that are named here, each with its licence.
What an offline bundle holds carries its licences in its own wheels."""
_LINE: Final = "=" * 100
_MACHINES: Final = {0x3E: "x86_64", 0xB7: "aarch64", 0x8664: "x86_64", 0xAA64: "arm64", 7: "x86_64", 12: "arm64"}
"""As ELF, PE and Mach-O number them."""


@dataclass(frozen=True)
class Part:
    """A package that is in the program; ``hashes`` are those that the lock allows."""

    name: str
    version: str
    folder: Path
    hashes: tuple[str, ...]


def write_papers(
    into: Path,
    frozen: Path,
    site_packages: Path,
    made: Sequence[Path],
    python: str | None = None,
    carried: Sequence[dict[str, Any]] = (),
) -> list[Path]:
    """Write them into the folder of the installers ``made`` from a frozen program and the packages that it was frozen from.

    ``python`` is the version of the Python in it, where the packages do not lie in an environment of it; ``carried`` are
    the components of libraries that come neither with it nor with a package.
    Other files that ``SHA256SUMS`` names and that are still there stay in it, so that the installers of two forms have one.

    Raises:
        SetUpError: a package has no licence text, or is not the one of the lock.
    """
    created = datetime.fromtimestamp(commit_time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    executables = executable_files(frozen)
    python = python or python_version(site_packages)
    with _importable(ROOT, site_packages):
        from amlwizard import __version__

        parts = parts_of(site_packages, PACKAGE_LOCK.read_text(encoding="utf-8"))
        # A signature has its time in it: the programs in two forms of installers may differ.
        form = "-complete" if any("-complete" in file.name for file in made) else ""
        name = f"amlwizard-{__version__}-{_own_platform(frozen, executables)}{form}"
        libraries = [*_libraries(openssl_version(frozen, executables), icu_version(executables)), *carried]
        texts = {
            f"{name}.cdx.json": sbom(parts, python, executables, created, libraries),
            f"{name}-notices.txt": program_notices(site_packages, python),
            f"{name}-executables.txt": sums(executables),
        }
    papers = []
    for file, text in texts.items():
        papers.append(into / file)
        papers[-1].write_text(text, encoding="utf-8", newline="\n")
    return [*papers, write_sums(into, [*made, *papers])]


def program_notices(site_packages: Path, python: str | None = None) -> str:
    """Return the licences of everything in a program that was frozen from these packages, see ``write_papers``.

    Raises:
        SetUpError: a package has no licence text, or is not the one of the lock.
    """
    parts = parts_of(site_packages, PACKAGE_LOCK.read_text(encoding="utf-8"))
    return notices(parts, site_packages, python or python_version(site_packages))


def write_sums(folder: Path, files: Iterable[Path] = ()) -> Path:
    """Write the hashes of these files, and of those that the list has named before and that are still there."""
    file = folder / SUMS
    before = re.findall(r"^[0-9a-f]{64}  (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE) if file.exists() else []
    names = {each.name for each in files} | {name for name in before if (folder / name).is_file()}
    file.write_text(sums({name: sha256(folder / name) for name in names}), encoding="utf-8", newline="\n")
    return file


def executable_files(folder: Path) -> dict[str, str]:
    """Return every program, library and script: its path in the folder, and its SHA-256."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink() and (_platform(file) or _is_script(file)):
            found[file.relative_to(folder).as_posix()] = sha256(file)
    return found


def sha256(file: Path) -> str:
    """Return a file's hash."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def parts_of(site_packages: Path, lock: str) -> list[Part]:
    """Return the installed packages that the program needs, and PyInstaller.

    Raises:
        SetUpError: one is missing, or another version than the lock has.
    """
    locked = _read_lock(lock)
    folders = {_name(folder.name.split("-")[0]): folder for folder in site_packages.glob("*.dist-info")}
    wanted = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    found: dict[str, Part] = {}
    waiting = [_BOOTLOADER, *(_requirement(line) for line in wanted)]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        folder = folders.get(name)
        if folder is None:
            raise SetUpError(f"{name} is not installed in {site_packages}")
        metadata = message_from_bytes((folder / "METADATA").read_bytes())
        version, hashes = locked.get(name, ("", ()))
        if metadata["Version"] != version:
            raise SetUpError(f"{name} {metadata['Version']} is installed, and the lock has {version or 'none'}")
        found[name] = Part(name, version, folder, hashes)
        if name != _BOOTLOADER:
            needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra" not in line.partition(";")[2]]
            # what a marker leaves out here is not installed, or was not locked
            waiting += [other for other in map(_requirement, needed) if other in folders and other in locked]
    return [found[name] for name in sorted(found)]


def openssl_version(frozen: Path, executables: Iterable[str]) -> str | None:
    """Return the version of the OpenSSL that a program holds as a library, as that itself tells it."""
    for path in executables:
        if path.rpartition("/")[2].startswith("libcrypto"):
            said = re.search(rb"OpenSSL (\d+\.\d+\.\d+[a-z]*)", (frozen / path).read_bytes())
            if said is not None:
                return said[1].decode()
    return None


def icu_version(executables: Iterable[str]) -> str | None:
    """Return the version of the ICU that came with Qt as libraries, as their names tell it."""
    for path in executables:
        if said := re.search(r"/libicuuc\.so\.(\d+)$", path):
            return said[1]
    return None


def _libraries(openssl: str | None, icu: str | None) -> Iterator[dict[str, Any]]:
    for name, version, licence in (("openssl", openssl, "Apache-2.0"), ("icu", icu, "Unicode-DFS-2016")):
        if version is not None:
            yield _tool(name, version, licence) | {"type": "library"}


def python_version(site_packages: Path) -> str:
    """Return the version of the Python whose packages these are."""
    said = re.search(r"^version\s*=\s*(\S+)", _environment_note(site_packages), re.MULTILINE)
    return said[1] if said else platform.python_version()


def _environment_note(site_packages: Path) -> str:
    notes = [folder / "pyvenv.cfg" for folder in site_packages.parents]
    return next((note.read_text(encoding="utf-8") for note in notes if note.is_file()), "")


def _of_windows(site_packages: Path) -> list[Path]:
    """Return the terms of Python's build for Windows, which name what it holds of Microsoft's; none elsewhere."""
    home = re.search(r"^home\s*=\s*(.+?)\s*$", _environment_note(site_packages), re.MULTILINE)
    folder = Path(home[1]) if home else site_packages.parent.parent
    return [file for file in (folder / "LICENSE.txt",) if file.is_file()]


def sbom(
    parts: Sequence[Part],
    python: str,
    executables: Mapping[str, str],
    created: str,
    libraries: Sequence[dict[str, Any]] = (),
) -> str:
    """Return the CycloneDX document of the program, which holds further libraries besides its parts."""
    from amlwizard import __version__
    from amlwizard.core.bundle.sbom import document_text, library
    from amlwizard.core.bundle.wheel_facts import licence_in

    components: list[dict[str, Any]] = [
        {**_tool("python", python, "Python-2.0"), "type": "platform"},
        *({**_tool("qt", part.version, "LGPL-3.0-only"), "type": "framework"} for part in parts if part.name == _QT[0]),
        *libraries,
    ]
    uv = [digest for path, digest in executables.items() if path.rpartition("/")[2] in ("uv", "uv.exe")]
    for part in parts:
        component = library(part.name, part.version, licence_in((part.folder / "METADATA").read_bytes()))
        # Of several files that the lock allows, one per platform, it is not told which one was installed.
        component["properties"] = [{"name": "amlwizard:locked-sha256", "value": digest} for digest in part.hashes]
        if part.name == "uv" and uv:
            component |= {"type": "application", "hashes": [{"alg": "SHA-256", "content": uv[0]}]}
        components.append(component)
    about = {**_tool("amlwizard", __version__, "MIT"), "type": "application"}
    return document_text(about, components, created=created, seed=sums(executables))


def notices(parts: Iterable[Part], site_packages: Path, python: str) -> str:
    """Return the licences of everything that is in the program.

    Raises:
        SetUpError: a package brings no text.
    """
    of_python = [LICENCES / "python.txt", *_of_windows(site_packages)]
    said = [
        _HEADING,
        _entry("amlwizard", {"LICENSE": _text(ROOT / "LICENSE")}),
        _entry(f"Python {python}", {file.name: _text(file) for file in of_python}),
        _entry("Further libraries", {"libraries.txt": _text(LICENCES / "libraries.txt")}),
    ]
    for part in parts:
        if part.name in _QT:
            continue
        texts = {file.relative_to(part.folder).as_posix(): _text(file) for file in _licence_files(part.folder)}
        if not texts:
            raise SetUpError(f"{part.name} {part.version} brings no text of its licence")
        said.append(_entry(f"{part.name} {part.version}", texts))
        said += filter(None, (_crates(part, file) for file in sorted(part.folder.glob("sboms/*.json"))))
    version = next((part.version for part in parts if part.name == _QT[0]), None)
    if version is not None:
        files = ("qt.txt", "LGPL-3.0.txt", "GPL-3.0.txt", "qt-parts.txt")
        texts = {file: _text(LICENCES / file).replace("{version}", version) for file in files}
        said.append(_entry(f"Qt {version}, PySide6 and shiboken6 {version}", texts))
    return f"\n\n{_LINE}\n".join(said) + "\n"


def _crates(part: Part, file: Path) -> str:
    """Return the list of what is compiled into a package, as its own SBOM tells it; nothing where that is nothing."""
    lines = set()
    for component in json.loads(file.read_bytes()).get("components", []):
        licences = [each.get("expression") or each.get("license", {}) for each in component.get("licenses", [])]
        words = [each if isinstance(each, str) else each.get("id") or each.get("name") or "" for each in licences]
        lines.add(f"{component['name']} {component.get('version', '')}  {' '.join(words)}".rstrip())
    if not lines:
        return ""
    return "\n".join([f"Compiled into {part.name} {part.version} ({file.name}):", "", *sorted(lines)])


def _entry(title: str, texts: Mapping[str, str]) -> str:
    several = len(texts) > 1
    return "\n\n".join([title, *(f"--- {name}\n\n{text}" if several else text for name, text in texts.items())])


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\f", "").strip("\n")


def _licence_files(folder: Path) -> list[Path]:
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "sboms" not in file.parts and (_LICENCE_FILE.search(file.name) or "licenses" in file.parts)
    ]


def _read_lock(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    entries: dict[str, tuple[str, tuple[str, ...]]] = {}
    for entry in re.split(r"\n(?=\S)", text):
        head = re.match(r"([A-Za-z0-9._-]+)==(\S+)", entry)
        if head:
            entries[_name(head[1])] = (head[2], tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", entry)))
    return entries


def _requirement(line: str) -> str:
    return _name(re.split(r"[^A-Za-z0-9._-]", line.strip(), maxsplit=1)[0])


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _tool(name: str, version: str, licence: str) -> dict[str, Any]:
    return {
        "bom-ref": name,
        "name": name,
        "version": version,
        "licenses": [{"license": {"id": licence}}],
    }


def _platform(file: Path) -> str | None:
    """Return for which platform a file is a program or a library, None where it is neither."""
    with file.open("rb") as stream:
        start = stream.read(4096)
    match start[:4]:
        case b"\x7fELF":
            return f"linux-{_machine(start, 18, 2)}"
        case b"\xcf\xfa\xed\xfe" | b"\xce\xfa\xed\xfe":
            return f"macos-{_machine(start, 4, 3)}"  # the fourth byte tells 64 bit
        case b"\xca\xfe\xba\xbe" | b"\xca\xfe\xba\xbf":
            return "macos-universal2"
        case _ if start.startswith(b"MZ"):
            return f"windows-{_machine(start, int.from_bytes(start[0x3C:0x40], 'little') + 4, 2)}"
    return None


def _machine(start: bytes, place: int, size: int) -> str:
    return _MACHINES.get(int.from_bytes(start[place : place + size], "little"), "any")


def _is_script(file: Path) -> bool:
    if file.suffix == ".py":  # which the environment's Python is given
        return True
    if not os.access(file, os.X_OK) or os.name == "nt":
        return False
    with file.open("rb") as stream:
        return stream.read(2) == b"#!"


def _own_platform(frozen: Path, executables: Iterable[str]) -> str:
    """Return the platform that the program is for, as its own executable tells."""
    for path in executables:
        if path.rpartition("/")[2] in ("amlwizard", "amlwizard.exe"):
            return _platform(frozen / path) or "any"
    raise SetUpError(f"there is no amlwizard in {frozen}")


def sums(files: Mapping[str, str]) -> str:
    """Return hashes of files by their names as ``sha256sum --check`` reads them."""
    return "".join(f"{files[name]}  {name}\n" for name in sorted(files))


@contextmanager
def _importable(*folders: Path) -> Iterator[None]:
    """Let the project, and the one library that its SBOM needs, be imported where nothing is installed."""
    before = list(sys.path)
    sys.path += [str(folder) for folder in folders]
    try:
        yield
    finally:
        sys.path[:] = before


if __name__ == "__main__":
    write_sums(Path(sys.argv[1]))
