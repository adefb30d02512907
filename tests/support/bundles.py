"""Bundles made by hand, right ones and wrong ones, without the code that writes them."""

from __future__ import annotations

import hashlib
import json
import struct
import warnings
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

WHEEL = "wheels/tinya-1.0-py3-none-any.whl"
LOCK = """lock-version = "1.0"
requires-python = "==3.11.*"
created-by = "tests"

[[packages]]
name = "tinya"
version = "1.0"
wheels = [{{name = "tinya-1.0-py3-none-any.whl", path = "{path}", size = {size}, hashes = {{sha256 = "{sha256}"}}}}]
"""
_CENTRAL = b"PK\1\2"


@dataclass
class Draft:
    """The content of a bundle, to be changed before it is packed."""

    files: dict[str, bytes]
    manifest: dict[str, Any]
    extra: list[tuple[zipfile.ZipInfo, bytes]] = field(default_factory=list)

    def note(self, *names: str) -> Draft:
        """Let the manifest say what the files are now."""
        for name in names or tuple(self.files):
            body = self.files[name]
            self.manifest["files"][name] = {"size": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        return self

    def all_files(self) -> dict[str, bytes]:
        """Return the files, the manifest first."""
        return {"manifest.json": json.dumps(self.manifest).encode(), **self.files}

    def pack(self, target: Path, *, compress: Iterable[str] = ()) -> Path:
        """Write the bundle as a file and return its path."""
        with warnings.catch_warnings(), zipfile.ZipFile(target, "w") as archive:
            warnings.simplefilter("ignore", UserWarning)  # the same name twice is meant
            for name, body in self.all_files().items():
                packed = zipfile.ZIP_DEFLATED if name in compress else zipfile.ZIP_STORED
                archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), body, packed)
            for information, body in self.extra:
                archive.writestr(information, body)
        return target

    def lay_out(self, folder: Path) -> Path:
        """Write the bundle as a folder and return its path."""
        for name, body in self.all_files().items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(body)
        return folder


def draft(**manifest: Any) -> Draft:
    """Return a sound bundle of one tiny wheel; its uv and its interpreter are only bytes."""
    with TemporaryDirectory() as folder:
        wheel = make_wheel(Path(folder), "tinya").read_bytes()
    sha256 = hashlib.sha256(wheel).hexdigest()
    archive = b"an interpreter" * 100
    entry = {"sha256": hashlib.sha256(archive).hexdigest(), "url": "cpython-3.11.9.tar.gz"}
    files = {
        "pylock.toml": LOCK.format(path=WHEEL, size=len(wheel), sha256=sha256).encode(),
        "python/downloads.json": json.dumps({"cpython-3.11.9-linux-x86_64-gnu": entry}).encode(),
        "python/cpython-3.11.9.tar.gz": archive,
        "uv/uv": b"a program" * 50,
        WHEEL: wheel,
    }
    content: dict[str, Any] = {
        "format": 1,
        "created": "2026-01-01T00:00:00Z",
        "platform": "linux-x86_64",
        "floor": {"glibc": "2.28"},
        "python": {"version": "3.11.9", "archive": "python/cpython-3.11.9.tar.gz", "downloads": "python/downloads.json"},
        "uv": {"version": "0.13.9", "file": "uv/uv"},
        "wish": {"kind": "profile", "name": "default", "digest": "0123456789ab"},
        "files": {},
        **manifest,
    }
    return Draft(files, content).note()


def entry(name: str, *, mode: int = 0o100644) -> zipfile.ZipInfo:
    """Return an entry of any name and kind."""
    information = zipfile.ZipInfo("placeholder", (2026, 1, 1, 0, 0, 0))
    information.filename = name  # as it is: the constructor would mend some
    information.create_system = 3
    information.external_attr = mode << 16
    return information


def patch_central(path: Path, name: str, change: Callable[[bytearray, int], None]) -> Path:
    """Change the entry of a name in a zip file's table of contents; ``change`` gets the bytes and where it begins."""
    body = bytearray(path.read_bytes())
    position = body.rfind(_CENTRAL)  # from the end: a file in it may be a zip file too
    while position >= 0:
        (length,) = struct.unpack_from("<H", body, position + 28)
        if body[position + 46 : position + 46 + length] == name.encode():
            change(body, position)
            path.write_bytes(body)
            return path
        position = body.rfind(_CENTRAL, 0, position)
    raise AssertionError(f"{name} is not in {path}")
