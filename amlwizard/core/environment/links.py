"""Second links to what a link leads to: symbolic ones, and Windows' junctions, which need no rights of an administrator."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from amlwizard.core.plain_files import is_folder

if TYPE_CHECKING:
    from pathlib import Path

_VERBATIM: Final = "\\\\?\\"
"""How Windows begins the name of what a junction leads to."""


def copy_link(link: Path, target: Path) -> None:
    """Make a link of the same kind that leads where another one leads; nothing is followed.

    Raises:
        OSError: the system refuses, or it is something else that is not to be followed.
    """
    goal = str(link.readlink())
    if link.is_symlink():
        target.symlink_to(goal, target_is_directory=is_folder(link))
    else:
        make_junction(target, goal.removeprefix(_VERBATIM))


def make_junction(junction: Path, goal: str) -> None:
    """Make a junction; Windows alone has them."""
    if sys.platform == "win32":
        import _winapi

        _winapi.CreateJunction(goal, str(junction))
