"""Where interpreters lie, per system; nothing is started here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from amlwizard.core.detection.places import (
    SOURCE_MANAGED,
    SOURCE_PATH,
    SOURCE_USUAL,
    SOURCE_WORKSPACE,
    Place,
    Surroundings,
    by_version,
    first_file,
    names_in,
    subfolders,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NAME: Final = re.compile(r"python(3(\.\d+)?)?", re.ASCII)
_CONDA_FOLDERS: Final = ("miniforge3", "mambaforge", "miniconda3", "anaconda3", ".conda")


def python_places(around: Surroundings) -> Iterator[Place]:
    """Yield every place in the order of preference."""
    for path in _in_prefixes(around, subfolders(around.workspace.interpreters)):
        yield Place(path, SOURCE_WORKSPACE)
    for folder in around.path_folders():
        for path in interpreters_in(around, folder):
            yield Place(path, SOURCE_PATH)
    for folder in managed_folders(around):
        for path in _in_prefixes(around, subfolders(folder)):
            yield Place(path, SOURCE_MANAGED)
    for path in _usual(around):
        yield Place(path, SOURCE_USUAL)


def interpreters_in(around: Surroundings, folder: Path) -> list[Path]:
    """Return what is named like an interpreter in a folder: ``python3``, ``python``, then ``python3.N`` downwards."""
    suffix = ".exe" if around.system == "windows" else ""
    stems = [name.removesuffix(suffix) for name in names_in(folder) if name.lower().endswith(suffix)]
    found = [stem for stem in stems if _NAME.fullmatch(stem)]
    versioned = sorted((stem for stem in found if "." in stem), key=by_version, reverse=True)
    plain = [stem for stem in ("python3", "python") if stem in found]
    return [folder / f"{stem}{suffix}" for stem in plain + versioned]


def managed_folders(around: Surroundings) -> list[Path]:
    """Return the folders in which uv keeps its interpreters for all of the user's projects."""
    chosen = around.folder("UV_PYTHON_INSTALL_DIR")
    if around.system == "windows":
        data = around.folder("APPDATA") or around.home / "AppData" / "Roaming"
        usual = [data / "uv" / "python", data / "uv" / "data" / "python"]
    else:
        data = around.folder("XDG_DATA_HOME") or around.home / ".local" / "share"
        usual = [data / "uv" / "python"]
    return [chosen, *usual] if chosen else usual


def prefix_python(around: Surroundings, prefix: Path) -> Path | None:
    """Return the interpreter of an installation folder."""
    if around.system == "windows":
        return first_file(prefix, ("python.exe",))
    return first_file(prefix / "bin", ("python3", "python"))


def _in_prefixes(around: Surroundings, prefixes: list[Path]) -> Iterator[Path]:
    for prefix in prefixes:
        path = prefix_python(around, prefix)
        if path is not None:
            yield path


def _usual(around: Surroundings) -> Iterator[Path]:
    yield from _in_prefixes(around, [prefix for folder in _version_folders(around) for prefix in subfolders(folder)])
    for folder in _program_folders(around):
        yield from interpreters_in(around, folder)
    yield from _in_prefixes(around, _conda_prefixes(around))


def _version_folders(around: Surroundings) -> list[Path]:
    """Return the folders of version managers, each of which holds one installation folder a version."""
    home = around.home
    if around.system == "windows":
        local = around.folder("LOCALAPPDATA") or home / "AppData" / "Local"
        pyenv = around.folder("PYENV_ROOT") or around.folder("PYENV") or home / ".pyenv" / "pyenv-win"
        folders = [pyenv / "versions", local / "Programs" / "Python", local / "Python"]
        return folders + [home / "scoop" / "apps" / name for name in names_in(home / "scoop" / "apps") if "python" in name]
    data = around.folder("XDG_DATA_HOME") or home / ".local" / "share"
    return [
        (around.folder("PYENV_ROOT") or home / ".pyenv") / "versions",
        (around.folder("ASDF_DATA_DIR") or home / ".asdf") / "installs" / "python",
        (around.folder("MISE_DATA_DIR") or data / "mise") / "installs" / "python",
    ]


def _program_folders(around: Surroundings) -> list[Path]:
    """Return folders that hold interpreters themselves."""
    root = around.root
    if around.system == "windows":
        program_files = [around.folder(name) for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMDRIVE")]
        return [
            folder
            for parent in program_files
            if parent is not None
            for folder in subfolders(parent)
            if folder.name.lower().startswith("python3")
        ]
    folders = [root / "usr/local/bin", root / "usr/bin"]
    if around.system == "macos":
        frameworks = root / "Library/Frameworks/Python.framework/Versions"
        folders = [folder / "bin" for folder in subfolders(frameworks) if folder.name != "Current"] + folders
    brews = [root / "opt/homebrew", root / "usr/local", root / "home/linuxbrew/.linuxbrew"]
    for brew in brews:
        kegs = [keg for keg in subfolders(brew / "opt") if keg.name.startswith("python@3")]
        folders += [brew / "bin", *(keg / "bin" for keg in kegs)]
    return folders


def _conda_prefixes(around: Surroundings) -> list[Path]:
    prefixes = [around.folder("CONDA_PREFIX")]
    conda = around.folder("CONDA_EXE")
    if conda is not None:
        prefixes.append(conda.parent.parent)
    prefixes += [around.home / name for name in _CONDA_FOLDERS]
    if around.system != "windows":
        prefixes += [around.root / "opt/conda", around.root / "opt/miniconda3", around.root / "opt/anaconda3"]
    return [prefix for prefix in prefixes if prefix is not None]
