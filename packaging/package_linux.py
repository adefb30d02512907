"""The Linux packages: a .deb, a .run that installs for one user without an administrator, and a plain .tar.zst.

All three hold the same folder. A complete one has a bundle in it, from which the program sets an environment up without a
network. Nothing in them depends on the moment, the account or the folder of the build.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import carried
import floor
import freeze
import freeze_linux
import package_papers
from devenv import ROOT, SetUpError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PARTS = Path("packaging", "linux")
EXTRA_DEPENDS = ("libgssapi-krb5-2", "libstdc++6", "xkb-data")
"""What is needed besides what the program itself looks for when its window cannot open."""
_TIED = {"libglib2.0-0": "libglib2.0-0t64 | libglib2.0-0"}
_PRESETS = ("-16", "--long=27")
_PRESETS_OF_BUNDLE = ("-1",)
"""The wheels in it are compressed already."""


@dataclass(frozen=True)
class Build:
    """What the packages are made of: the tree of sources, the frozen folder, its version, glibc floor and time."""

    tree: Path
    folder: Path
    version: str
    glibc: str
    time: int


def build(into: Path, bundle: Path | None) -> list[Path]:
    """Make the packages, complete ones where a bundle is given, and return them."""
    _require("dpkg-deb", "zstd")
    place = freeze.PLACE
    tool = unpacker(place)  # before anything else, as a machine may lack what it is made of
    frozen = freeze_linux.frozen_program(place)
    python, components = _of_floor(frozen)
    notices = package_papers.program_notices(frozen.site_packages, python)
    build = prepared(place / "source", frozen.folder, freeze.commit_time(), notices)
    print(f"package: the program needs glibc {build.glibc}", file=sys.stderr, flush=True)
    name = file_name(build.version, complete=bundle is not None)
    archive = into / f"{name}.tar.zst"
    write_archive(archive, build, bundle, place / "program.tar.zst")
    run = into / f"{name}.run"
    files = [file for file in build.folder.rglob("*") if file.is_file()]
    kilobytes = _kilobytes([*files, *([bundle] if bundle is not None else [])])
    listed = into / f"{name}-run-executables.txt"
    listed.write_text(package_papers.sums(write_run(run, tool, archive, build, kilobytes)), encoding="utf-8")
    deb = into / f"{name}.deb"
    write_deb(deb, build, bundle, place / "deb")
    made = [deb, run, archive, listed]
    return [*made, *package_papers.write_papers(into, build.folder, frozen.site_packages, made, python, components)]


def _of_floor(frozen: freeze_linux.Frozen) -> tuple[str | None, list[dict[str, Any]]]:
    """Return the version of the floor's Python and the components of what comes from its system; nothing without one."""
    if frozen.root is None:
        print(
            "package: the SBOM does not name the libraries that come from this machine: such packages are for trying out",
            file=sys.stderr,
            flush=True,
        )
        return None, []
    names = carried.libraries(frozen.folder, (frozen.site_packages, frozen.root / floor.PREFIX))
    return floor.python_version(), carried.components(names, frozen.root, *carried.UNPACKER)


def file_name(version: str, *, complete: bool) -> str:
    """Return the name of the packages without the ending."""
    return f"amlwizard-{version}-linux-x86_64{'-complete' if complete else ''}"


def prepared(tree: Path, folder: Path, moment: int, notices: str) -> Build:
    """Put what a desktop needs of the program beside it, under ``share``, and the licences of all that is in it."""
    version = freeze.version_of(tree)
    share = folder / "share"
    share.mkdir()
    for name in ("amlwizard.desktop", "amlwizard.xml"):
        shutil.copyfile(tree / PARTS / name, share / name)
    shutil.copyfile(tree / "resources" / "icons" / "amlwizard.svg", share / "amlwizard.svg")
    (share / "amlwizard.1").write_text(man_page(tree, version), encoding="utf-8")
    (folder / "NOTICES.txt").write_text(notices, encoding="utf-8", newline="\n")
    files = (file for file in folder.rglob("*") if file.is_file())
    return Build(tree, folder, version, floor.glibc_floor(files), moment)


