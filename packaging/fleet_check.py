"""Tries the Ansible role of packaging/fleet on real hosts: Debian systems in namespaces, without a network.

    python3 packaging/dev.py fleet-check [--into DIR]

ansible-core comes from its hashed lock into an environment of its own in .dev/, the systems are made by debootstrap and
kept in DIR (default .dev/roots). What is proven is told in tests/fleet. Needs root on Linux; to prepare it needs a network.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import clean_root
import debian_roots
import devenv

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITES = ("bookworm", "trixie")


def main(arguments: Sequence[str]) -> int:
    """Prepare what is needed, then let the check take the place of this process."""
    parser = argparse.ArgumentParser(prog="dev.py fleet-check", description="Try the Ansible role on real hosts.")
    parser.add_argument(
        "--into", type=Path, default=devenv.STATE / "roots", help="folder of the systems (default: %(default)s)"
    )
    chosen = parser.parse_args(arguments)
    debian_roots.require()
    python = devenv.ready("test")
    folder = chosen.into.absolute()
    bases = [debian_roots.make_base(suite, folder / f"{suite}.base", clean_root.INCLUDED) for suite in SUITES]
    programs = _ansible(python)
    return devenv.hand_over([str(python), "-m", "tests.fleet", str(programs), *map(str, bases)], cwd=devenv.ROOT)


def _ansible(python: Path) -> Path:
    """Return the folder of Ansible's programs, in an environment that holds its lock and is kept as long as that stays."""
    lock = devenv.FLEET_LOCK
    digest = hashlib.sha256(f"{sys.version}\n{sys.base_prefix}\n".encode() + lock.read_bytes()).hexdigest()[:12]
    venv = devenv.STATE / f"fleet-{digest}"
    done = venv / "complete"
    if not done.exists():
        shutil.rmtree(venv, ignore_errors=True)
        uv = str(python.with_name("uv"))
        target = venv / "bin" / "python"
        sync = [uv, "pip", "sync", "--quiet", "--require-hashes", "--python", str(target), str(lock)]
        for command in ([uv, "venv", "--quiet", "--python", sys.executable, str(venv)], sync):
            result = subprocess.run(command, env=devenv.tool_environment(), stdin=subprocess.DEVNULL, stdout=2, check=False)
            if result.returncode:
                raise devenv.SetUpError(
                    f"Ansible could not be installed (status {result.returncode}); the reason stands above."
                )
        done.touch()
    return venv / "bin"
