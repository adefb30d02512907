"""What goes to the hosts: amlwizard as a .deb and as wheels, and a bundle of two tiny packages with uv and a Python."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.conftest import Computer
from tests.support.index_server import IndexServer
from tests.support.interpreter_archives import make_interpreter
from tests.support.wheels import make_wheel, sha256_of

PROJECT = Path(__file__).resolve().parents[2]
LIBRARIES = (
    "markdown-it-py",
    "mdurl",
    "packaging",
    "pip",
    "platformdirs",
    "psutil",
    "pygments",
    "rich",
    "tomli-w",
    "truststore",
    "urllib3",
)
"""What the text mode needs, and pip, which installs it; each of these wheels fits every Python."""
_CONTROL = """Package: amlwizard
Version: {version}
Architecture: all
Maintainer: amlwizard
Depends: python3 (>= 3.11)
Description: amlwizard for one trial, in the system's Python
"""
_START = """#!/usr/bin/python3 -P
import sys
sys.path.insert(0, "/usr/lib/amlwizard")
from amlwizard.__main__ import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Release:
    """A bundle, its SHA-256, and that of the lock which every host is to have."""

    bundle: Path
    sha256: str
    lock: str


def make_wheels(folder: Path) -> Path:
    """Gather the wheels of the program: this checkout's, and the locked ones of its libraries."""
    folder.mkdir()
    lock = (PROJECT / "packaging" / "requirements-dev.txt").read_text(encoding="utf-8")
    entries = {entry.partition("==")[0]: entry for entry in re.split(r"\n(?=\S)", lock)}
    wanted = folder.with_name("libraries.txt")
    wanted.write_text("\n".join(entries[name] for name in LIBRARIES) + "\n", encoding="utf-8")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
    ]
    _run([*pip, "--only-binary", ":all:", "--dest", str(folder), "-r", str(wanted)])
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)])
    return folder


def make_deb(wheels: Path, folder: Path) -> Path:
    """Make a package of the same, which stands for the real one."""
    tree = folder / "tree"
    library, program = tree / "usr" / "lib" / "amlwizard", tree / "usr" / "bin" / "amlwizard"
    files = [str(wheel) for wheel in wheels.glob("*.whl") if not wheel.name.startswith("pip-")]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore"]
    _run([*pip, "--no-index", "--no-deps", "--no-compile", "--target", str(library), *files])
    program.parent.mkdir(parents=True)
    program.write_text(_START, encoding="utf-8")
    program.chmod(0o755)
    (tree / "DEBIAN").mkdir()
    (version,) = (wheel.name.split("-")[1] for wheel in wheels.glob("amlwizard-*.whl"))
    (tree / "DEBIAN" / "control").write_text(_CONTROL.format(version=version), encoding="utf-8")
    _run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", str(tree), str(folder / "amlwizard.deb")])
    shutil.rmtree(tree)
    return folder / "amlwizard.deb"


def make_release(folder: Path) -> Release:
    """Make the bundle as an administrator does, and set one machine up from it, which tells the lock."""
    folder.mkdir()
    wheels = folder / "wheels"
    make_wheel(wheels, "tinya", "2.0")
    make_wheel(wheels, "tinyb", "1.0", requires=["tinya"])
    listed = make_interpreter(folder / "interpreter").downloads_json(folder / "downloads.json").as_uri()
    bundle = folder / "team bundle.amlbundle"
    with IndexServer(wheels) as index:
        maker = Computer(folder, index, wheels, anew=True)
        maker.install("tinyb\n")
        made = maker.run("bundle", "create", bundle, "--python-downloads-json", listed)
        assert made.code == 0, made.finished
        maker.named_root = folder / "first machine"
        maker.extra["AML_INDEX_URL"] = ""
        first = maker.run("install", "--bundle", bundle, "--offline")
        assert first.code == 0, first.finished
    return Release(bundle, sha256_of(bundle), str(first.finished["lock"]))


def _run(command: list[str]) -> None:
    subprocess.run(command, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=2, check=True)
