"""Mends an environment whose folder was moved, or whose interpreter lies elsewhere now, without building anything.

What holds an absolute path in a workspace is little (DESIGN section 10): uv's minor-version links in ``<root>/python``, the
environment's ``python``, ``home`` in ``pyvenv.cfg``; beside them what pip wrote by hand of the user, and records of ours.
Each is replaced as a whole, so that an interruption leaves an old or a new one, and the marker comes last: until then
the state is still ``moved`` and the same can be done once more.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.data_text import parse_json
from amlwizard.core.environment.launchers import rewrite_launchers
from amlwizard.core.environment.layout import read_pyvenv_cfg, site_folders
from amlwizard.core.environment.links import make_junction
from amlwizard.core.environment.marker import read_marker, write_marker
from amlwizard.core.environment.removal import is_link
from amlwizard.core.paths import venv_python
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.records import sync_folder, write_text_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.core.paths import Workspace

_CONFIG: Final = "pyvenv.cfg"
_SCRIPT_HEAD: Final = 512
"""A launcher names its interpreter in its first bytes."""


def is_relocatable(environment: Path) -> bool:
    """Tell whether an environment was made so that it can be moved; ``python -m venv`` cannot."""
    config = read_pyvenv_cfg(environment)
    return config is not None and config.get("relocatable", "").lower() == "true"


def relink_moved(workspace: Workspace) -> bool:
    """Mend what the move of the whole workspace made stale. Blocks for a moment: call it in a thread.

    Returns:
        False where that is not enough, and nothing was changed: the environment cannot be moved, an editable package lay
        in the workspace, or on Windows, where its launcher has the old place inside.
    """
    marker = read_marker(workspace.venv)
    if marker is None or not is_relocatable(workspace.venv):
        return False
    old, new = Path(marker.root), workspace.root
    if not old.is_absolute() or old == Path(old.anchor):  # no workspace lay there
        return False
    if any(_names_old_place(file, old) for site in site_folders(workspace.venv) for file in _import_hooks(site)):
        return False
    python = venv_python(workspace.venv)
    if os.name == "nt" and _starts_at(read_pyvenv_cfg(workspace.venv) or {}, old):
        return False
    relink_interpreters(workspace, old)
    if python.is_symlink():
        _repoint(python, old, new)
    _replace_in_text(workspace.venv / _CONFIG, old, new)
    _replace_in_text(workspace.venv / ("pip.ini" if os.name == "nt" else "pip.conf"), old, new)
    _replace_in_json(workspace.uv_record, old, new)
    _mend_launchers(workspace.venv, old, new)
    write_marker(workspace.venv, replace(marker, root=str(new)))
    return True


def relink_interpreters(workspace: Workspace, old: Path) -> None:
    """Let uv's minor-version links lead to the interpreters of this place, and their build settings name it."""
    try:
        entries = sorted(workspace.interpreters.iterdir())
    except OSError:
        return
    for entry in entries:
        if is_link(entry):
            _repoint(entry, old, workspace.root)
        elif entry.is_dir() and not entry.name.startswith("."):
            for file in build_settings(entry):
                _replace_in_text(file, old, workspace.root)


def bring_in_interpreter(workspace: Workspace, executable: Path) -> Path:
    """Move an interpreter that uv unpacked in ``interpreters_beside`` to its place, and return its program there.

    Where that place is taken, the one that is there stays. Blocks for a moment.
    """
    relative = executable.relative_to(workspace.interpreters_beside)
    source, target = (folder / relative.parts[0] for folder in (workspace.interpreters_beside, workspace.interpreters))
    if not os.path.lexists(target):
        for file in build_settings(source):
            _replace_in_text(file, source, target)
        source.rename(target)
        sync_folder(target.parent)
    return workspace.interpreters / relative


def build_settings(interpreter: Path) -> list[Path]:
    """Return the files of a managed interpreter into which uv writes its place: what compilers are told."""
    files = sorted(interpreter.glob("lib/python3.*/_sysconfigdata_*.py"))
    return [*files, *sorted(interpreter.glob("lib/pkgconfig/*.pc"))]


