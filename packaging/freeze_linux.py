"""The frozen program of the Linux packages: made from the last commit, in the old system whose Python it gets.

Where that system cannot be made, the Python that runs this takes its place, and the program asks for a newer glibc.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import debian_roots
import floor
import freeze
import thin_icu
from devenv import PACKAGE_LOCK

if TYPE_CHECKING:
    from pathlib import Path

INSIDE = "/build"
"""Where everything lies in the old system, wherever the checkout is: no path of a machine gets into the program."""


@dataclass(frozen=True)
class Frozen:
    """The frozen program.

    Attributes:
        folder: it lies there.
        site_packages: the packages that it was frozen from.
        root: the old system whose Python and libraries it has, see ``floor``; None where they are of this machine.
    """

    folder: Path
    site_packages: Path
    root: Path | None


def frozen_program(place: Path = freeze.PLACE) -> Frozen:
    """Make the program anew from the last commit: modes and times are the same each time.

    Raises:
        SetUpError: a tool failed; its output stands above.
    """
    source = committed(place / "source")
    reason = floor.refusal()
    if reason is None:
        site = _packages(place / "linux")
        root = floor.floor_root(place)
        made = Frozen(freeze_in(root, source, site), site, root)
    else:
        print(f"package: the program gets the floor of this system's Python: {reason}", file=sys.stderr, flush=True)
        folder = freeze.freeze(place, source=source)
        (site,) = freeze.environment(place).parent.parent.glob("lib/python*/site-packages")
        made = Frozen(folder, site, None)
    for library in (made.folder / "_internal").glob("libicudata.so.*"):
        thin_icu.thin(library)
    level(made.folder, freeze.commit_time())
    return made


def committed(target: Path) -> Path:
    """Write the last commit into a folder, in place of what is there, and return it."""
    shutil.rmtree(target, ignore_errors=True)
    if freeze.unpack_commit(target):
        print("package: there are uncommitted changes; they are not part of the package", file=sys.stderr, flush=True)
    return target


def freeze_in(root: Path, source: Path, site: Path) -> Path:
    """Freeze a tree in the old system and return the program's folder, which lies beside the packages."""
    build = site.parent
    freeze.lay_uv_ready(site / "bin" / "uv", build)
    for folder in ("work", "frozen"):
        shutil.rmtree(build / folder, ignore_errors=True)
    command = [floor.PYTHON, "-P", "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", f"{INSIDE}/frozen", "--workpath", f"{INSIDE}/work"]
    command.append(f"{INSIDE}/source/packaging/amlwizard.spec")
    variables = debian_roots.environment(
        PYTHONPATH=f"{INSIDE}/{site.name}",
        PYTHONHASHSEED="1",
        PYTHONDONTWRITEBYTECODE="1",
        SOURCE_DATE_EPOCH=str(freeze.commit_time()),
        PYINSTALLER_CONFIG_DIR=f"{INSIDE}/config",
        **freeze.UNCOMPRESSED,
        AML_FREEZE_UV=f"{INSIDE}/uv/uv",
    )
    freeze.run(
        debian_roots.entering(root, command, binds=[(build, INSIDE), (source, f"{INSIDE}/source")], network=False),
        variables,
    )
    return build / "frozen" / "amlwizard"


def _packages(build: Path) -> Path:
    """Return a folder with the locked packages for the floor's Python; kept while the lock stays the same."""
    digest = hashlib.sha256(PACKAGE_LOCK.read_bytes()).hexdigest()[:12]
    site = build / f"site-{digest}"
    build.mkdir(parents=True, exist_ok=True)
    if not site.is_dir():
        part = build / "site.part"
        for old in (part, *build.glob("site-*")):
            shutil.rmtree(old, ignore_errors=True)
        platform = ("--python-platform", "x86_64-manylinux_2_28", "--python-version", "3.13")
        freeze.install_into(part, PACKAGE_LOCK, *platform)
        part.rename(site)
    return site


def level(folder: Path, moment: int) -> None:
    """Give every file one time, and modes that do not depend on who builds."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (moment, moment), follow_symlinks=False)
