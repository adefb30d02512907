"""Tries the Ansible role of packaging/fleet on real hosts: Debian systems in namespaces, without a network.

    python3 packaging/dev.py fleet-check [--deb FILE] [--bases DIR]

The .deb is the one of ``dev.py package linux`` (default: the online one in dist/). ansible-core comes from its hashed lock
into an environment of its own in .dev/. The systems are made by debootstrap and kept in DIR (default .dev/roots), each once
more with what the .deb depends on. What is proven is told in tests/fleet. Needs root on Linux, and a network to prepare it.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import debian_roots
import devenv
import freeze

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITES = ("bookworm", "trixie")


def main(arguments: Sequence[str]) -> int:
    """Prepare what is needed, then let the check take the place of this process."""
    parser = argparse.ArgumentParser(prog="dev.py fleet-check", description="Try the Ansible role on real hosts.")
    parser.add_argument("--deb", type=Path, help="the package (default: the online one in dist/)")
    parser.add_argument(
        "--bases", type=Path, default=devenv.STATE / "roots", help="folder of the systems (default: %(default)s)"
    )
    chosen = parser.parse_args(arguments)
    debian_roots.require()
    deb = chosen.deb or package_in(devenv.ROOT / "dist")
    python = devenv.ready("test")
    bases = [_with_libraries(suite, chosen.bases.absolute(), deb) for suite in SUITES]
    programs = freeze.environment(devenv.STATE / "fleet", devenv.FLEET_LOCK).parent
    command = [python, "-m", "tests.fleet", programs, deb.absolute(), *bases]
    return devenv.hand_over([*map(str, command)], cwd=devenv.ROOT)


def package_in(folder: Path) -> Path:
    """Return the online .deb in a folder.

    Raises:
        SetUpError: there is not exactly one.
    """
    found = [file for file in folder.glob("amlwizard-*.deb") if not file.stem.endswith("-complete")]
    if len(found) != 1:
        raise devenv.SetUpError(f"{folder} holds {len(found)} online .deb; make it by: dev.py package linux")
    return found[0]


def _with_libraries(suite: str, folder: Path, deb: Path) -> Path:
    """Return a system of a suite that has what the package depends on, as hosts without a network cannot get it."""
    asked = ["dpkg-deb", "--field", str(deb), "Depends"]
    depends = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    target = folder / f"{suite}.fleet-{hashlib.sha256(depends.encode()).hexdigest()[:12]}"
    if not target.is_dir():
        base = debian_roots.plain_base(suite, folder)
        part = debian_roots.copy(base, target.with_name(f"{target.name}.part"))
        debian_roots.hand_on_settings(part)
        script = f"apt-get update -qq && apt-get satisfy -qq --no-install-recommends -y {shlex.quote(depends.strip())}"
        command = debian_roots.entering(part, ["/bin/sh", "-ec", script])
        result = subprocess.run(command, env=debian_roots.environment(), stdin=subprocess.DEVNULL, stdout=2, check=False)
        if result.returncode:
            raise devenv.SetUpError(f"a {suite} with the libraries of {deb.name} could not be made")
        part.rename(target)
    return target
