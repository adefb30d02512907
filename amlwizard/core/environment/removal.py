"""Removing whole folders of ours, and telling real folders from links."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def is_link(path: Path) -> bool:
    """Tell whether a path is a symbolic link, or on Windows a junction or any other reparse point."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) or bool(
        getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
    )


def remove_tree(path: Path, refused: list[OSError] | None = None) -> bool:
    """Remove a folder with all that is in it; links in it are removed, never followed.

    What is write-protected is made writable first. Blocks for as long as it takes: call it in a thread.

    Args:
        path: the folder.
        refused: takes what the system said of each part that it did not let go.

    Returns:
        True where nothing is left. False where something could not be removed, such as a file in use on Windows.
    """
    if not os.path.lexists(path):
        return True
    if is_link(path):
        raise NotADirectoryError(f"{path} is a link")
    on_error = partial(_make_writable_and_retry, str(path), [] if refused is None else refused)
    if sys.version_info >= (3, 12):
        shutil.rmtree(path, onexc=on_error)
    else:
        shutil.rmtree(path, onerror=on_error)
    return not os.path.lexists(path)


def remove_counted(path: Path, on_removed: Callable[[int], None]) -> bool:
    """Do the same and tell, after each folder, how many files and links it had itself."""
    files, folders = _inside(path)
    for folder in folders:
        remove_counted(folder, on_removed)
    gone = remove_tree(path)
    on_removed(files)
    return gone


def count_files(path: Path) -> int:
    """Return how many files and links there are in a folder and in those below it; links are not followed."""
    files, folders = _inside(path)
    return files + sum(map(count_files, folders))


def _inside(path: Path) -> tuple[int, list[Path]]:
    """Return how many files and links a folder holds itself, and the folders in it."""
    try:
        with os.scandir(path) as entries:
            inside = [(Path(entry.path), entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:  # it cannot be listed, or it is no folder
        return 0, []
    folders = [entry for entry, is_folder in inside if is_folder and not is_link(entry)]
    return len(inside) - len(folders), folders


def _make_writable_and_retry(
    top: str, refused: list[OSError], function: Callable[..., object], path: str, _error: object
) -> None:
    is_folder = os.path.isdir(path) and not is_link(Path(path))  # noqa: PTH112 - rmtree deals in strings
    try:
        if path != top:
            _make_writable(os.path.dirname(path))  # noqa: PTH120
        if is_folder or os.name == "nt":  # on POSIX a file's own mode does not matter, and may be shared with uv's cache
            _make_writable(path)
        if function in (os.unlink, os.rmdir):
            function(path)
        elif is_folder:  # it could not be opened or listed before
            shutil.rmtree(path, ignore_errors=True)
    except OSError as error:
        refused.append(error)  # and the caller sees that something is left


def _make_writable(path: str) -> None:
    os.chmod(path, os.lstat(path).st_mode | stat.S_IRWXU)  # noqa: PTH101
