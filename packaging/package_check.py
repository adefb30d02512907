"""Checks what can be told of the installers of another system by looking at what they are made of.

python3 packaging/dev.py package-check macos
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import devenv
import freeze

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Check in the environment that the program is frozen from; 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="dev.py package-check", description="Check what installers are made of.")
    parser.add_argument("system", choices=("macos",))
    chosen = parser.parse_args(arguments)
    script = devenv.ROOT / "packaging" / f"check_{chosen.system}.py"
    return devenv.call([str(freeze.environment()), str(script)], cwd=devenv.ROOT)
