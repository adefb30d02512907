"""Tries the Linux packages where nothing has been prepared: in minimal Debian 12 and 13, made by debootstrap.

    python3 packaging/dev.py package-check linux [--from DIR] [--bases DIR] [--suite NAME]... [--pictures DIR]

What is done with each package in DIR (default dist/) is told in linux_trial.py. Before that, the papers beside the packages
are looked at, the tests of the cases B57 and B70 are run with the frozen program, and the time to its first paint is taken.
Needs root and debootstrap; in the systems, the network is used for Debian's packages alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import debian_roots
import devenv
from devenv import ROOT, STATE, SetUpError
from linux_trial import CheckError, Trial
from package_papers import SUMS, sha256

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITES = ("bookworm", "trixie")
ENDINGS = (".deb", ".run", ".tar.zst")
PAPERS = (".cdx.json", "-notices.txt", "-executables.txt")
CASES = ("tests/e2e/test_network.py", "tests/e2e/test_states.py")
"""Where the tests of B57 and B70 are."""
FIRST_PAINT_SECONDS = {"warm": 0.6, "cold": 1.0}
TRIALS = 5


def main(arguments: Sequence[str]) -> int:
    """Try the packages; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="dev.py package-check linux", description="Try the packages in minimal systems.")
    parser.add_argument("--from", dest="packages", type=Path, default=ROOT / "dist", help="folder of the packages")
    parser.add_argument("--bases", type=Path, default=STATE / "roots", help="folder of the minimal systems")
    parser.add_argument("--suite", action="append", choices=SUITES, help="one of the systems alone")
    parser.add_argument("--pictures", type=Path, help="where pictures of the window go")
    chosen = parser.parse_args(arguments)
    debian_roots.require()
    packages = sorted(chosen.packages.absolute().glob("amlwizard-*-linux-x86_64*"))
    packages = [file for file in packages if file.name.endswith(ENDINGS)]
    if not packages:
        raise SetUpError(f"there are no packages in {chosen.packages}; make them by: dev.py package linux")
    failed = []
    try:
        for form in sorted({stem(package) for package in packages}):
            look_at_papers(chosen.packages, form)
        archive = min((package for package in packages if package.name.endswith(".tar.zst")), default=None)
        if archive is not None:
            _try_unpacked(archive)
    except CheckError as error:
        failed.append(str(error))
        print(f"package-check: FAILED: {error}", flush=True)
    for suite in chosen.suite or SUITES:
        base = debian_roots.plain_base(suite, chosen.bases.absolute())
        for package in packages:
            listed = hashes(package.with_name(f"{stem(package)}-executables.txt"))
            trial = Trial(suite, base, STATE / "roots" / f"{suite}.package-check", package, listed, chosen.pictures)
            try:
                trial.run()
            except CheckError as error:
                failed.append(f"{suite}, {package.name}: {error}")
                print(f"package-check: FAILED: {failed[-1]}", flush=True)
            finally:
                debian_roots.remove(trial.root)
    print(f"package-check: {len(failed)} failed" if failed else "package-check: all passed", flush=True)
    return 1 if failed else 0


def stem(package: Path) -> str:
    """Return what the names of all packages of one form begin with."""
    return next(package.name.removesuffix(ending) for ending in ENDINGS if package.name.endswith(ending))


def hashes(file: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that a list names; nothing where there is no list."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return {name: digest for digest, name in re.findall(r"^([0-9a-f]{64})  (.+)$", text, re.MULTILINE)}


def look_at_papers(folder: Path, form: str) -> None:
    """Make sure that the packages of one form have their papers, and that those are about them.

    Raises:
        CheckError: something is missing, or is about something else.
    """
    listed = hashes(folder / SUMS)
    for name in sorted({f"{form}{ending}" for ending in PAPERS} | {name for name in listed if name.startswith(f"{form}.")}):
        if not (folder / name).is_file() or listed.get(name) != sha256(folder / name):
            raise CheckError(f"{name} is not there, or is not the one of {SUMS}")
    for ending in ENDINGS:
        if (folder / f"{form}{ending}").is_file() and f"{form}{ending}" not in listed:
            raise CheckError(f"{form}{ending} is not in {SUMS}")
    components = json.loads((folder / f"{form}.cdx.json").read_text(encoding="utf-8"))["components"]
    missing = {"python", "qt", "openssl", "uv", "pyside6-essentials"} - {component["name"] for component in components}
    if missing:
        raise CheckError(f"the SBOM of {form} lacks {', '.join(sorted(missing))}")
    (uv,) = (component["hashes"][0]["content"] for component in components if component["name"] == "uv")
    if uv not in hashes(folder / f"{form}-executables.txt").values():
        raise CheckError(f"the uv in the SBOM of {form} is not among its executable files")
    notices = (folder / f"{form}-notices.txt").read_text(encoding="utf-8")
    if "GNU LESSER GENERAL PUBLIC LICENSE" not in notices:
        raise CheckError(f"the notices of {form} have no text of the LGPL")
    print(f"package-check: the papers of {form} are there, and belong to it", flush=True)


def _try_unpacked(archive: Path) -> None:
    """Do with the frozen program what needs more than a minimal system has: run the tests of two cases, and take times."""
    python = devenv.ready("test")
    with tempfile.TemporaryDirectory(prefix="package-check-") as folder:
        subprocess.run(["tar", "--zstd", "-xf", archive, "--strip-components=1", "-C", folder], check=True)
        _run_cases(str(python), Path(folder, "amlwizard"))
        _take_times(Path(folder))


def _run_cases(python: str, program: Path) -> None:
    environ = {**os.environ, "PROGRAM_UNDER_TEST": str(program), "QT_QPA_PLATFORM": "offscreen"}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "b57 or b70", *CASES]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CheckError(f"B57 or B70 with the frozen program: {done.stdout[-3000:]}")
    print(f"package-check: B57 and B70 with the frozen program: {done.stdout.splitlines()[-1]}", flush=True)


def _take_times(folder: Path) -> None:
    """Compare the time to the first paint with its limits, warm and with none of the program's files in the cache."""
    os.sync()
    for kind, limit in FIRST_PAINT_SECONDS.items():
        seconds = []
        for _ in range(TRIALS):
            if kind == "cold":
                _leave_cache(folder)
            seconds.append(_first_paint(folder))
        print(f"package-check: first paint, {kind}: {min(seconds):.2f} s at best of {TRIALS}, limit {limit}", flush=True)
        if min(seconds) > limit:
            raise CheckError(f"the first paint takes {min(seconds):.2f} s, {kind}; {limit} are allowed")


def _first_paint(folder: Path) -> float:
    """Return the seconds from the start of the program to the first paint, which Qt tells.

    It goes before all else that the machine does, so that this does not count.
    """
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"}
    environ["QT_LOGGING_RULES"] = "qt.widgets.painting=true"
    command = ["chrt", "--rr", "1", str(folder / "amlwizard")]
    began = time.perf_counter()
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as window:
        assert window.stderr is not None
        painted = any("Flushing" in line for line in window.stderr)
        seconds = time.perf_counter() - began
        window.terminate()
        window.communicate()
    if not painted:
        raise CheckError("the window ended before it was painted")
    return seconds


def _leave_cache(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as stream:
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
