"""Tiny projects as sources: a folder with its own build backend, an archive of it, a git repository of it."""

from __future__ import annotations

import os
import subprocess
import tarfile
from typing import TYPE_CHECKING

from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path

_BACKEND = '''
"""A build backend that needs nothing; each wheel that it builds is noted in a file outside of the source."""
import base64, hashlib, pathlib, tomllib, zipfile

HERE = {here}
NOTES = {notes!r}

def _members():
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    info = f"{{name}}-{{version}}.dist-info"
    metadata = f"Metadata-Version: 2.1\\nName: {{name}}\\nVersion: {{version}}\\n"
    metadata += "".join(f"Requires-Dist: {{text}}\\n" for text in project.get("dependencies", ()))
    wheel = "Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    return name, version, info, {{f"{{info}}/METADATA": metadata.encode(), f"{{info}}/WHEEL": wheel.encode()}}

def _write(folder, members, name, version, info):
    rows = ""
    for path, content in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows += f"{{path}},sha256={{digest}},{{len(content)}}\\n"
    members[f"{{info}}/RECORD"] = f"{{rows}}{{info}}/RECORD,,\\n".encode()
    filename = f"{{name}}-{{version}}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / filename, "w") as archive:
        for path, content in members.items():
            archive.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), content)
    return filename

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name, version, info, members = _members()
    for file in sorted((HERE / name).glob("*.py")):
        members[f"{{name}}/{{file.name}}"] = file.read_bytes()
    with open(NOTES, "a") as notes:
        notes.write(f"{{name}} {{version}}\\n")
    return _write(folder, members, name, version, info)

def build_editable(folder, config_settings=None, metadata_directory=None):
    name, version, info, members = _members()
    members[f"{{name}}.pth"] = str(HERE).encode()
    return _write(folder, members, name, version, info)
'''


BACKEND = "tinybackend"
"""A package that holds such a build backend."""


def make_backend(wheels: Path, notes: Path) -> Path:
    """Write the wheel of ``BACKEND``; it is a backend that asks for tinyhook as well when it builds something editable."""
    content = _BACKEND.format(notes=str(notes), here="pathlib.Path.cwd()")
    content += "\ndef get_requires_for_build_editable(config_settings=None):\n    return ['tinyhook']\n"
    make_wheel(wheels, "tinyhook", console_script=False)
    return make_wheel(wheels, BACKEND, init=content, console_script=False)


def make_source(
    folder: Path, name: str, version: str, *, notes: Path, requires: tuple[str, ...] = (), backend: str | None = None
) -> Path:
    """Make or change the source of a package in ``folder``; ``notes`` gets a line for each wheel built of it.

    With ``backend`` it is built by that package, else by a module of its own.
    """
    module = folder / name / "__init__.py"
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text(f"__version__ = {version!r}\n", encoding="utf-8")
    if backend is None:
        content = _BACKEND.format(notes=str(notes), here="pathlib.Path(__file__).parent")
        (folder / "backend.py").write_text(content, encoding="utf-8")
        system = 'requires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    else:
        system = f'requires = ["{backend}"]\nbuild-backend = "{backend}"\n'
    (folder / "pyproject.toml").write_text(
        f'[build-system]\n{system}[project]\nname = "{name}"\nversion = "{version}"\ndependencies = {list(requires)!r}\n',
        encoding="utf-8",
    )
    return folder


def make_sdist(folder: Path, source: Path, name: str, version: str) -> Path:
    """Write the source archive of a package that ``make_source`` made."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name}-{version}"
    info = source / "PKG-INFO"
    info.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    target = folder / f"{stem}.tar.gz"
    with tarfile.open(target, "w:gz") as archive:
        archive.add(source, stem)
    return target


def commit_all(folder: Path) -> str:
    """Commit everything in a folder, which becomes a git repository where it is none; return the commit."""
    git = ("git", "-c", "user.name=tests", "-c", "user.email=tests@example.org", "-c", "commit.gpgsign=false")
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    environ = {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def run(*arguments: str) -> str:
        done = subprocess.run([*git, *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    run("init", "--quiet")
    run("add", "--all")
    run("commit", "--quiet", "--message", "a state")
    return run("rev-parse", "HEAD")
