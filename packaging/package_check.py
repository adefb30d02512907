"""Tries the installers of one system, or looks at what they are made of where that system cannot be had here.

python3 packaging/dev.py package-check linux [OPTIONS]    in minimal Debian 12 and 13; see check_linux.py
python3 packaging/dev.py package-check macos              what their files tell; see check_macos.py
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import devenv

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Check one system's; 1 where something is wrong."""
    parser = argparse.ArgumentParser(
        prog="dev.py package-check", description="Try the installers of one system.", add_help=False
    )
    parser.add_argument("system", choices=("linux", "macos"))
    parser.add_argument("options", nargs=argparse.REMAINDER, help="options of that system's check")
    chosen = parser.parse_args(arguments)
    more = chosen.options
    if chosen.system == "linux":
        import check_linux

        return check_linux.main(more)
    import freeze

    # in the environment that the program is frozen from
    script = devenv.ROOT / "packaging" / "check_macos.py"
    return devenv.call([str(freeze.environment()), str(script), *more], cwd=devenv.ROOT)
