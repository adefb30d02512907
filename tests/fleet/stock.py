"""What goes to the hosts beside the .deb: amlwizard as wheels, and a bundle of two tiny packages with uv and a Python."""

from __future__ import annotations

import re
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