def man_page(tree: Path, version: str) -> str:
    """Return the man page, with every command that the program knows."""
    commands: dict[str, dict[str, str]] = {}
    for file in sorted((tree / "resources" / "messages").glob("*.json")):
        commands |= json.loads(file.read_text(encoding="utf-8"))
    entries = [
        f".TP\n.B amlwizard {key.removeprefix('cli.command.')}\n{_troff(words['en'])}"
        for key, words in sorted(commands.items())
        if key.startswith("cli.command.") and not key.endswith(".help")
    ]
    page = (tree / PARTS / "amlwizard.1").read_text(encoding="utf-8")
    return page.replace("@VERSION@", version).replace("@COMMANDS@", "\n".join(entries))


def depends(glibc: str, libraries: Iterable[str]) -> str:
    """Return what the .deb depends on: what Qt loads from the system, less the libraries that the package carries."""
    sys.path.insert(0, str(ROOT))
    from amlwizard.qt_start import DEBIAN_PACKAGES

    sonames = set(libraries)
    packages = {package for soname, package in DEBIAN_PACKAGES.items() if soname not in sonames}
    names = sorted({*packages, *EXTRA_DEPENDS})
    return ", ".join([f"libc6 (>= {glibc})", *(_TIED.get(name, name) for name in names)])


def control(build: Build, installed_kilobytes: int, libraries: Iterable[str]) -> str:
    """Return the control file of the .deb."""
    return f"""Package: amlwizard
Version: {build.version}
Section: science
Priority: optional
Architecture: amd64
Maintainer: The amlwizard contributors <amlwizard@example.org>
Installed-Size: {installed_kilobytes}
Depends: {depends(build.glibc, libraries)}
Recommends: fonts-dejavu-core | fonts-noto-core, shared-mime-info, desktop-file-utils
Suggests: fonts-noto-cjk | fonts-wqy-microhei
Description: set up a verified Python environment for data science
 amlwizard finds or installs uv and Python, builds a virtual environment from
 a requirements file, proves that it works, and rebuilds it at any time, with
 or without a network. Everything lies in one folder.
"""


def write_archive(target: Path, build: Build, bundle: Path | None, program: Path) -> None:
    """Write the .tar.zst: the program, and where there is one the bundle, which is a frame of its own."""
    root = f"amlwizard-{build.version}"
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted([build.folder, *build.folder.rglob("*")]):
            _add(archive, path, f"{root}/{path.relative_to(build.folder).as_posix()}".removesuffix("/."), build.time)
        members = archive.offset
    _compress(whole.getvalue()[:members], program, _PRESETS)
    rest = io.BytesIO()
    with tarfile.open(fileobj=rest, mode="w", format=tarfile.GNU_FORMAT) as archive:
        if bundle is not None:
            folder = archive.gettarinfo(str(bundle.parent), f"{root}/_internal/bundle")
            archive.addfile(_level(folder, build.time))
            _add(archive, bundle, f"{root}/_internal/bundle/{bundle.name}", build.time)
    last = program.with_name("rest.tar.zst")
    _compress(rest.getvalue(), last, _PRESETS_OF_BUNDLE)
    with target.open("wb") as stream:
        for part in (program, last):
            stream.write(part.read_bytes())
            part.unlink()


def write_run(target: Path, unpacker: Path, archive: Path, build: Build, kilobytes: int) -> dict[str, str]:
    """Write the .run: a script, the unpacker and the archive, one after the other; unpacked they take ``kilobytes``.

    Returns:
        The hashes of what it starts, or leaves to be started, beside the program.
    """
    tool, payload = unpacker.read_bytes(), archive.read_bytes()
    values = {
        "VERSION": build.version,
        "GLIBC": build.glibc,
        "UNPACKER_BYTES": str(len(tool)),
        "KILOBYTES": str(kilobytes),
        "SHA256": hashlib.sha256(tool + payload).hexdigest(),
    }
    stub = run_stub(build.tree, values)
    target.write_bytes(stub + tool + payload)
    target.chmod(0o755)
    return {"unpacker": hashlib.sha256(tool).hexdigest(), "uninstall": hashlib.sha256(stub).hexdigest()}


def run_stub(tree: Path, values: Mapping[str, str]) -> bytes:
    """Return the script at the head of the .run, which knows its own length."""
    text = (tree / PARTS / "run-stub.sh").read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    length = 0
    while True:
        stub = text.replace("@STUB_BYTES@", str(length)).encode()
        if len(stub) == length:
            return stub
        length = len(stub)


