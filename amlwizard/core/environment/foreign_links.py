"""Links inside an environment through which files of packages would lie, be written and be removed somewhere else.

The installers of environments make few: the interpreters in the folder of programs, and ``lib64``. What a user has linked
beside the packages stays as it is, as nothing of ours goes through it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.environment.removal import is_link, remove_tree
from amlwizard.core.paths import venv_python

if TYPE_CHECKING:
    from collections.abc import Iterator

_HELD: Final = ".held-links"
_NAME_SURROGATE: Final = 0x2000_0000
"""The bit of a tag that says so (learn.microsoft.com, ``IsReparseTagNameSurrogate``)."""
_INTERPRETERS: Final = ("python", "pypy")


@dataclass(frozen=True)
class ForeignLink:
    """A link by its place in the environment, with ``/``, and where it leads."""

    place: str
    target: str

    @property
    def shown(self) -> dict[str, object]:
        """The arguments of a sentence about it."""
        return {"link": self.place, "target": self.target}


def layout_link(environment: Path) -> ForeignLink | None:
    """Return the first of the folders that make an environment, libraries and programs, that is a link."""
    folders = [venv_python(environment).parent, environment / "lib", environment / "lib64"]
    if os.name == "nt":
        folders = [folders[0], environment / "Lib", environment / "Lib" / "site-packages"]
    for folder in folders:
        if _leads_elsewhere(folder) and not _is_lib64(folder):
            return _link_at(environment, folder)
        if folder.name.startswith("lib") and not _leads_elsewhere(folder):
            for inner in _libraries(folder):
                if _leads_elsewhere(inner):
                    return _link_at(environment, inner)
    return None


def _leads_elsewhere(path: Path) -> bool:
    """Tell whether a path is a link; a folder that a cloud service or a file system marks on Windows is none."""
    return is_link(path) and stands_for_another(getattr(path.lstat(), "st_reparse_tag", 0))


def stands_for_another(tag: int) -> bool:
    """Tell whether a reparse point of Windows stands for something of another name; POSIX, without tags, has only those."""
    return not tag or bool(tag & _NAME_SURROGATE)


def _libraries(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        for name in sorted(os.listdir(folder)):  # noqa: PTH208
            if name.startswith(_INTERPRETERS):
                yield folder / name
                yield folder / name / "site-packages"


def _is_lib64(link: Path) -> bool:
    """Tell whether it is the link that installers make where libraries have two places."""
    with suppress(OSError):
        return link.name == "lib64" and link.samefile(link.with_name("lib"))
    return False


def _link_at(environment: Path, link: Path) -> ForeignLink:
    try:
        target = str(link.readlink())
    except OSError:  # a reparse point of Windows that is no link
        target = "?"
    return ForeignLink(link.relative_to(environment).as_posix(), target)


class LinkFinder:
    """Finds the link through which a path in an environment leads; each folder is looked at once."""

    def __init__(self, environment: str) -> None:
        self._environment = environment
        self._known: dict[str, ForeignLink | None] = {environment: None}

    def above(self, path: str) -> ForeignLink | None:
        """Return the first link among the folders above a normalised path in the environment."""
        folder = os.path.dirname(path)  # noqa: PTH120
        if folder not in self._known:
            self._known[folder] = self.above(folder) or self._at(Path(folder))
        return self._known[folder]

    def _at(self, folder: Path) -> ForeignLink | None:
        return _link_at(Path(self._environment), folder) if _leads_elsewhere(folder) and not _is_lib64(folder) else None


def is_behind_link(environment: Path, path: Path) -> bool:
    """Tell whether a path in an environment is a link, or leads through one."""
    finder = LinkFinder(str(environment))
    return _leads_elsewhere(path) or finder.above(str(path)) is not None


def take_links_out(environment: Path) -> list[Path]:
    """Put the links of an environment away, so that no tool writes through one; return where they were. Blocks.

    The environment is not in use. What installers of environments make stays. Nothing is followed.
    """
    programs = venv_python(environment).parent
    found: list[Path] = []
    for folder, folders, files in os.walk(environment):
        for name in (*folders, *files):
            path = Path(folder, name)
            if (
                _leads_elsewhere(path)
                and not _is_lib64(path)
                and not (path.parent == programs and name.startswith(_INTERPRETERS))
            ):
                found.append(path)
        folders[:] = [name for name in folders if not _leads_elsewhere(Path(folder, name))]
    if found:
        (environment / _HELD).mkdir()
    for number, path in enumerate(found):
        path.rename(environment / _HELD / str(number))
    return found


def put_links_back(environment: Path, links: list[Path]) -> list[ForeignLink]:
    """Put them back; remove and return those in whose place there is something else by now, or will be bytecode. Blocks."""
    removed: list[ForeignLink] = []
    for number, path in enumerate(links):
        held = environment / _HELD / str(number)
        if os.path.lexists(path) or path.name == "__pycache__":
            removed.append(ForeignLink(path.relative_to(environment).as_posix(), _link_at(environment, held).target))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            held.rename(path)
    remove_tree(environment / _HELD)
    return removed