def relink_base(workspace: Workspace, base: Path, version: str) -> None:
    """Let the environment stand on another interpreter of the same minor version. Blocks: call it in a thread.

    Args:
        workspace: the workspace; its environment has a marker.
        base: the interpreter's program.
        version: its version, such as ``3.11.7``.
    """
    _replace_link(venv_python(workspace.venv), base)
    config = workspace.venv / _CONFIG
    values = {"home": str(base.parent), "executable": str(base.resolve()), "version": version}
    lines = []
    for line in config.read_text(encoding="utf-8").splitlines():
        key, sign, _ = line.partition("=")
        value = values.get(key.strip().lower())
        lines.append(f"{key.rstrip()} = {value}" if sign and value is not None else line)
    write_text_atomically(config, "\n".join(lines) + "\n")
    marker = read_marker(workspace.venv)
    if marker is not None:
        write_marker(workspace.venv, replace(marker, python=version))


def point_minor_link(link: Path, target: Path) -> None:
    """Make or replace a link to a folder: a symbolic link, on Windows a junction, as uv makes them."""
    if os.name == "nt":
        _replace_junction(link, target)
    else:
        _replace_link(link, target)


def _repoint(link: Path, old: Path, new: Path) -> None:
    """Replace a link that leads into the old place by one that leads to the same in the new one."""
    target = str(link.readlink()).removeprefix("\\\\?\\")
    moved = _moved(target, old, new)
    if moved is None:
        return
    point_minor_link(link, Path(moved))


def _moved(path: str, old: Path, new: Path) -> str | None:
    if not Path(path).is_absolute() or not Path(path).is_relative_to(old):
        return None
    return str(new / Path(path).relative_to(old))


def _replace_link(link: Path, target: Path) -> None:
    part = link.with_name(f"{link.name}.part")
    part.unlink(missing_ok=True)  # of an interrupted run
    part.symlink_to(target)
    try:
        part.replace(link)
    except OSError:
        part.unlink()
        raise
    sync_folder(link.parent)


def _replace_junction(link: Path, target: Path) -> None:
    """Replace a junction; Windows cannot do that in one act, and an interruption in between leaves the state ``moved``."""
    if os.path.lexists(link):
        link.rmdir()  # the junction alone; what it leads to stays
    make_junction(link, str(target))


def _replace_in_text(file: Path, old: Path, new: Path) -> None:
    """Replace the old place in a text file of ours or of uv's; the name of another folder that begins alike stays."""
    try:
        text = read_plain_text(file)
    except (OSError, UnicodeDecodeError):
        return
    changed = _with_new_place(text, str(old), str(new))
    if changed != text:
        mode = file.stat().st_mode
        write_text_atomically(file, changed)
        file.chmod(mode & 0o7777)


def _with_new_place(text: str, old: str, new: str) -> str:
    parts = text.split(old)
    result = parts[0]
    for part in parts[1:]:
        continues = bool(part) and (part[0].isalnum() or part[0] in "._- ~+")
        result += (old if continues else new) + part
    return result


def _replace_in_json(file: Path, old: Path, new: Path) -> None:
    try:
        record = parse_json(read_plain_text(file))
    except (OSError, ValueError):
        return
    if not isinstance(record, dict):
        return
    changed = {
        key: (_moved(value, old, new) or value) if isinstance(value, str) and value else value
        for key, value in record.items()
    }
    if changed != record:
        write_text_atomically(file, json.dumps(changed, indent=2, ensure_ascii=False) + "\n")


def _import_hooks(site: Path) -> Iterator[Path]:
    """Yield the files by which editable packages are found."""
    yield from site.glob("*.pth")
    yield from site.glob("__editable__*.py")


def _names_old_place(file: Path, old: Path) -> bool:
    try:
        return str(old) in read_plain_text(file, errors="replace")
    except OSError:
        return False


def _starts_at(config: dict[str, str], place: Path) -> bool:
    return Path(config.get("home", "")).is_relative_to(place)


def _mend_launchers(environment: Path, old: Path, new: Path) -> None:
    """Mend the scripts that pip made when it was started by hand: they name their interpreter by its path."""
    if os.name == "nt":
        return  # the launchers there are programs; those of pip are made anew with the package
    before = os.fsencode(old / environment.name) + b"/"
    after = os.fsencode(new / environment.name) + b"/"

    def moved(content: bytes) -> bytes | None:
        head = content[:_SCRIPT_HEAD]
        return head.replace(before, after) + content[_SCRIPT_HEAD:] if before in head else None

    rewrite_launchers(environment, moved)
