"""Tiny pure-Python wheels for tests, valid down to their RECORD."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def make_wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    requires: Sequence[str] = (),
    tag: str = "py3-none-any",
    requires_python: str | None = None,
    files: Mapping[str, bytes] | None = None,
    init: str | None = None,
    console_script: bool = True,
) -> Path:
    """Write a wheel of one package, with a console script of its own name unless told otherwise; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    if requires_python:
        metadata += f"Requires-Python: {requires_python}\n"
    metadata += "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    source = init if init is not None else f"__version__ = {version!r}\n\n\ndef main():\n    print({name!r}, __version__)\n"
    members: dict[str, bytes] = {
        f"{name}/__init__.py": source.encode(),
        **(files or {}),
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
    }
    if console_script:
        members[f"{info}/entry_points.txt"] = f"[console_scripts]\n{name} = {name}:main\n".encode()
    record = "".join(f"{path},{_record_hash(content)},{len(content)}\n" for path, content in members.items())
    members[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    target = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for path, content in members.items():
            member = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
            member.external_attr = (0o100755 if ".data/scripts/" in path else 0o100644) << 16
            archive.writestr(member, content)
    return target


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _record_hash(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