def unpacker(place: Path) -> Path:
    """Return the program that unpacks the .run, linked statically.

    Raises:
        SetUpError: it cannot be made on this system.
    """
    if floor.refusal() is None:
        return floor.floor_root(place) / "opt" / "unzstd"
    _require("cc")
    place.mkdir(parents=True, exist_ok=True)
    target = place / "unzstd"
    try:
        freeze.run(["cc", "-Os", "-static", "-s", "-o", str(target), str(ROOT / PARTS / "unzstd.c"), "-lzstd"])
    except SetUpError as error:
        raise SetUpError(f"{error}; it needs the static libzstd (on Debian: apt-get install -y libzstd-dev)") from error
    return target


def _kilobytes(files: Iterable[Path]) -> int:
    """Return what files take, each in kilobytes of 1024 bytes that are begun."""
    return sum(-(-file.lstat().st_size // 1024) for file in files)


def write_deb(target: Path, build: Build, bundle: Path | None, work: Path) -> None:
    """Write the .deb."""
    shutil.rmtree(work, ignore_errors=True)
    program = work / "usr" / "lib" / "amlwizard"
    program.parent.mkdir(parents=True)
    shutil.copytree(build.folder, program, symlinks=True)
    share = work / "usr" / "share"
    places = {
        "amlwizard.desktop": share / "applications" / "amlwizard.desktop",
        "amlwizard.xml": share / "mime" / "packages" / "amlwizard.xml",
        "amlwizard.svg": share / "icons" / "hicolor" / "scalable" / "apps" / "amlwizard.svg",
    }
    documents = share / "doc" / "amlwizard"
    for folder in (*(place.parent for place in places.values()), documents, share / "man" / "man1", work / "usr" / "bin"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, place in places.items():
        (program / "share" / name).rename(place)
    page = program / "share" / "amlwizard.1"
    (share / "man" / "man1" / "amlwizard.1.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
    shutil.rmtree(page.parent)
    (program / "NOTICES.txt").rename(documents / "copyright")
    (work / "usr" / "bin" / "amlwizard").symlink_to("../lib/amlwizard/amlwizard")
    if bundle is not None:
        (program / "_internal" / "bundle").mkdir()
        shutil.copyfile(bundle, program / "_internal" / "bundle" / bundle.name)
    kilobytes = _kilobytes(path for path in work.rglob("*") if not path.is_dir())
    (work / "DEBIAN").mkdir()
    names = [path.name for path in (build.folder / "_internal").iterdir()]
    (work / "DEBIAN" / "control").write_text(control(build, kilobytes, names), encoding="utf-8")
    before = work / "DEBIAN" / "preinst"
    before.write_text((build.tree / PARTS / "preinst.sh").read_text(encoding="utf-8").replace("@VERSION@", build.version))
    freeze_linux.level(work, build.time)
    before.chmod(0o755)
    # One thread: the blocks of several depend on their number. What is in a bundle is compressed already.
    pack = ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "-z1" if bundle is not None else "-z6"]
    freeze.run([*pack, "--build", str(work), str(target)], {**os.environ, "SOURCE_DATE_EPOCH": str(build.time)})
    shutil.rmtree(work)


def _add(archive: tarfile.TarFile, path: Path, name: str, moment: int) -> None:
    entry = _level(archive.gettarinfo(str(path), name), moment)
    if entry.isreg():
        with path.open("rb") as stream:
            archive.addfile(entry, stream)
    else:
        archive.addfile(entry)


def _level(entry: tarfile.TarInfo, moment: int) -> tarfile.TarInfo:
    """Take off an entry what depends on who builds, and when."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = moment
    entry.mode = 0o755 if entry.isdir() or entry.issym() or entry.mode & 0o100 else 0o644
    return entry


def _compress(content: bytes, target: Path, presets: Iterable[str]) -> None:
    """Compress with two threads: with any number of them but one the result is the same."""
    command = ["zstd", "--quiet", "-T2", *presets, "-c"]
    with target.open("wb") as stream:
        result = subprocess.run(command, input=content, stdout=stream, check=False)
    if result.returncode:
        raise SetUpError(f"zstd failed (status {result.returncode}); the reason stands above")


def _require(*programs: str) -> None:
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        packages = {"dpkg-deb": "dpkg", "zstd": "zstd", "cc": "gcc libzstd-dev"}
        names = " ".join(packages[name] for name in missing)
        raise SetUpError(f"this needs {', '.join(missing)} (on Debian: apt-get install -y {names})")


def _troff(text: str) -> str:
    return text.replace("\\", "\\\\").replace("-", "\\-")
