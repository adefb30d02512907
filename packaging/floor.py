"""The Python of the Linux packages: it runs on systems that are far older than the one where they are made.

A program runs where glibc is at least as new as where it was compiled. So CPython and OpenSSL are compiled in a Debian of
2021 (glibc 2.31), with the few functions left out or bound to their old form that came after glibc 2.28, which is what
PySide6 asks for. Both come from Debian's own sources with its security patches, signed by Debian. Kept below .dev/package/
while what it is made of stays the same; making it takes about ten minutes on two cores.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import debian_roots
from devenv import ROOT, STATE, SetUpError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUITE = "bullseye"
SOURCE_SUITE = "trixie"
SOURCES = {"openssl": "3.5.7-1~deb13u2", "python3.13": "3.13.5-2+deb13u5"}
"""What is compiled, as Debian versions; new ones are put here by hand, so that a commit names all that it is made of.

On 30 November 2026 Debian's index listed openssl 3.5.7-1~deb13u3 (security) and 3.5.9-1~deb13u1 as well, whose files the
mirrors did not have.
"""
TIME = 1_760_000_000
"""The time of everything that is compiled."""
PREFIX = "opt/python"
"""Where Python and OpenSSL lie in the old system."""
PYTHON = f"/{PREFIX}/bin/python3.13"
INCLUDED = (
    *("ca-certificates", "build-essential", "pkg-config", "xz-utils"),
    *("zlib1g-dev", "libffi-dev", "libbz2-dev", "liblzma-dev", "uuid-dev", "libzstd-dev"),
    # what Qt loads, or PyInstaller would not learn what Qt consists of
    *("libglib2.0-0", "libgl1", "libegl1", "libfontconfig1", "libdbus-1-3", "libxkbcommon0", "libgssapi-krb5-2"),
    # what the packages carry, as many desktops lack it
    *("libxcb-cursor0", "libxcb-icccm4", "libxcb-image0", "libxcb-keysyms1", "libxcb-render-util0", "libxcb-shape0"),
    *("libxcb-util1", "libxcb-xkb1", "libxkbcommon-x11-0"),
)
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_RECIPE = ROOT / "packaging" / "linux"
_FILES = ("build-floor.sh", "floor.h", "unzstd.c")
_READY = "opt/ready"


def refusal() -> str | None:
    """Return why this machine cannot make it, or None where it can."""
    if sys.platform != "linux":
        return "this needs Linux"
    if shutil.which("apt-get") is None:
        return "this needs Debian"
    return debian_roots.refusal()


def floor_root(place: Path = STATE / "package") -> Path:
    """Return the old system that holds the Python, made anew where it is not there or made of something else.

    Raises:
        SetUpError: it cannot be made; the reason stands above.
    """
    root = place / f"floor-{_digest()}"
    if (root / _READY).exists():
        return root
    began = time.monotonic()
    print(f"package: making the Python of the packages in {root.relative_to(ROOT)}", file=sys.stderr, flush=True)
    debian_roots.make_base(SUITE, root, INCLUDED)
    debian_roots.hand_on_settings(root)
    sources = root / "usr" / "src"
    shutil.rmtree(sources)
    sources.mkdir()
    for name in _FILES:
        shutil.copy(_RECIPE / name, sources / name)
    _fetch_sources(sources, place / "apt")
    log = place / "floor.log"
    with log.open("wb") as stream:
        command = debian_roots.entering(root, ["/bin/sh", "/usr/src/build-floor.sh", str(TIME)])
        environment = debian_roots.environment()
        result = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, check=False
        )
    if result.returncode:
        raise SetUpError(f"the Python of the packages could not be made (status {result.returncode}); see {log}")
    (root / _READY).touch()
    print(f"package: made it in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return root


def python_version() -> str:
    """Return the version of the Python that is compiled, such as ``3.13.5``."""
    return SOURCES["python3.13"].partition("-")[0]


def glibc_floor(files: Iterable[Path]) -> str:
    """Return the oldest glibc with which all of some ELF files run, such as ``2.28``."""
    found = {(2, 2)}
    for file in files:
        with file.open("rb") as stream:
            if stream.read(4) == b"\x7fELF":
                found |= {(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", stream.read())}
    return ".".join(map(str, max(found)))


def _digest() -> str:
    parts = [SUITE, SOURCE_SUITE, repr(SOURCES), repr(INCLUDED), str(TIME)]
    parts += [(_RECIPE / name).read_text(encoding="utf-8") for name in _FILES]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _fetch_sources(target: Path, state: Path) -> None:
    """Fetch the sources; apt compares their hashes with the index that Debian has signed. Its own state is not touched."""
    shutil.rmtree(state, ignore_errors=True)
    (state / "lists" / "partial").mkdir(parents=True)
    blocks = [
        f"Types: deb-src\nURIs: {address}\nSuites: {suites}\nComponents: main\nSigned-By: {_KEYRING}\n"
        for archive, suites in (
            ("debian", f"{SOURCE_SUITE} {SOURCE_SUITE}-updates"),
            ("debian-security", f"{SOURCE_SUITE}-security"),
        )
        for address in debian_roots.mirrors(archive)[:1]
    ]
    (state / "floor.sources").write_text("\n".join(blocks))
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::SourceList={state}/floor.sources", "-o", "Dir::Etc::SourceParts=/dev/null"]
    apt += ["-o", f"Dir::State::Lists={state}/lists", "-o", f"Dir::Cache={state}/cache", "-o", "APT::Sandbox::User=root"]
    for command in (["update"], ["source", "--download-only", *(f"{name}={version}" for name, version in SOURCES.items())]):
        result = subprocess.run([*apt, *command], cwd=target, stdin=subprocess.DEVNULL, stdout=2, check=False)
        if result.returncode:
            raise SetUpError(
                f"Debian's sources could not be fetched: {', '.join(f'{n} {v}' for n, v in SOURCES.items())}. "
                "Where Debian has newer ones by now, name them in packaging/floor.py."
            )
    shutil.rmtree(state)
