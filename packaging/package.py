"""Makes the installers of one system from the last commit, online ones or, with a bundle inside, complete ones.

    python3 packaging/dev.py package linux|windows|macos [--bundle FILE] [--into DIR]

Beside them lie what package_papers.py tells of.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from devenv import ROOT
from package_papers import SUMS, write_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

SYSTEMS = ("linux", "windows", "macos")


def main(arguments: Sequence[str]) -> int:
    """Make them, and name each on standard output."""
    parser = argparse.ArgumentParser(prog="dev.py package", description="Make the installers of one system.")
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("--bundle", type=Path, help="what a complete installer carries, made by: amlwizard bundle create")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="folder of the installers (default: dist/)")
    chosen = parser.parse_args(arguments)
    chosen.into.mkdir(parents=True, exist_ok=True)
    sys.path.append(str(ROOT))  # where the version stands
    bundle = None if chosen.bundle is None else chosen.bundle.resolve(strict=True)
    made = importlib.import_module(f"package_{chosen.system}").build(chosen.into.absolute(), bundle)
    write_sums(chosen.into, [file for file in made if file.name != SUMS])  # for every system, as the README says
    for file in made:
        print(f"{file.stat().st_size / 1e6:8.1f} MB  {file.name}")
    return 0
