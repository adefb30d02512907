"""What the user asked to be put outside the workspace: a shortcut, and a kernel for other Jupyters (DESIGN 4, P3).

Each is one file. The receipt lists it with its hash before it is there, and an uninstallation removes it as long as it is
still that file: whatever the user made of it, or a receipt that came from another computer says, stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from amlwizard.core import receipt
from amlwizard.core.environment.removal import is_link
from amlwizard.core.errors import AmlError
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.opening.jupyter import ICON
from amlwizard.core.plain_files import is_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from amlwizard.core.paths import Workspace

SHORTCUT: Final = "shortcut"
KERNEL: Final = "kernel"
_UNFIT: Final = re.compile(r'[\\/:*?"<>|\x00-\x1f]')
_UNFIT_FOR_KERNELS: Final = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True)
class OutsideFile:
    """A file outside the workspace: what it is (``SHORTCUT`` or ``KERNEL``), its path and content."""

    kind: str
    path: PurePath
    content: bytes
    program: bool = False
    """Whether it has to be executable."""


def shortcut(workspace: PurePath, launcher: PurePath, python: PurePath, place: PurePath, system: str) -> OutsideFile:
    """Return a shortcut that opens the JupyterLab of a workspace.

    Args:
        workspace: its folder, by whose name the shortcut is called.
        launcher: the file in the workspace that starts JupyterLab.
        python: the interpreter that runs it.
        place: the folder of shortcuts: that of the menu on Linux, the desktop elsewhere.
        system: ``sys.platform``.
    """
    title = f"JupyterLab ({_UNFIT.sub(' ', workspace.name) or 'amlwizard'})"
    command = (str(python), str(launcher))
    if system == "win32":
        windowless = python.with_name("pythonw.exe")
        line = " ".join(f'"{str(word).replace("%", "%%")}"' for word in (windowless, launcher))
        text = f'@chcp 65001 >nul\r\n@start "" {line}\r\n'
        return OutsideFile(SHORTCUT, place / f"{title}.cmd", text.encode())
    if system == "darwin":
        return OutsideFile(
            SHORTCUT, place / f"{title}.command", f"#!/bin/sh\nexec {shlex.join(command)}\n".encode(), program=True
        )
    lines = (
        "[Desktop Entry]",
        "Type=Application",
        f"Name={_in_entry(title)}",
        f"Exec={_in_entry(' '.join(map(_in_exec, command)))}",
        f"Icon={_in_entry(str(launcher.with_name(ICON)))}",
        "Terminal=false",
        "Categories=Development;Science;",
    )
    name = f"amlwizard-{_short(workspace)}.desktop"
    return OutsideFile(SHORTCUT, place / name, "".join(f"{line}\n" for line in lines).encode())


def kernel(workspace: PurePath, python: PurePath, data: PurePath) -> OutsideFile:
    """Return the kernel by which a Jupyter of the user uses the environment; ``data`` is that Jupyter's data folder."""
    spec = {
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": workspace.name or "amlwizard",
        "language": "python",
        "metadata": {"debugger": True},
    }
    plain = _UNFIT_FOR_KERNELS.sub("-", workspace.name.lower()).strip("-.") or "amlwizard"
    content = json.dumps(spec, ensure_ascii=False, indent=1) + "\n"
    return OutsideFile(KERNEL, data / "kernels" / f"{plain}-{_short(workspace)}" / "kernel.json", content.encode())


def jupyter_data(variables: Mapping[str, str], home: PurePath, system: str) -> PurePath:
    """Return where Jupyter looks for what belongs to the user; see its documentation of ``JUPYTER_DATA_DIR``."""
    kind = type(home)
    if variables.get("JUPYTER_DATA_DIR"):
        return kind(variables["JUPYTER_DATA_DIR"])
    if system == "darwin":
        return home / "Library" / "Jupyter"
    if system == "win32":
        return kind(variables.get("APPDATA") or home / "AppData" / "Roaming") / "jupyter"
    return kind(variables.get("XDG_DATA_HOME") or home / ".local" / "share") / "jupyter"


def put_outside(workspace: Workspace, file: OutsideFile) -> Path:
    """Write the file, and list it in the receipt before.

    Raises:
        AmlError: something that is not ours lies there (``AML_PLACE_TAKEN``), or it cannot be written
            (``AML_PLACE_NOT_WRITTEN``).
    """
    path = Path(file.path)
    known = receipt.created(workspace).get(str(path), {}).get("sha256")
    if os.path.lexists(path) and not _is_still(path, file.content, known):
        raise AmlError("AML_PLACE_TAKEN", path=str(path))
    digest = hashlib.sha256(file.content).hexdigest()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        receipt.note_outside(workspace, path, kind=file.kind, sha256=digest)
        path.write_bytes(file.content)
        if file.program:
            path.chmod(0o755)
    except OSError as error:
        raise AmlError("AML_PLACE_NOT_WRITTEN", path=str(path), reason=error.strerror or str(error)) from error
    return path


def remove_outside(workspace: Workspace) -> list[Path]:
    """Remove what was put outside the workspace and is still what it was; return what could not be removed."""
    stuck = []
    for path, digest in _listed(workspace):
        if is_link(path) or not path.is_file() or file_sha256(path) != digest:
            continue
        try:
            path.unlink()
            if path.name == "kernel.json":
                with suppress(OSError):  # somebody put a picture beside it
                    path.parent.rmdir()
        except OSError:
            stuck.append(path)
    return stuck


def _listed(workspace: Workspace) -> Iterator[tuple[Path, str]]:
    for name, entry in receipt.created(workspace).items():
        ours = entry.get("kind") in (SHORTCUT, KERNEL) and isinstance(entry.get("sha256"), str)
        if ours and is_path(name) and Path(name).is_absolute():
            yield Path(name), entry["sha256"]


def _is_still(path: Path, content: bytes, known: object) -> bool:
    """Tell whether what lies there is what was put there once, or would be put there now."""
    if is_link(path) or not path.is_file():
        return False
    return file_sha256(path) in {known, hashlib.sha256(content).hexdigest()}


def _short(workspace: PurePath) -> str:
    return hashlib.sha256(os.fsencode(str(workspace))).hexdigest()[:8]


def _in_exec(word: str) -> str:
    """Quote a word of the command of a desktop entry."""
    escaped = re.sub(r'(["`$\\])', r"\\\1", word).replace("%", "%%")
    return f'"{escaped}"'


def _in_entry(text: str) -> str:
    """Escape the value of a desktop entry, once more where it is quoted inside."""
    return text.replace("\\", "\\\\")
