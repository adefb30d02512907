"""Files that a user put into an environment without a package: modules, ``.pth`` files, scripts, a kernel's description.

Of ``site-packages`` and the folder of programs only the first level is looked at; what lies deeper is in a package. In all
other folders, such as ``share``, packages lie among each other, so every file is. Links and junctions are taken as they
are: what they lead to is no part of the environment.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard.core.environment.foreign_links import is_behind_link
from amlwizard.core.environment.layout import metadata_names, site_folders
from amlwizard.core.environment.links import copy_link
from amlwizard.core.environment.marker import is_marker
from amlwizard.core.environment.removal import is_link
from amlwizard.core.moving import CHUNK
from amlwizard.core.paths import venv_python
from amlwizard.core.plain_files import open_plain
from amlwizard.core.system_errors import not_written, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from amlwizard.core.moving import Moving

# an end of line is found several times as fast as a beginning; a path with a comma in it stands between quotes
_FIRST_PART: Final = re.compile(rb'\n(?:"([^"/\\\r\n]+)|([^"/\\,\r\n]+))')
_PROGRAM: Final = re.compile(
    rb'\n(?:"{0}([^"/\\\r\n]+)|{0}([^"/\\,\r\n]+))'.replace(b"{0}", rb"(?:\.\.[/\\])+(?:bin|Scripts)[/\\]")
)
_DATA: Final = re.compile(rb'\n(?:"(?:\.\.[/\\])+([^"\r\n]+)|(?:\.\.[/\\])+([^",\r\n]+))')
_OF_TOOLS: Final = re.compile(
    r"activate(\.\w+)?|activate_this\.py|deactivate\.bat|pydoc\.bat|pythonw?[\d.]*t?(\.exe)?|_virtualenv\.(py|pth)"
    r"|__pycache__|~.*|\.DS_Store|\.nfs.*",
    re.IGNORECASE,
)
"""What ``venv`` and uv write by themselves, leftovers of an interrupted pip, and what systems leave in folders."""
_PARTS: Final = frozenset(
    ("bin", "scripts", "lib", "lib64", "pyvenv.cfg", "pip.conf", "pip.ini", ".gitignore", ".lock", "cachedir.tag")
)
"""What an environment consists of besides: the first two are looked at in their own way, libraries by ``site-packages``."""


@dataclass(frozen=True)
class LooseFiles:
    """Files and folders; ``certain`` tells that the lists of all packages could be read, so that none is of a package."""

    paths: tuple[Path, ...]
    certain: bool


def find_loose_files(environment: Path, moving: Moving) -> LooseFiles:
    """Return what lies in an environment's folders and is on no package's list. Blocks; ``moving`` can stop it."""
    records, certain = [b""], True
    for site in site_folders(environment):
        for metadata in metadata_names(site):
            try:
                with open_plain(site / metadata / "RECORD") as stream:
                    records.append(stream.read())
            except OSError:
                certain = False
    rows = b"\n".join(records)
    owned = _names(_FIRST_PART, rows)
    sites = [site for site in site_folders(environment) if not is_behind_link(environment, site)]
    found = [path for site in sites for path in _not_of(site, owned)]
    if not is_behind_link(environment, _programs(environment)):
        found += _not_of(_programs(environment), _names(_PROGRAM, rows))
    found += _elsewhere(environment, {name.replace("\\", "/") for name in _names(_DATA, rows)}, moving)
    return LooseFiles(tuple(path for path in found if _counts(path, moving)), certain)


def place_in(environment: Path, path: Path, old: Path) -> Path:
    """Return where in another environment that would lie which was found in the old one."""
    inside = path.relative_to(old)
    if inside.parent.name == "site-packages":
        return site_folders(environment)[0] / path.name
    return environment / inside


def copy_loose_files(paths: Iterable[Path], old: Path, environment: Path, moving: Moving) -> None:
    """Take what was found in the old environment into another one as well. Blocks; ``moving`` can stop it.

    Raises:
        AmlError: as ``set_loose_files_aside``.
    """
    for path in paths:
        _take(path, place_in(environment, path, old).parent, moving)


def set_loose_files_aside(paths: Iterable[Path], old: Path, folder: Path, moving: Moving) -> None:
    """Take what was found in an environment into a folder, by the names of the folders that it was in.

    Blocks; ``moving`` can stop it.

    Raises:
        AmlError: ``AML_CANNOT_WRITE``; a file can be neither linked nor read. ``AML_NO_SPACE``.
    """
    for path in paths:
        inside = path.relative_to(old).parent
        _take(path, folder / ("site-packages" if inside.name == "site-packages" else inside), moving)


def _elsewhere(environment: Path, owned: set[str], moving: Moving) -> list[Path]:
    """Return the files that are neither in ``site-packages`` nor programs, in the order of their names."""
    try:
        names = sorted(os.listdir(environment))  # noqa: PTH208
    except OSError:
        return []
    tops = [environment / name for name in names if name.lower() not in _PARTS and not is_marker(name)]
    found = [top for top in tops if not _is_folder(top)]
    for top in tops:
        if _is_folder(top):
            found += _files_in(top, moving)
    return [
        path
        for path in found
        if path.relative_to(environment).as_posix() not in owned and not _OF_TOOLS.fullmatch(path.name)
    ]


def _programs(environment: Path) -> Path:
    return venv_python(environment).parent


def _names(pattern: re.Pattern[bytes], rows: bytes) -> set[str]:
    return {(quoted or plain).decode(errors="replace") for quoted, plain in set(pattern.findall(rows))}


def _not_of(folder: Path, owned: set[str]) -> list[Path]:
    names = sorted(set(os.listdir(folder)) - owned) if folder.is_dir() else []  # noqa: PTH208
    return [folder / name for name in names if not name.endswith(".dist-info") and not _OF_TOOLS.fullmatch(name)]


def _counts(path: Path, moving: Moving) -> bool:
    """Tell whether there is anything in it: pip leaves folders behind that hold nothing but bytecode."""
    return not _is_folder(path) or next(_files_in(path, moving), None) is not None


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not is_link(path)


def _files_in(folder: Path, moving: Moving) -> Iterator[Path]:
    """Give the files and links in a folder and those below it, bytecode aside; what cannot be listed counts as empty."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return
    folders = []
    for path in (folder / name for name in names):
        moving.advance(0)
        if not _is_folder(path):
            yield path
        elif path.name != "__pycache__":
            folders.append(path)
    for inner in folders:
        yield from _files_in(inner, moving)


def _take(path: Path, folder: Path, moving: Moving) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(folder, error) from error
    _put(path, folder / path.name, moving)


def _put(source: Path, target: Path, moving: Moving) -> None:
    """Let a file, a link, or a folder with all that is in it, have a second place."""
    moving.advance(0)
    try:
        if is_link(source):
            copy_link(source, target)
        elif not source.is_dir():
            _link(source, target, moving)
        else:
            target.mkdir()
            for name in sorted(os.listdir(source)):  # noqa: PTH208
                _put(source / name, target / name, moving)
            shutil.copystat(source, target)
    except OSError as error:  # it may be the source that cannot be read: both are named
        raise not_written(target, OSError(error.errno, f"{source}: {reason_of(error)}")) from error


def _link(source: Path, target: Path, moving: Moving) -> None:
    """Let a file have a second place, as the first is soon removed: a user's data may be large, or not be readable."""
    try:
        os.link(source, target)
    except OSError:  # a file system without links, or another one
        with open_plain(source) as old, target.open("xb") as new:
            while piece := old.read(CHUNK):
                new.write(piece)
                moving.advance(len(piece))
        shutil.copystat(source, target)
